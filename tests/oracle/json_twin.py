"""The naive twin of format `json`: RFC 8259 production by production, and the column rules with Python's own types.

Slow and obvious on purpose, and nothing of the product is used but its types: it says what a record means, or
None where it is a dead letter.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import struct
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from tidewire.verification.records.ranges import NoRange
from tidewire.verification.records.ranges import canonical as one_form

MAX_DEPTH = 64
MAX_BYTES = 65_536
EXACT = Context(prec=100_000, Emax=10**9, Emin=-(10**9))
ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class DeadError(Exception):
    """The record is a dead letter."""


@dataclass(frozen=True)
class Numeral:
    text: str


@dataclass(frozen=True)
class Meaning:
    """What a record means. `codes`: column -> order code, text, None for NULL; columns that are kept are not in it."""

    key: bytes
    live: bool
    codes: dict[str, int | str | None]
    unknown: frozenset[str] = frozenset()


class Reader:
    """RFC 8259, section 2 to 8, one method a production."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0

    def document(self) -> object:
        value = self.element()
        if self.at != len(self.text):
            raise DeadError
        return value

    def element(self) -> object:
        self.blanks()
        value = self.value()
        self.blanks()
        return value

    def blanks(self) -> None:
        while self.peek() and self.peek() in " \t\n\r":
            self.at += 1

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def take(self, word: str) -> None:
        if not self.text.startswith(word, self.at):
            raise DeadError
        self.at += len(word)

    def value(self) -> object:
        first = self.peek()
        if first == "{":
            return self.nested(self.object)
        if first == "[":
            return self.nested(self.array)
        if first == '"':
            return self.string()
        for word, value in (("true", True), ("false", False), ("null", None)):
            if first and word[0] == first:
                self.take(word)
                return value
        return self.number()

    def nested(self, production):
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise DeadError
        value = production()
        self.depth -= 1
        return value

    def object(self) -> dict[str, object]:
        members: dict[str, object] = {}
        self.take("{")
        self.blanks()
        while self.peek() != "}" or members:
            name = self.string()
            self.blanks()
            self.take(":")
            members[name] = self.element()
            if self.peek() == "}":
                break
            self.take(",")
            self.blanks()
        self.take("}")
        return members

    def array(self) -> list[object]:
        values: list[object] = []
        self.take("[")
        self.blanks()
        while self.peek() != "]" or values:
            values.append(self.element())
            if self.peek() == "]":
                break
            self.take(",")
        self.take("]")
        return values

    def string(self) -> str:
        self.take('"')
        units: list[int] = []
        while self.peek() != '"':
            character = self.peek()
            if character < " ":  # also the end, which is ""
                raise DeadError
            self.at += 1
            units += self.escape() if character == "\\" else utf16(character)
        self.take('"')
        try:
            return struct.pack(f"<{len(units)}H", *units).decode("utf-16-le")
        except UnicodeDecodeError:
            raise DeadError from None

    def escape(self) -> list[int]:
        kind = self.peek()
        self.at += 1
        if kind == "u":
            digits = self.text[self.at : self.at + 4]
            self.at += 4
            if not re.fullmatch("[0-9a-fA-F]{4}", digits):
                raise DeadError
            return [int(digits, 16)]
        if kind not in ESCAPES or not kind:
            raise DeadError
        return [ord(ESCAPES[kind])]

    def number(self) -> Numeral:
        start = self.at
        if self.peek() == "-":
            self.at += 1
        if self.peek() == "0":
            self.at += 1
        else:
            self.digits()
        if self.peek() == ".":
            self.at += 1
            self.digits()
        if self.peek() and self.peek() in "eE":
            self.at += 1
            if self.peek() and self.peek() in "+-":
                self.at += 1
            self.digits()
        return Numeral(self.text[start : self.at])

    def digits(self) -> None:
        start = self.at
        while self.peek() and self.peek() in "0123456789":
            self.at += 1
        if start == self.at:
            raise DeadError


def utf16(character: str) -> list[int]:
    data = character.encode("utf-16-le")
    return list(struct.unpack(f"<{len(data) // 2}H", data))


def read(data: bytes) -> object:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise DeadError from None
    return Reader(text).document()


def meaning(relation: Relation, keyless: bool, key: bytes | None, value: bytes | None) -> Meaning | None:
    """What the record means, None if it is a dead letter."""
    try:
        return _meaning(relation, keyless, key, value)
    except DeadError:
        return None


def _meaning(relation: Relation, keyless: bool, key: bytes | None, value: bytes | None) -> Meaning:
    if len(key or b"") + len(value or b"") > MAX_BYTES:
        raise DeadError
    stated = None if key is None else key_values(relation, key)
    if value is None or stated is None:
        if value is None and stated is not None:
            return Meaning(canonical(relation, stated), False, {})
        if value is None or not keyless:
            raise DeadError
    document = read(value)
    if not isinstance(document, dict):
        raise DeadError
    columns = {column.name: column for column in relation.columns}
    values: dict[str, object] = {}
    for name, column in columns.items():
        if name in document:
            values[name] = scalar(column.type, document[name])
        elif name in relation.key and stated is not None and relation.absent == "keep":
            values[name] = stated[name]
        elif relation.absent == "null":
            values[name] = None
        elif relation.absent == "error":
            raise DeadError
    for name, column in columns.items():
        required = name in relation.key or not column.nullable
        if values.get(name, "kept" if name not in relation.key else None) is None and required:
            raise DeadError
    spelled = canonical(relation, values)
    if stated is not None and canonical(relation, stated) != spelled:
        raise DeadError
    codes = {name: code(columns[name], item) for name, item in values.items()}
    return Meaning(spelled, True, codes, frozenset(document.keys() - columns.keys()))


