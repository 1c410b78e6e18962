"""Every operator of ranges against PostgreSQL itself: random pairs of all types, with all kinds of ends."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from catalog.query.condition_tree import OF_RANGES
from catalog.query.range_ends import EndSet
from catalog.schema.relation import LOWER_END, UPPER_END
from catalog.types.column_type import ColumnType, Kind
from catalog.types.literal import LiteralKind
from catalog.types.range_value import Range, read_range
from catalog.types.value import json_of_code
from tests.stack.postgres import Postgres
from tidewire.verification.records.ranges import canonical

PAIRS = 10_000
TYPES: dict[str, tuple[ColumnType, str, list[str]]] = {
    "int4range": (ColumnType(Kind.INT4RANGE), "int", ["-2147483648", "-1", "0", "1", "2", "3", "2147483646"]),
    "int8range": (
        ColumnType(Kind.INT8RANGE), "bigint", ["-9223372036854775799", "-1", "0", "1", "2", "9223372036854775799"]
    ),
    "numrange": (ColumnType(Kind.NUMRANGE, 6, 2), "numeric", ["-1.00", "0.00", "1.00", "1.01", "1.02", "9999.99"]),
    "widerange": (
        ColumnType(Kind.NUMRANGE, 38, 2), "numeric", ["-123456789012345678901.00", "0.00", "0.01", "0.02", "1.00"]
    ),
    "daterange": (ColumnType(Kind.DATERANGE), "date", ["0001-01-01", "2026-02-28", "2026-03-01", "9999-12-30"]),
    "tsrange": (
        ColumnType(Kind.TSRANGE), "timestamp",
        ["0001-01-01 00:00:00", "2026-03-01 00:00:00", "2026-03-01 00:00:00.000001", "2026-03-01 00:00:00.5"],
    ),
    "float8range": (ColumnType(Kind.FLOAT8RANGE), "float8", ["-1.5", "0", "5e-324", "0.1", "1e+300"]),
    "textrange": (
        ColumnType(Kind.TEXTRANGE), "text",
        ["", " ", "[b", "a", "a b", 'a"b', "a,b", "a\\b", "ab", "empty", "é"],
    ),
}  # fmt: skip
"""By PostgreSQL's name: the type here, that of the values there, and values of bounds in ascending order."""
OPERATORS = ["&&", "@>", "<@", "="]


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    server = Postgres()
    try:
        server.start()
        server.sql(
            "CREATE TYPE float8range AS RANGE (subtype = float8)",
            'CREATE TYPE textrange AS RANGE (subtype = text, collation = "C")',
            "CREATE TYPE widerange AS RANGE (subtype = numeric)",
        )
        yield server
    finally:
        server.stop()


def written(choose: random.Random, value: str) -> str:
    """A bound within a range, quoted where it must be and sometimes where it need not."""
    if value and choose.random() < 0.7 and not set(value) & set(' ",\\()[]'):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', choose.choice(['""', '\\"'])) + '"'


def random_text(choose: random.Random, values: list[str]) -> str:
    if choose.random() < 0.06:
        return choose.choice(["empty", " EMPTY "])
    places = sorted(choose.choice(range(len(values))) for _ in range(2))
    bounds = [written(choose, values[place]) if choose.random() < 0.8 else "" for place in places]
    return f"{choose.choice('[(')}{bounds[0]},{bounds[1]}{choose.choice('])')}"


def string(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def meets(type_: ColumnType, operator: str, range_: Range, kind: LiteralKind, constant: str) -> bool:
    """Whether a range meets an operator, by the conditions of its two ends."""
    if operator == "=":
        return range_.text == read_range(type_, constant).text
    assert operator in OF_RANGES
    operands = () if operator == "empty" else ((0, False),)
    held = []
    for end, code in ((LOWER_END, range_.lower), (UPPER_END, range_.upper)):
        sets = [
            EndSet("c", type_, made, end, operands).values([kind], [constant]) for made in (operator, f"not {operator}")
        ]
        key = code.encode() if isinstance(code, str) else code
        assert sets[0].holds(key) != sets[1].holds(key), "a condition and its opposite part all ends"
        held.append(sets[0].holds(key))
    return held[0] if operator == "empty" else all(held)


def bound_text(type_: ColumnType, bound: int | str | None) -> str:
    """lower() or upper() of a range as PostgreSQL writes it."""
    if bound is None:
        return "NULL"
    value = bound if isinstance(bound, str) else json_of_code(type_.element, bound)
    if type_.kind is Kind.TSRANGE:
        text = str(value).replace("T", " ")
        return text.rstrip("0") if "." in text else text
    return str(value).removesuffix(".0") if type_.kind is Kind.FLOAT8RANGE else str(value)


def literal_of(type_: ColumnType, value: str) -> tuple[LiteralKind, str]:
    """A value that stands alone behind @>; a text may look like a range, so it stands within one."""
    if type_.kind is Kind.TEXTRANGE:
        return LiteralKind.STRING, '["' + value.replace("\\", "\\\\").replace('"', '""') + '",' + f'"{esc(value)}"]'
    if type_.kind is Kind.DATERANGE:
        return LiteralKind.DATE, value
    return (LiteralKind.TIMESTAMP if type_.kind is Kind.TSRANGE else LiteralKind.NUMBER), value


def esc(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '""')


@pytest.mark.cdc
@pytest.mark.parametrize("name", TYPES)
def test_every_operator_says_what_postgres_says(postgres: Postgres, name: str) -> None:
    type_, element, values = TYPES[name]
    choose = random.Random(name)
    pairs = [(random_text(choose, values), random_text(choose, values), choose.choice(values)) for _ in range(PAIRS)]
    rows = ",".join([f"({i},{string(a)},{string(b)},{string(v)})" for i, (a, b, v) in enumerate(pairs)])
    tests = [f"a::{name} {operator} b::{name}" for operator in OPERATORS]
    tests += [f"a::{name} @> v::{element}", f"isempty(a::{name})"]
    shown = [
        f"a::{name}::text",
        f"coalesce(lower(a::{name})::text, 'NULL')",
        f"coalesce(upper(a::{name})::text, 'NULL')",
    ]
    asked = ", ".join([*tests, *shown])
    said = postgres.sql(f"SELECT {asked} FROM (VALUES {rows}) AS p(i, a, b, v) ORDER BY i")
    assert len(said) == PAIRS
    for (a, b, v), row in zip(pairs, said, strict=True):
        made = read_range(type_, a)
        ours = [meets(type_, operator, made, LiteralKind.STRING, b) for operator in OPERATORS]
        ours += [meets(type_, "@>", made, *literal_of(type_, v)), meets(type_, "empty", made, LiteralKind.NULL, "")]
        bounds = [bound_text(type_, bound) for bound in (made.first, made.last)]
        assert [["f", "t"][one] for one in ours] + [made.text, *bounds] == row, (a, b, v)
        assert canonical(str(type_), a) == made.text, "verify writes it in the same form"
