"""Texts of many wide decimals are those of one by one, and are read again."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from catalog.types.column_type import ColumnType, Kind
from catalog.types.order_key import key_of_unscaled, text_of_key
from operators.views.decimal_texts import texts_of_units, units_of_texts

EDGES = [0, 1, -1, 9, -10, 10**17, -(10**17), 10**18 - 1, 2**63 - 1, -(2**63) + 1, -(2**63), 2**63, 10**37, -(10**37)]
SMALL = st.integers(-1_000, 1_000)
UNITS = SMALL | st.sampled_from(EDGES) | st.integers(-(10**38) + 1, 10**38 - 1)


@given(
    st.integers(0, 38), st.lists(SMALL | st.sampled_from(EDGES) | st.integers(-(10**38) + 1, 10**38 - 1)), st.booleans()
)
def test_texts_are_canonical_and_are_read_again(scale: int, units: list[int], objects: bool) -> None:
    type_ = ColumnType(Kind.DECIMAL, 38, scale)
    fits = not objects and all(-(2**63) <= unit < 2**63 for unit in units)
    given = np.array(units, np.int64 if fits else np.object_)
    texts = texts_of_units(type_, given)
    assert texts.texts == [text_of_key(type_, key_of_unscaled(unit)) for unit in units]
    assert texts.dense
    assert units_of_texts(type_, texts).tolist() == units


@given(st.integers(0, 3), st.lists(SMALL, min_size=1))
def test_short_ones_are_read_into_64_bits(scale: int, units: list[int]) -> None:
    type_ = ColumnType(Kind.DECIMAL, 20, scale)
    assert units_of_texts(type_, texts_of_units(type_, np.array(units, np.object_))).dtype == np.int64