def key_values(relation: Relation, key: bytes) -> dict[str, object]:
    document = read(key)
    columns = [column for column in relation.columns if column.name in relation.key]
    if not isinstance(document, dict) and len(columns) == 1:
        document = {columns[0].name: document}
    if not isinstance(document, dict) or document.keys() != {column.name for column in columns}:
        raise DeadError
    if None in document.values():
        raise DeadError
    return {column.name: scalar(column.type, document[column.name]) for column in columns}


def scalar(column_type: ColumnType, value: object) -> object:
    kind = column_type.kind
    if value is None:
        return None
    if isinstance(value, Numeral):
        return numeral(column_type, value.text)
    if kind is Kind.BOOLEAN and isinstance(value, bool):
        return value
    if not isinstance(value, str):
        raise DeadError
    if kind is Kind.VARCHAR:
        return value
    if column_type.is_range:
        try:
            return one_form(str(column_type), value)
        except NoRange:
            raise DeadError from None
    if kind is Kind.DECIMAL and re.fullmatch(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?", value):
        return decimal(column_type, value)
    if kind is Kind.DATE and re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
        return moment(value, "%Y-%m-%d").date()
    if kind is Kind.TIMESTAMP and re.fullmatch(
        "[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,6})?", value
    ):
        return moment(value.replace("T", " "), "%Y-%m-%d %H:%M:%S" + (".%f" if "." in value else ""))
    raise DeadError


def moment(text: str, pattern: str) -> dt.datetime:
    try:
        found = dt.datetime.strptime(text, pattern)
    except ValueError:
        raise DeadError from None
    if int(text.replace("-", " ").replace(":", " ").replace(".", " ").split()[5]) > 59 if ":" in text else False:
        raise DeadError  # strptime lets leap seconds through
    return found


def numeral(column_type: ColumnType, text: str) -> object:
    kind = column_type.kind
    if kind is Kind.DECIMAL:
        return decimal(column_type, text)
    if kind is Kind.DOUBLE:
        if abs(float(text)) == float("inf"):
            raise DeadError
        return float(text) + 0.0
    if kind is Kind.REAL:
        return real(text)
    bits = {Kind.SMALLINT: 16, Kind.INTEGER: 32, Kind.BIGINT: 64}.get(kind)
    if bits is None or not re.fullmatch("-?[0-9]+", text) or len(text) > 30:
        raise DeadError
    if not -(2 ** (bits - 1)) <= int(text) < 2 ** (bits - 1):
        raise DeadError
    return int(text)


def real(text: str) -> float:
    """The nearest of all 32-bit floats, by comparing exact fractions around the nearest double."""
    if abs(float(text)) > 2.0**128:
        raise DeadError
    if abs(float(text)) < 2.0**-150:  # at most half of the smallest, which ties to even: zero
        return 0.0
    exact = Fraction(EXACT.create_decimal(text))
    sign, size = (-1 if exact < 0 else 1), abs(exact)
    pattern = int.from_bytes(struct.pack(">f", min(abs(float(text)), 2.0**127 * (2 - 2.0**-23))), "big")
    candidates = [p for p in (pattern - 1, pattern, pattern + 1) if p >= 0]
    sizes = {
        p: Fraction(2) ** 128 if p == 0x7F800000 else Fraction(struct.unpack(">f", p.to_bytes(4, "big"))[0])
        for p in candidates
    }
    best = min(candidates, key=lambda p: (abs(sizes[p] - size), p % 2))
    if best >= 0x7F800000:
        raise DeadError
    return sign * float(sizes[best]) + 0.0


def decimal(column_type: ColumnType, text: str) -> Decimal:
    mantissa, _, exponent = text.lower().partition("e")
    if not Decimal(mantissa):
        return Decimal(0)
    if len(exponent.lstrip("+-").lstrip("0")) > 6:
        raise DeadError
    value = EXACT.create_decimal(text)
    shifted = EXACT.scaleb(value, column_type.scale)
    if abs(shifted) >= Decimal(10) ** column_type.precision or shifted != EXACT.to_integral_value(shifted):
        raise DeadError
    return value


def code(column: Column, value: object) -> int | str | None:
    """The order code or the text, by the definition of order codes."""
    kind = column.type.kind
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dt.datetime):
        return (value - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1)
    if isinstance(value, dt.date):
        return (value - dt.date(1970, 1, 1)).days
    if isinstance(value, Decimal):
        return (
            int(EXACT.scaleb(value, column.type.scale))
            if column.type.precision <= 18
            else spelled_decimal(column, value)
        )
    if kind in (Kind.REAL, Kind.DOUBLE):
        bits = int.from_bytes(struct.pack(">d", value), "big", signed=True)
        return bits if bits >= 0 else bits ^ 0x7FFFFFFFFFFFFFFF
    return int(value)


def spelled_decimal(column: Column, value: Decimal) -> str:
    return f"{EXACT.quantize(value, Decimal(1).scaleb(-column.type.scale)):f}"


def canonical(relation: Relation, values: dict[str, object]) -> bytes:
    parts: dict[str, object] = {}
    for column in relation.columns:
        if column.name in relation.key:
            value = values[column.name]
            if isinstance(value, Decimal):
                value = spelled_decimal(column, value)
            parts[column.name] = value.isoformat() if isinstance(value, dt.date) else value
    return json.dumps(parts, ensure_ascii=False, separators=(",", ":")).encode()
