"""MIN CHANGE compares exactly: decimals as decimals, doubles as doubles, averages as quotients."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.query.shape import Output
from catalog.sql.notify import Notify
from catalog.types.column_type import ColumnType, Kind
from overlay.answers.conflation import Threshold
from state.order_code import code_of_double

BIGINT, DOUBLE, DECIMAL = ColumnType(Kind.BIGINT), ColumnType(Kind.DOUBLE), ColumnType(Kind.DECIMAL, 12, 2)
WIDE = ColumnType(Kind.DECIMAL, 30, 2)


def reached(notify: Notify, function: str, type_: ColumnType | None, told: object, new: object) -> bool:
    output = Output(function, None if type_ is None else "v")
    return Threshold(notify, output, type_).reached(told, new)  # type: ignore[arg-type]


def at_least(amount: str, percent: bool = False) -> Notify:
    return Notify("min_change", Decimal(amount), percent)


@pytest.mark.parametrize(
    ("amount", "function", "type_", "told", "new", "told_again"),
    [
        ("0.5", "min", DECIMAL, 1000, 1050, True),
        ("0.5", "min", DECIMAL, 1000, 1049, False),
        ("0.5", "max", WIDE, "-1.00", "-0.50", True),
        ("0.5", "max", WIDE, "-1.00", "-0.51", False),
        ("0.1", "min", DOUBLE, code_of_double(0.0), code_of_double(0.1), True),
        ("0.1", "min", DOUBLE, code_of_double(0.2), code_of_double(0.3), False),
        ("3", "count", None, (1, 0), (4, 0), True),
        ("3", "count", None, (1, 0), (3, 0), False),
        ("3", "count_distinct", DECIMAL, (1, 0), (3, 3), True),
        ("3", "count_distinct", DECIMAL, (1, 1), (4, 3), False),
        ("1", "avg", BIGINT, (3, 3), (3, 6), True),
        ("1", "avg", BIGINT, (3, 3), (3, 5), False),
        ("2.5", "sum", BIGINT, (1, 2**70), (2, 2**70 + 3), True),
        ("100", "sum", BIGINT, (0, 0), (1, 0), True),
        ("100", "min", BIGINT, 5, None, True),
        ("0", "min", BIGINT, 5, 5, False),
    ],
)
def test_deltas(
    amount: str, function: str, type_: ColumnType | None, told: object, new: object, told_again: bool
) -> None:
    assert reached(at_least(amount), function, type_, told, new) is told_again


@pytest.mark.parametrize(
    ("told", "new", "told_again"),
    [(100, 105, True), (100, 104, False), (-100, -105, True), (0, 1, True), (0, 0, False), (1, -1, True)],
)
def test_percent_is_of_what_was_told(told: int, new: int, told_again: bool) -> None:
    assert reached(at_least("5", percent=True), "min", BIGINT, told, new) is told_again


pairs = st.tuples(st.integers(1, 5), st.integers(-20, 20))


@given(pairs, pairs, st.decimals(0, 9, places=1), st.booleans())
def test_averages_are_compared_as_fractions(old: tuple, new: tuple, amount: Decimal, percent: bool) -> None:
    before, after = (Fraction(total, count * 100) for count, total in (old, new))
    least = Fraction(amount) * (abs(before) / 100 if percent else 1)
    expected = before != after and abs(after - before) >= least
    assert reached(at_least(str(amount), percent), "avg", DECIMAL, old, new) is expected
