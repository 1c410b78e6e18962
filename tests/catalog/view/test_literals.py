"""Constants: what they are by themselves, and beside a value of another type."""

from decimal import Decimal

import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st

from catalog.schema.view import Constant
from catalog.types.column_type import ColumnType
from catalog.types.literal import LiteralKind, LiteralMismatch
from catalog.view.bounds import WIDE_INTEGER, TooWide
from catalog.view.literals import Literal, NoValue, literal_of
from state.order_code import code_of_double
from tests.catalog.sample import of


def read(text: str) -> Literal:
    found = literal_of(sqlglot.parse_one(text))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "value", "type_", "sql"),
    [
        ("5", 5, of("SMALLINT"), "5"),
        ("-0", 0, of("SMALLINT"), "-0"),
        ("- -70000", 70_000, of("INTEGER"), "70000"),
        ("1e3", 1_000, of("SMALLINT"), "1000"),
        ("1.50", 150, of("DECIMAL", 3, 2), "1.50"),
        ("-.05", -5, of("DECIMAL", 2, 2), "-0.05"),
        ("15e-1", 15, of("DECIMAL", 2, 1), "1.5"),
        ("99999999999999999999", "99999999999999999999", WIDE_INTEGER, "99999999999999999999"),
        ("-1234567890123456789.5", "-1234567890123456789.5", of("DECIMAL", 20, 1), "-1234567890123456789.5"),
        ("1e300", code_of_double(1e300), of("DOUBLE"), "1e300"),
        ("'it''s'", "it's", of("VARCHAR"), "'it''s'"),
        ("TRUE", 1, of("BOOLEAN"), "TRUE"),
        ("DATE '1970-01-02'", 1, of("DATE"), "DATE '1970-01-02'"),
        ("TIMESTAMP '1970-01-01 00:00:01'", 1_000_000, of("TIMESTAMP"), "TIMESTAMP '1970-01-01 00:00:01'"),
    ],
)
def test_its_own_type(text: str, value: object, type_: ColumnType, sql: str) -> None:
    literal = read(text)
    assert (literal.constant(), literal.sql) == (Constant(value, type_), sql)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "beside", "value"),
    [
        ("0.1", of("DOUBLE"), code_of_double(0.1)),
        ("0.1", of("REAL"), code_of_double(0.10000000149011612)),
        ("-0", of("DOUBLE"), 0),
        ("'1970-01-02'", of("DATE"), 1),
        ("'1970-01-01 00:00'", of("TIMESTAMP"), 0),
        ("DATE '1970-01-02'", of("TIMESTAMP"), 86_400_000_000),
        ("TIMESTAMP '1970-01-02 00:00:00'", of("DATE"), 1),
    ],
)
def test_beside_another_type(text: str, beside: ColumnType, value: object) -> None:
    assert read(text).constant(beside) == Constant(value, beside)  # type: ignore[arg-type]


def test_what_cannot_be_one_is_refused() -> None:
    with pytest.raises(LiteralMismatch):
        read("'monday'").constant(of("DATE"))
    for text, type_ in (("TIMESTAMP '2026-03-01 09:00:00'", of("DATE")), ("1e400", of("DOUBLE"))):
        with pytest.raises(NoValue):
            read(text).constant(type_)
    for text in ("1" * 39, f"0.{'0' * 38}1"):
        with pytest.raises(TooWide):
            read(text).constant()


@pytest.mark.parametrize("text", ["x", "f(1)", "-x", "CAST('a' AS VARCHAR)", "CAST(x AS DATE)", "1 + 1"])
def test_no_constants(text: str) -> None:
    assert literal_of(sqlglot.parse_one(text)) is None


@given(st.decimals(-(10**20), 10**20, allow_nan=False, places=4) | st.integers(-(10**37), 10**37).map(Decimal))
def test_numbers_are_exact(number: Decimal) -> None:
    literal = Literal(LiteralKind.NUMBER, f"{abs(number):f}", number < 0)
    constant = literal.constant()
    shown = Decimal(str(constant.value))
    if isinstance(constant.value, int):
        shown = Decimal((int(constant.value < 0), tuple(map(int, str(abs(constant.value)))), -constant.type.scale))
    assert shown == number == Decimal(literal.sql)
