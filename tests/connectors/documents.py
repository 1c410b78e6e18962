"""Records as publishers might send them, good, odd and bad, from one seed: what the decoders are compared on."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from catalog.schema.relation import Column, Relation
from catalog.types.column_type import RANGES, ColumnType, Kind
from tests.oracle.naive_ranges import random_range
from tidewire.verification.records.ranges import NoRange, canonical

NUMBERS = (
    "0",
    "-0",
    "1",
    "-1",
    "7",
    "10",
    "1.0",
    "1e2",
    "1E+2",
    "1e-2",
    "-1.50",
    "0.1",
    "2.5",
    "1e400",
    "-1e400",
    "1e-400",
    "32767",
    "32768",
    "-32768",
    "-32769",
    "2147483647",
    "2147483648",
    "-2147483648",
    "-2147483649",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551616",
    "99999999999999999999",
    "123456789012345678",
    "0.30000000000000004",
    "9007199254740993",
    "1.7976931348623157e308",
    "1.7976931348623159e308",
    "5e-324",
    "2e-324",
    "3.4028235e38",
    "3.4028236e38",
    "3.40282356779733661637e38",
    "1.00000005960464477539062500000000000001",
    "1.000000059604644775390625",
    "1.17549435e-38",
    "1e-45",
    "7e-46",
    "7.1e-46",
    "0e999999999",
    "10.25",
    "10.250",
    "10.251",
    "1025e-2",
    "0.00",
    "9999999999.99",
    "10000000000.00",
    "1e9",
    "1e10",
    "-9999999999.99",
    "1e-3",
    "123456789012345678.90",
    "12345678901234567890.123",
    "1e1000000000",
    "0.000000000000000000000000",
    "0.1000000000000000000000000",
    "1e22",
    "1e23",
    "8e-323",
    "16777217",
    "4.35",
    "2.2250738585072014e-308",
    "6.631236846766476e-316",
)
FLOATS = tuple(number for number in NUMBERS if abs(float(number)) < 3.40282356e38)
BAD_NUMBERS = (
    "01",
    "1.",
    ".5",
    "+1",
    "1e",
    "1e+",
    "-",
    "0x1",
    "1_000",
    "NaN",
    "Infinity",
    "-Infinity",
    "nan",
    "1,5",
    "00",
    "-01",
    "1.e3",
)
DECIMAL_STRINGS = (
    "007.10",
    "-0",
    "00",
    "1E5",
    "1e+2",
    "1e",
    "1.",
    ".5",
    "+1",
    "NaN",
    "Infinity",
    "1_0",
    "１",
    "-",
    "1-2",
    "",
    " 1",
    "1 ",
    "1\n",
)
DATES = (
    "2026-03-01",
    "0001-01-01",
    "9999-12-31",
    "0000-01-01",
    "2024-02-29",
    "2023-02-29",
    "2100-02-29",
    "2000-02-29",
    "2026-13-01",
    "2026-00-10",
    "2026-04-31",
    "2026-1-1",
    "20260301",
    "2026-03-0１",
    "+026-03-01",
    "2026-03-01Z",
)
TIMES = (
    "00:00:00",
    "23:59:59.999990",
    "23:59:59.9",
    "12:30:00.000000",
    "24:00:00",
    "12:60:00",
    "12:00:60",
    "12:00:00.1234567",
    "12:00:00.",
    "12:00",
    "1:00:00",
    "12:00:00Z",
    "12:00:00+00:00",
    "12-00-00",
)
TEXTS = [
    "",
    "A",
    "NYSE",
    "é",
    "😀",
    "\x00",
    "\x1f",
    '"',
    "\\",
    "a/b",
    "\n\t",
    "\u2028",
    "\ufeff",
    "null",
    "1",
    "x" * 40,
]
WORDS = ["true", "false", "null", "True", "nul", "truex", "[]", "{}", "[1,[2,{}]]", '{"a":{"b":[null]}}', "[1,]", "{,}"]
SURROGATES = [
    '"\\ud800"',
    '"\\udc00"',
    '"\\ud800x"',
    '"\\ud83d\\ude00"',
    '"\\uD800\\uD800"',
    '"\\u12"',
    '"\\x"',
    '"\\ud800\\u0041"',
]


class Publisher:
    """Makes records of one relation; `care` is how often it does what is expected."""

    def __init__(self, relation: Relation, rng: random.Random, care: float = 0.9) -> None:
        self.relation, self.rng, self.care = relation, rng, care
        self.key_columns = [column for column in relation.columns if column.name in relation.key]

    def careful(self) -> bool:
        return self.rng.random() < self.care

    def record(self) -> tuple[bytes | None, bytes | None]:
        scalars = {column.name: self.scalar(column) for column in self.relation.columns}
        key: bytes | None = self.key(scalars)
        value: bytes | None = self.row(scalars)
        if self.rng.random() < 0.1:
            value = None
        if not self.careful():
            key, value = self.rng.choice(
                ((None, value), (self.spoilt(key or b""), value), (key, self.spoilt(value or b"")))
            )
        return key, value

    def spoilt(self, data: bytes) -> bytes:
        at, to = sorted(self.rng.randrange(len(data) + 1) for _ in range(2))
        junk = self.rng.choice(
            (
                b"",
                b"\xff",
                b"\xc0\x80",
                b"\xed\xa0\x80",
                b"\xef\xbb\xbf",
                b"x",
                b" ",
                b"\x00",
                b"\\",
                b'"',
                b"{}",
                b"1",
                b",",
            )
        )
        return self.rng.choice(
            (data[:at] + junk + data[at:], data[:at] + junk + data[to:], data[:at], data + junk, junk + data)
        )

    def scalar(self, column: Column) -> str:
        if column.nullable and self.rng.random() < 0.1:
            return "null"
        if not self.careful():
            strings = self.rng.choice((DECIMAL_STRINGS, DATES, [f"2026-03-01T{time}" for time in TIMES], TEXTS))
            spelled = [self.string(text) for text in strings]
            return self.rng.choice(self.rng.choice((NUMBERS, NUMBERS, BAD_NUMBERS, WORDS, SURROGATES, spelled)))
        return self.usual(column.type)

    def usual(self, column_type: ColumnType) -> str:
        kind = column_type.kind
        if kind is Kind.VARCHAR:
            return self.string(self.rng.choice(TEXTS))
        if kind is Kind.BOOLEAN:
            return self.rng.choice(("true", "false"))
        if kind is Kind.DATE:
            return self.string(self.rng.choice(DATES[:3]))
        if kind is Kind.TIMESTAMP:
            return self.string(self.rng.choice(DATES[:3]) + self.rng.choice("T ") + self.rng.choice(TIMES[:4]))
        if column_type.is_range:
            return self.string(self.range(str(column_type)))
        number = self.number(column_type)
        return self.string(number) if kind is Kind.DECIMAL and self.rng.random() < 0.5 else number

    def range(self, type_: str) -> str:
        """Return a text that is a range of a type, of one of `ELEMENTS`."""
        while True:
            text = random_range(self.rng, type_)
            with suppress(NoRange):
                canonical(type_, text)
                return text

    def number(self, column_type: ColumnType) -> str:
        if column_type.kind is Kind.DECIMAL:
            digits = str(self.rng.randrange(10 ** self.rng.randrange(1, column_type.precision + 1)))
            return f"{self.rng.choice(('', '-'))}{digits}e-{column_type.scale}"
        if column_type.kind in (Kind.REAL, Kind.DOUBLE):
            if self.rng.random() < 0.3:
                return self.rng.choice(FLOATS)
            return repr(self.rng.uniform(-1, 1) * 10.0 ** self.rng.randrange(-46, 38))
        bound = 2 ** {Kind.SMALLINT: 15, Kind.INTEGER: 31, Kind.BIGINT: 63}[column_type.kind]
        return str(self.rng.choice((-bound, bound - 1, 0, self.rng.randrange(-100, 100))))

    def string(self, text: str) -> str:
        """Spell a string, with more escapes than needed now and then."""
        if self.rng.random() < 0.3:
            return json.dumps(text)
        spelled = json.dumps(text, ensure_ascii=False)
        return spelled.replace("A", "\\u0041").replace("/", "\\/") if self.rng.random() < 0.2 else spelled

    def members(self, members: Sequence[tuple[str, str]]) -> bytes:
        blanks = [self.rng.choice((" ", "", "\n", "\t\r")) if self.rng.random() < 0.2 else "" for _ in range(6)]
        pairs = (f"{self.string(name)}{blanks[0]}:{blanks[1]}{value}" for name, value in members)
        text = f"{blanks[2]}{{{blanks[3]}{(blanks[4] + ',' + blanks[5]).join(pairs)}}}{blanks[2]}"
        return text.encode("utf-8", "surrogatepass")

    def row(self, scalars: dict[str, str]) -> bytes:
        members = list(scalars.items())
        if self.rng.random() < 0.2:
            self.rng.shuffle(members)
        if self.rng.random() < 0.1:
            extra = self.rng.choice((*NUMBERS, *WORDS[:5], *WORDS[6:10], *SURROGATES[3:4]))
            members.insert(self.rng.randrange(len(members) + 1), (self.rng.choice(("x", "é", "a\n", "V")), extra))
        if self.rng.random() < 0.1:
            name = self.rng.choice(list(scalars))
            members.insert(self.rng.randrange(len(members) + 1), (name, self.scalar(self.relation.column(name))))
        if self.rng.random() < 0.1:
            members.pop(self.rng.randrange(len(members)))
        return self.members(members)

    def key(self, scalars: dict[str, str]) -> bytes:
        if len(self.key_columns) == 1 and self.rng.random() < 0.2:
            return scalars[self.key_columns[0].name].encode()
        members = [(column.name, scalars[column.name]) for column in self.key_columns]
        if not self.careful():
            members.append(("x", "1"))
        return self.members(members)


def relation_of(rng: random.Random) -> Relation:
    """A table of some columns of any type, one to three of them its key."""
    scalars = [kind for kind in Kind if kind not in RANGES]
    kinds = [rng.choice(scalars), *(rng.choice(list(Kind)) for _ in range(rng.randrange(6)))]
    rng.shuffle(kinds)
    sizes = {Kind.DECIMAL: ((12, 2), (18, 0), (18, 18), (1, 0), (38, 4)), Kind.NUMRANGE: ((6, 2), (38, 2))}
    columns = []
    for c, kind in enumerate(kinds):
        precision, scale = rng.choice(sizes.get(kind, ((0, 0),)))
        name = rng.choice(("", "é", '"', " ")) + f"c{c}"
        columns.append(Column(name, ColumnType(kind, precision, scale), rng.random() < 0.7))
    may = [column for column in columns if not column.type.is_range]
    key = tuple(column.name for column in rng.sample(may, rng.randrange(1, min(3, len(may)) + 1)))
    columns = [replace(column, nullable=column.nullable and column.name not in key) for column in columns]
    return Relation("t", tuple(columns), key, "t", absent=rng.choice(("null", "null", "error", "keep")))
