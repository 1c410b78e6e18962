"""Constants as values, and as values of the type beside them."""

from __future__ import annotations

import datetime as dt
import struct
from decimal import Decimal
from typing import Any

import pytest

from tests.tidewire.verification.input.parsed import item
from tidewire.verification.input.view_constants import beside, literal, typed
from tidewire.verification.input.view_plan import Call, Field, Literal
from tidewire.verification.input.view_source import NoView

NOON = dt.datetime(2026, 3, 1, 12)
MIDNIGHT = dt.datetime(2026, 3, 1)


@pytest.mark.parametrize(
    ("text", "value", "type"),
    [
        ("NULL", None, "NULL"),
        ("TRUE", True, "BOOLEAN"),
        ("false", False, "BOOLEAN"),
        ("'1'", "1", "VARCHAR"),
        ("7", 7, "HUGEINT"),
        ("123456789012345678901234567890", 123456789012345678901234567890, "HUGEINT"),
        ("1.50", Decimal("1.50"), "DECIMAL(38,2)"),
        ("2e3", 2000, "HUGEINT"),
        ("25e-1", Decimal("2.5"), "DECIMAL(38,1)"),
    ],
)
def test_a_constant_is_exact(text: str, value: Any, type: str) -> None:
    made = literal(item(text)["literal"] if text not in ("TRUE", "false") else {"kind": "BOOLEAN", "text": text})
    assert made == Literal(value, type)
    assert isinstance(made.value, bool) is isinstance(value, bool)
    assert isinstance(made.value, Decimal) is isinstance(value, Decimal)


@pytest.mark.parametrize(
    ("text", "type", "made"),
    [
        ("2026-03-01", "DATE", Literal(MIDNIGHT.date(), "DATE")),
        (" 2026-03-01 ", "TIMESTAMP", Literal(MIDNIGHT, "TIMESTAMP")),
        ("2026-03-01 00:00:00", "DATE", Literal(MIDNIGHT.date(), "DATE")),
        ("2026-03-01 12:00:00", "DATE", Literal(NOON, "TIMESTAMP")),
        ("TRUE", "BOOLEAN", Literal(True, "BOOLEAN")),
        ("off", "BOOLEAN", Literal(False, "BOOLEAN")),
        ("0.1", "DOUBLE", Literal(0.1, "DOUBLE")),
        ("0.1", "FLOAT", Literal(struct.unpack("f", struct.pack("f", 0.1))[0], "FLOAT")),
        (" 1.50 ", "INTEGER", Literal(Decimal("1.50"), "DECIMAL(38,2)")),
        ("[3,4]", "INT4RANGE", Literal("[3,5)", "INT4RANGE")),
        ("a ", "VARCHAR", Literal("a ", "VARCHAR")),
    ],
)
def test_a_text_is_a_value_of_the_type_beside_it(text: str, type: str, made: Literal) -> None:
    constant = Literal(text, "VARCHAR")
    assert typed(constant, type) == beside(Field(0, type), constant) == made


def test_a_column_is_not_cast() -> None:
    with pytest.raises(NoView, match="a cast to DATE"):
        typed(Field(0, "VARCHAR"), "DATE")


@pytest.mark.parametrize("text", ["noon", "2026-02-30", ""])
def test_a_text_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"Invalid isoformat|day is out of range"):
        typed(Literal(text, "VARCHAR"), "TIMESTAMP")


@pytest.mark.parametrize(
    ("other", "constant", "made"),
    [
        ("TIMESTAMP", Literal(MIDNIGHT.date(), "DATE"), Literal(MIDNIGHT, "TIMESTAMP")),
        ("DATE", Literal(NOON, "TIMESTAMP"), Literal(NOON, "TIMESTAMP")),
        ("DOUBLE", Literal(2**53 + 1, "HUGEINT"), Literal(2.0**53, "DOUBLE")),
        ("FLOAT", Literal(2**24 + 1, "HUGEINT"), Literal(2.0**24, "FLOAT")),
        ("INTEGER", Literal(Decimal("0.5"), "DECIMAL(38,1)"), Literal(Decimal("0.5"), "DECIMAL(38,1)")),
        ("DOUBLE", Literal(None, "NULL"), Literal(None, "NULL")),
        ("DOUBLE", Literal(True, "BOOLEAN"), Literal(True, "BOOLEAN")),
    ],
)
def test_a_constant_beside_a_column_is_as_the_column_has_it(other: str, constant: Literal, made: Literal) -> None:
    found = beside(Field(0, other), constant)
    assert found == made and isinstance(found, Literal) and type(found.value) is type(made.value)


def test_beside_a_constant_or_as_something_computed_nothing_becomes_something_else() -> None:
    text, sum = Literal("1", "VARCHAR"), Call("+", (Field(0, "INTEGER"), Field(1, "INTEGER")), "HUGEINT")
    assert beside(Literal(1, "HUGEINT"), text) is text
    assert beside(Field(0, "DOUBLE"), sum) is sum
