"""DuckDB's reading of a condition against the compiler's: the same rows must be in, also at the ends of the types."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.ddl.statements import apply_ddl
from catalog.query.compiler import Compiler
from catalog.query.shape import Region
from catalog.schema.catalog import Catalog
from catalog.sql.errors import SubscriptionError
from catalog.types.column_type import ColumnType, Kind
from catalog.types.order_key import order_key
from catalog.types.value import code_of
from tests.effort import examples
from tests.oracle.naive_float import hard_texts
from tidewire.verification.input.decoding import Bad, Number, scalar
from tidewire.verification.recompute.history import connect
from tidewire.verification.records.policy import Policy
from tidewire.verification.records.question import Item, Order, Query, Unreadable, parse
from tidewire.verification.records.wide_decimals import key_column, key_expression, wide_digits

DDL = """CREATE TABLE t (k INTEGER PRIMARY KEY, s SMALLINT, i INTEGER, l BIGINT, r REAL, d DOUBLE,
  m DECIMAL(6,2), w DECIMAL(18,4), z DECIMAL(38,4), day DATE, at TIMESTAMP, b BOOLEAN, v VARCHAR)"""
CATALOG = apply_ddl(Catalog(), DDL, 0)
TYPES = {c.name: str(c.type).replace("REAL", "FLOAT") for c in CATALOG.relations["t"].columns}
VALUES: dict[str, list[Any]] = {
    "s": [-32768, -1, 0, 1, 32767],
    "i": [-(2**31), 0, 5, 2**31 - 1],
    "l": [-(2**63), -(2**53) - 1, 0, 3, 2**53, 2**53 + 1, 2**63 - 1],
    "r": [-3.4028234663852886e38, -0.0, 0.10000000149011612, 1.5, 3.4028234663852886e38],
    "d": [-1.7976931348623157e308, -0.0, 0.1, 5e-324, 2.5, 9007199254740993.0, 1.7976931348623157e308],
    "m": [Decimal("-9999.99"), Decimal("0.00"), Decimal("1.00"), Decimal("1.01"), Decimal("9999.99")],
    "w": [Decimal("-99999999999999.9999"), Decimal("0.0001"), Decimal("99999999999999.9999")],
    "z": [
        Decimal("-" + "9" * 34 + ".9999"),
        Decimal("-0.0001"),
        Decimal("0.0000"),
        Decimal("1.0050"),
        Decimal("9007199254740992.5000"),
        Decimal("9" * 34 + ".9999"),
    ],
    "day": [dt.date(1, 1, 1), dt.date(1970, 1, 1), dt.date(2024, 2, 29), dt.date(9999, 12, 31)],
    "b": [False, True],
    "v": ["", "X", "x", "it's", "xx"],
    "at": [dt.datetime(1, 1, 1), dt.datetime(2024, 2, 29, 23, 59, 59, 999999), dt.datetime(2024, 3, 1)],
}
NUMBERS = [
    "0", "-1", "1", "2.5", "1.005", "1.004", "-0.0", "0.1", "1e3", "9007199254740992", "9007199254740993",
    "9007199254740992.5", "9007199254740992e0", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
    "-9223372036854775809", "1e18", "1e19", "1e30", "1e100", "-1e100", "1e-30", "32767.5", "99999.999", "3.4028235e38",
    "1e-9999999", "-1e-9999999", "1e9999999", "-1e99999999999999999999", "1e-99999999999999999999",
    "1.0000000596046447753906250001", "1." + "0" * 12_000 + "1", "1.01" + "0" * 11_000,
]  # fmt: skip
MOMENTS = ["'2024-02-29'", "'0001-01-01'", "'9999-12-31'", "DATE '2024-03-01'"]
INSTANTS = [*MOMENTS, "'2024-02-29 23:59:59.999999'", "TIMESTAMP '2024-03-01 00:00:00'", "'2024-03-01T00:00:00'"]
LITERALS = {"day": MOMENTS, "at": INSTANTS, "b": ["TRUE", "FALSE"], "v": ["'x'", "''", "'it''s'"]}


@pytest.fixture(scope="module")
def database() -> Any:
    made = connect()
    for column, values in VALUES.items():
        made.execute(f'CREATE TABLE "v_{column}" (x {TYPES[column]}, __from BIGINT, __to BIGINT, rank BIGINT)')
        rows = [(value, 0, 1, place) for place, value in enumerate(values)]
        made.executemany(f'INSERT INTO "v_{column}" VALUES (?, ?, ?, ?)', rows)
        wide = wide_digits(TYPES[column])
        if wide is not None:
            key = f"{key_expression('x', *wide)} AS {key_column('x')}"
            made.execute(f'CREATE OR REPLACE TABLE "v_{column}" AS SELECT *, {key} FROM "v_{column}"')
    return made


def chosen_by_duckdb(database: Any, column: str, condition: str) -> list[int]:
    question = parse(database, Query(f"SELECT MIN(x) FROM v_{column} WHERE {condition}"), set())
    selection = question.selection(database, ["rank"], {"x": TYPES[column]})
    return sorted(place for _, _, place in database.execute(selection).fetchall())


def chosen_by_compiler(column: str, condition: str) -> list[int] | None:
    try:
        region = Compiler(CATALOG).compile(f"SELECT MIN(k) FROM t WHERE {condition}").region
    except SubscriptionError:
        return None
    type_ = CATALOG.relations["t"].column(column).type
    return inside(region, type_, VALUES[column])


def inside(region: Region, type_: ColumnType, values: list[Any]) -> list[int]:
    equal = json.loads(region.group)
    if region.empty:
        return []
    if not type_.coded and type_.kind is Kind.DECIMAL:
        wide = [order_key(type_, format(value, "f")) for value in values]
        if isinstance(region.lo, bytes):
            return [place for place, key in enumerate(wide) if region.lo <= key < region.hi]
        return [place for place, value in enumerate(values) if equal == [format(value, "f")]]
    codes = [value if isinstance(value, str) else code_of(type_, value) for value in values]
    if type_.kind is Kind.VARCHAR:
        keys = [code.encode() for code in codes]
        if isinstance(region.lo, bytes):
            return [place for place, key in enumerate(keys) if region.lo <= key < region.hi]
        return [place for place, code in enumerate(codes) if equal == [code]]
    return [place for place, code in enumerate(codes) if region.lo <= code <= region.hi and equal in ([], [code])]


FAR = [
    "1e99999999999999999999", "-1e1000000", "1e-1000001", "-1e-99999999999999999999", "0e99999999999999999999",
    "9" * 9_000, "-" + "9" * 15_000, "0." + "9" * 12_000, "1." + "0" * 12_000 + "1",
]  # fmt: skip
"""Numbers far beyond all columns, or so near to a value of one that only their last digit tells them apart."""


@pytest.mark.parametrize("column", VALUES)
def test_the_same_rows_are_in(database: Any, column: str) -> None:
    operators = ["<", "<=", "=", ">", ">="]
    tests = list(product(LITERALS.get(column, []), operators))
    if not tests:  # of each number one or two, of each column others
        every, first = 5 // examples(5, fewest=1), list(VALUES).index(column)
        tests = list(product([*NUMBERS, *FAR], [*operators, "BETWEEN 1 AND"]))[first % every :: every]
    compared = 0
    for literal, operator in tests:
        expected = chosen_by_compiler(column, f"{column} {operator} {literal}")
        if expected is not None:
            compared += 1
            assert chosen_by_duckdb(database, column, f"x {operator} {literal}") == expected, (operator, literal)
    assert compared >= 3


@pytest.mark.parametrize("column", VALUES)
def test_a_sign_is_part_of_its_constant(database: Any, column: str) -> None:
    for constant in ("+NULL", "- NULL", "-(-NULL)") if column in LITERALS else ("+0.1", "-(+1.005)", "+(-2.5)", "- -1"):
        for operator in ("<", "<=", "=", ">", ">="):
            expected = chosen_by_compiler(column, f"{column} {operator} {constant}")
            if expected is None:
                assert "NULL" in constant
                expected = []
            assert chosen_by_duckdb(database, column, f"x {operator} {constant}") == expected, (operator, constant)


@settings(deadline=None, max_examples=examples(100))
@given(hard_texts() | hard_texts(small=True), st.sampled_from(["r", "d"]), st.sampled_from(["=", "<", "<=", ">"]))
def test_a_literal_meets_what_was_published_as_the_same_text(text: str, column: str, operator: str) -> None:
    try:
        value = scalar(TYPES[column], Number(text))
    except Bad:
        return
    database = connect()
    database.execute(
        f"CREATE TABLE t AS SELECT CAST('{value}' AS {TYPES[column]}) AS x, 0 AS __from, 1 AS __to, 7 AS r"
    )
    question = parse(database, Query(f"SELECT MIN(x) FROM t WHERE x {operator} {text}"), set())
    found = database.execute(question.selection(database, ["r"], {"x": TYPES[column]})).fetchall()
    assert len(found) == ("=" in operator)


PARAMS: dict[str, list[Any]] = {
    "l": [
        0,
        3,
        Decimal("2.5"),
        2**63,
        Decimal("1e100"),
        Decimal("9007199254740992.5"),
        None,
        Decimal("1e999999"),
        10**3_999,
    ],
    "m": ["1.005", "1.00", "-9999.99", Decimal("1.004"), 1, "1e-30", None, Decimal("-1e-999999")],
    "d": [Decimal("0.1"), Decimal("1e400"), 5, "0.1", None],
    "r": [Decimal("0.1"), Decimal("-1e40"), Decimal("1.5")],
    "day": ["2024-02-29", "2024-02-29 12:00:00", None],
    "at": ["2024-02-29T23:59:59.999999", "2024-03-01"],
    "b": [True, False, None],
    "v": ["x", "", "it's", None],
}


@pytest.mark.parametrize("column", PARAMS)
def test_parameters_are_as_exact_as_literals(database: Any, column: str) -> None:
    compared = 0
    type_ = CATALOG.relations["t"].column(column).type
    operators = ["="] if column == "v" else ["<", "<=", "=", ">", ">="]
    for param in PARAMS[column]:
        for operator in [*operators, *(f"{operator} -" for operator in operators)]:
            try:
                template = f"SELECT MIN(k) FROM t WHERE {column} {operator} ?"
                region = Compiler(CATALOG).compile_template(template, [param]).region
            except SubscriptionError:
                continue
            query = Query(f"SELECT MIN(x) FROM v_{column} WHERE x {operator} ?", (param,))
            selection = parse(database, query, set()).selection(database, ["rank"], {"x": TYPES[column]})
            found = sorted(place for _, _, place in database.execute(selection).fetchall())
            assert found == inside(region, type_, VALUES[column]), (operator, param)
            compared += 1
    assert compared >= len(operators)


def test_the_condition_is_kept_as_written() -> None:
    database = connect()
    query = Query('select max(T.price), Count(*) from Stock as t where 3 >= Risk and "at" = ? notify latest', ("x",))
    question = parse(database, query, {"at"})
    assert (question.items, question.table) == ((Item("max", "price"), Item("count", None)), "stock")
    assert (question.policy, question.measures, question.distinct) == (Policy("latest"), {"price"}, False)
    selection = question.selection(database, ["__rank_0"], {})
    assert selection == "SELECT __from, __to, __rank_0 FROM Stock AS t WHERE ((3 >= Risk) AND (\"at\" = 'x'))"


def test_a_distinct_is_asked_without_its_distinct() -> None:
    database = connect()
    question = parse(database, Query("SELECT DISTINCT t.v FROM t TTL 5", (), "LATEST", 5), set())
    assert question.items == (Item("distinct", "v"),) and question.distinct
    assert question.policy == Policy("latest", ttl=5)
    assert question.selection(database, ["r"], {}) == "SELECT __from, __to, r FROM t"


def test_rows_are_columns_alone() -> None:
    question = parse(
        connect(), Query("SELECT T.price AS p, *, (K) FROM t WHERE k NOT IN (1, ?) NOTIFY ENTER", (2.5,)), set()
    )
    assert question.rows and question.starred and question.limit is None and question.policy == Policy("enter")
    assert question.measures == {"price", "k"}
    assert [item.column for item in question.over(["k", "price"]).items] == ["price", "k", "price", "k"]
    selection = question.selection(connect(), ["r"], {"k": "INTEGER"})
    assert selection == "SELECT __from, __to, r FROM t WHERE (NOT ((k = 1.0) OR (k = 2.5)))"


def test_the_first_rows_have_an_order_in_which_null_is_the_greatest() -> None:
    sql = "SELECT a FROM t ORDER BY b DESC, C, t.d NULLS FIRST, e DESC NULLS LAST LIMIT ?"
    question = parse(connect(), Query(sql, (3,)), set())
    assert question.limit == 3 and question.measures == {"a", "b", "c", "d", "e"}
    assert question.order == (
        Order("b", True, True),
        Order("c", False, False),
        Order("d", False, True),
        Order("e", True, False),
    )
    ranking = question.ranking("x", {name: f"r{name}" for name in "abcde"})
    order = "rb DESC NULLS FIRST, rc ASC NULLS LAST, rd ASC NULLS FIRST, re DESC NULLS LAST"
    assert ranking == f"SELECT *, row_number() OVER (ORDER BY {order}) AS __place FROM (x)"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1",
        "SELECT price, MIN(a) FROM t",
        "SELECT price FROM t LIMIT 3",
        "SELECT price FROM t ORDER BY price",
        "SELECT price FROM t ORDER BY price LIMIT 3 OFFSET 1",
        "SELECT price FROM t ORDER BY price LIMIT x",
        "SELECT DISTINCT price FROM t ORDER BY price LIMIT 3",
        "SELECT a + 1 FROM t",
        "SELECT MIN(a) FROM t GROUP BY b",
        "nonsense",
        "SELECT MEDIAN(a) FROM t",
        "SELECT COUNT(DISTINCT a, b) FROM t",
        "SELECT SUM(DISTINCT a) FROM t",
        "SELECT DISTINCT a, b FROM t",
        "SELECT DISTINCT ON (a) b FROM t",
        "SELECT MIN(a) FROM t LIMIT 1",
        "SELECT SUM(a) FILTER (WHERE b) FROM t",
        "",
    ],
)
def test_what_is_no_question_is_unreadable(sql: str) -> None:
    with pytest.raises(Unreadable):
        parse(connect(), Query(sql), set())
