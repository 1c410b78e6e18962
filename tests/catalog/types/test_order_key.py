from __future__ import annotations

from decimal import Decimal

from hypothesis import example, given
from hypothesis import strategies as st

from catalog.types.column_type import ColumnType, Kind
from catalog.types.order_key import after, key_of_unscaled, order_key, text_of_key

TEXT, WIDE = ColumnType(Kind.VARCHAR), ColumnType(Kind.DECIMAL, 38, 2)
DIGITS = st.integers(1 - 10**38, 10**38 - 1)


def text_of(unscaled: int) -> str:
    return f"{Decimal(unscaled).scaleb(-2):f}" if unscaled else "0.00"


@given(st.text(), st.text())
@example("\ud7ff", "\U00010000")
def test_texts_are_in_the_order_of_their_code_points(one: str, other: str) -> None:
    assert (order_key(TEXT, one) < order_key(TEXT, other)) == ([*map(ord, one)] < [*map(ord, other)])


@given(DIGITS, DIGITS)
def test_wide_decimals_are_in_the_order_of_their_values_and_come_back(one: int, other: int) -> None:
    keys = [key_of_unscaled(value) for value in (one, other)]
    assert (keys[0] < keys[1]) == (one < other)
    assert int(text_of_key(WIDE, keys[0]).replace(".", "")) == one
    assert order_key(WIDE, text_of_key(WIDE, keys[0])) == keys[0]


@given(DIGITS)
def test_nothing_stands_between_a_key_and_the_next(value: int) -> None:
    key = key_of_unscaled(value)
    assert key < after(key) < key_of_unscaled(value + 1) < b"\xff"
    assert text_of_key(WIDE, after(key)) == text_of_key(WIDE, key)


def test_what_is_beyond_all_digits_is_just_beyond() -> None:
    assert key_of_unscaled(10**60) == key_of_unscaled(10**38) > key_of_unscaled(10**38 - 1)
    assert key_of_unscaled(-(10**60)) == key_of_unscaled(-(10**38)) < key_of_unscaled(1 - 10**38)
