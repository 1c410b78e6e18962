"""Bits of boxes: `check` sees what is wrong, and bits go as they came."""

from __future__ import annotations

import numpy as np
import pytest

from state.filter_bits import FilterBits
from state.filter_boxes import FilterBoxes
from state.filter_columns import FilterColumns
from state.filter_cuts import Cuts

ROWS = np.stack([np.arange(100), np.arange(100) % 7], axis=1)
THESE = Cuts.of(ROWS, np.ones(ROWS.shape, np.bool_))


def filled(count: int) -> tuple[FilterBits, FilterBoxes]:
    bits, boxes = FilterBits(2, 64), FilterBoxes()
    filters = [(slot, [[(slot % 2, [(slot % 9, slot % 9 + slot % 4)], slot % 3 == 0)]], [0]) for slot in range(count)]
    bits.mark(boxes.insert(FilterColumns.of(filters), THESE), boxes, THESE)
    return bits, boxes


def test_bits_come_and_go() -> None:
    bits, boxes = filled(300)
    bits.check(boxes, THESE)
    for slot in range(0, 300, 2):
        places = boxes.places_of(slot)
        bits.unmark(places, boxes, THESE)
        boxes.remove(slot, places)
    bits.check(boxes, THESE)
    again = FilterColumns.of([(slot, [[]], [0]) for slot in range(0, 300, 2)])
    bits.mark(boxes.insert(again, THESE), boxes, THESE)
    bits.check(boxes, THESE)
    assert bits.nbytes > 300 * 64
    bits.clear(2)
    bits.mark(boxes.live(), boxes, THESE)
    bits.check(boxes, THESE)


@pytest.mark.parametrize("name", ["_zone", "_gate", "_lines", "_alive", "_heard", "_cares"])
def test_a_bit_too_few_is_found(name: str) -> None:
    bits, boxes = filled(100)
    column = getattr(bits, name)
    at = np.unravel_index(np.flatnonzero(column)[0], column.shape)
    column[at] &= column[at] - np.uint64(1)
    with pytest.raises(AssertionError):
        bits.check(boxes, THESE)


def test_a_bit_too_many_in_a_line_is_found() -> None:
    bits, boxes = filled(100)
    bits._lines[np.flatnonzero(bits._lines == 0)[0]] = 1
    with pytest.raises(AssertionError):
        bits.check(boxes, THESE)
