"""Answers are compared by the types of their columns, each exactly but AVG."""

from __future__ import annotations

import math
from decimal import Decimal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from tidewire.scenario.same_answer import columns_of, same_bag, same_list

COLUMNS = {
    "b": "BOOLEAN", "i": "INTEGER", "l": "BIGINT", "r": "REAL", "d": "DOUBLE", "n": "DECIMAL(12,2)",
    "w": "DECIMAL(38,2)", "s": "VARCHAR", "day": "DATE", "at": "TIMESTAMP",
}  # fmt: skip
DDL = f"CREATE TABLE t (k INTEGER PRIMARY KEY, {', '.join(map(' '.join, COLUMNS.items()))})"
CATALOG = apply_ddl(Catalog(), DDL, 0)
EXACT = msgspec.json.Decoder(float_hook=Decimal)


def same(item: str, got: str, expected: str) -> bool:
    """Compare one value, both as JSON texts, as they are read from a delivery and from a scenario."""
    columns = columns_of(CATALOG, f"SELECT {item} FROM t")
    assert columns is not None
    return same_bag([[msgspec.json.decode(got)]], [[EXACT.decode(expected)]], columns)


@pytest.mark.parametrize(
    ("item", "got", "expected", "holds"),
    [
        ("MIN(s)", '"007"', '"7.00"', False),
        ("MIN(s)", '"007"', '"007"', True),
        ("DISTINCT s", '"1.0"', '"1"', False),
        ("MIN(s)", '"true"', "true", False),
        ("MIN(n)", '"2.50"', '"2.5"', True),
        ("MIN(n)", '"2.50"', "2.5", True),
        ("MIN(n)", '"0.10"', "0.1", True),
        ("MIN(n)", '"2.50"', '"2.51"', False),
        ("SUM(n)", '"2.50"', '"2.500"', True),
        ("MIN(w)", '"12345678901234567890.12"', "12345678901234567890.12", True),
        ("MIN(w)", '"12345678901234567890.12"', "12345678901234567890.13", False),
        ("MAX(w)", '"12345678901234567890.12"', '"12345678901234567890.13"', False),
        ("MIN(l)", "9007199254740993", "9007199254740992", False),
        ("MIN(l)", "9007199254740993", "9007199254740993.0", True),
        ("MIN(l)", "9007199254740993", "9007199254740993.5", False),
        ("SUM(l)", "92233720368547758070", "92233720368547758071", False),
        ("COUNT(*)", "1", "1.0", True),
        ("COUNT(*)", "1", "true", False),
        ("COUNT(*)", "0", "null", False),
        ("MIN(i)", "7", '"7"', False),
        ("MIN(d)", "0.10000000000000002", "0.1", False),
        ("MIN(d)", "0.1", "0.1000000000000000055511151231257827", True),
        ("SUM(d)", "0.30000000000000004", "0.3", False),
        ("SUM(d)", '"Infinity"', '"Infinity"', True),
        ("SUM(d)", '"Infinity"', "1e400", False),
        ("SUM(r)", "0.10000000149011612", "0.1", False),
        ("MIN(r)", "0.10000000149011612", "0.1", True),
        ("MIN(r)", "0.10000000149011612", "0.10000002", False),
        ("MIN(d)", "2.0", "2", True),
        ("MIN(d)", "1.0", "true", False),
        ("AVG(i)", "0.3333333333333333", "0.33333333333333", True),
        ("AVG(i)", "0.3333333333333333", "0.33333", False),
        ("AVG(n)", "0.10000000000000002", "0.1", True),
        ("MIN(b)", "true", "1", False),
        ("MIN(b)", "true", "true", True),
        ("MIN(day)", '"2026-03-01"', '"2026-03-01"', True),
        ("MIN(at)", '"2026-03-01T00:00:00Z"', '"2026-03-01T00:00:00.0Z"', False),
        *((f"MIN({name})", "null", "null", True) for name in COLUMNS),
        *((f"MIN({name})", "null", '"null"', False) for name in COLUMNS),
    ],
)
def test_values_are_the_same_by_their_type(item: str, got: str, expected: str, holds: bool) -> None:
    assert same(item, got, expected) is holds


@given(st.text("0123456789.-+eE ", max_size=6), st.text("0123456789.-+eE ", max_size=6))
def test_texts_are_the_same_only_letter_by_letter(one: str, other: str) -> None:
    assert same("MIN(s)", *(msgspec.json.encode(text).decode() for text in (one, other))) is (one == other)


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 3))
def test_doubles_are_the_same_only_to_the_last_bit(value: float, steps: int) -> None:
    text = msgspec.json.encode(value).decode()
    assert same("MIN(d)", text, text) and same("MIN(d)", text, str(Decimal(value)))
    for _ in range(steps):
        value = math.nextafter(value, math.inf)
    if not math.isinf(value):
        assert not same("MAX(d)", text, msgspec.json.encode(value).decode())


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-2, 2))
def test_integers_are_the_same_only_to_the_last_digit(value: int, more: int) -> None:
    assert same("MAX(l)", str(value), str(value + more)) is (more == 0)


def test_rows_are_a_bag() -> None:
    columns = columns_of(CATALOG, "SELECT DISTINCT s FROM t")
    assert same_bag([["a"], ["b"], ["b"]], [["b"], ["a"], ["b"]], columns)
    assert not same_bag([["a"], ["b"]], [["b"], ["b"]], columns)
    assert not same_bag([["a"]], [["a"], ["a"]], columns)
    assert not same_bag([["a", "b"]], [["a"]], columns)
    assert columns_of(CATALOG, "SELECT nonsense") is None
    assert same_bag([["2.50", 0.1]], [["2.5", Decimal("0.1")]], None)
    assert not same_bag([[0.10000000000000002]], [[Decimal("0.1")]], None)


def test_a_list_has_an_order() -> None:
    assert same_list([["2.50"], ["a"]], [["2.5"], ["a"]], None)
    assert not same_list([["a"], ["b"]], [["b"], ["a"]], None)
    assert not same_list([["a"]], [["a"], ["a"]], None)


def test_columns_of_a_join_are_compared_as_those_of_its_tables() -> None:
    catalog = apply_ddl(CATALOG, "CREATE TABLE u (k INTEGER PRIMARY KEY, s DECIMAL(4,1))", 1)
    columns = columns_of(catalog, "SELECT t.s, u.s FROM t JOIN u ON u.k = t.k")
    assert columns is not None, "a join that nothing serves yet"
    assert same_bag([["7.00", "7.0"]], [["7.00", "7"]], columns)
    assert not same_bag([["7.00", "7.0"]], [["7.0", "7.0"]], columns)
    assert columns_of(catalog, "SELECT t.s FROM t JOIN u ON u.k = t.s") is None
