"""Boxes are read as they were written, wherever they stand, and places are used again."""

from __future__ import annotations

import numpy as np
import pytest

from state.filter_boxes import FilterBoxes
from state.filter_columns import FilterColumns
from state.filter_cuts import Cuts
from state.filter_kernels import CUTS
from state.order_code import INT64_MAX, INT64_MIN

ALL = (INT64_MIN, INT64_MAX)
BOXES = [
    [],
    [(0, [ALL], False)],
    [(0, [(1, 1)], False), (1, [ALL], True), (2, [], True), (3, [(INT64_MIN, 4), (6, INT64_MAX)], False)],
    [(c, [(c, c + 1)], False) for c in range(64)],
    [(1, [(0, 0), (2, 2), (4, 4)], True), (2, [(INT64_MAX, INT64_MAX)], False)],
]
CUTS_OF_64 = Cuts.none(64)


def filled(slots: list[int]) -> FilterBoxes:
    boxes = FilterBoxes()
    filters = FilterColumns.of(
        [(slot, [BOXES[slot % 5], BOXES[(slot + 1) % 5]][: 1 + slot % 2], [0]) for slot in slots]
    )
    places = boxes.insert(filters, CUTS_OF_64)
    assert len(places) == boxes.boxes == boxes.places
    return boxes


def expect(boxes: FilterBoxes, slots: list[int]) -> None:
    boxes.check()
    assert boxes.slots().tolist() == slots and len(boxes) == len(slots)
    for slot in slots:
        found = [boxes.conditions(place) for place in boxes.places_of(slot).tolist()]
        assert found == [BOXES[slot % 5], BOXES[(slot + 1) % 5]][: 1 + slot % 2]


def test_boxes_are_what_was_inserted() -> None:
    expect(filled([0, 1, 2, 3, 4, 17]), [0, 1, 2, 3, 4, 17])


def test_places_that_are_free_are_used_first() -> None:
    boxes = filled(list(range(10)))
    before = boxes.places
    for slot in (3, 5):
        boxes.remove(slot, boxes.places_of(slot))
    expect(boxes, [0, 1, 2, 4, 6, 7, 8, 9])
    boxes.insert(FilterColumns.of([(5, [BOXES[0], BOXES[1]], [0]), (3, [BOXES[3], BOXES[4]], [0])]), CUTS_OF_64)
    expect(boxes, list(range(10)))
    assert boxes.places == before


def test_boxes_that_move_keep_their_slots_and_leave_no_holes() -> None:
    boxes = filled(list(range(20)))
    for slot in range(0, 20, 3):
        boxes.remove(slot, boxes.places_of(slot))
    kept = [slot for slot in range(20) if slot % 3]
    before = boxes.nbytes
    boxes.move(boxes.live()[::-1].copy(), CUTS_OF_64)
    expect(boxes, kept)
    assert boxes.places == boxes.boxes == len(boxes.live()) and boxes.nbytes < before


def test_the_two_most_selective_intervals_stand_in_the_record() -> None:
    """By the shares of rows in their cells; which they are may change when boxes move."""
    box = [(0, [(0, 50)], False), (1, [(0, 3)], False), (2, [(0, 9)], False)]
    boxes = FilterBoxes()
    rows = np.stack([np.arange(100)] * 3, axis=1)
    there = np.ones(rows.shape, np.bool_)
    boxes.insert(FilterColumns.of([(0, [box], [0])]), Cuts.of(rows, there))
    assert [int(boxes.rec[0, 1]) >> 16 * j & 0xFFFF for j in range(2)] == [1, 2]
    rows[:, 1] = 1
    boxes.move(boxes.live(), Cuts.of(rows, there))
    assert [int(boxes.rec[0, 1]) >> 16 * j & 0xFFFF for j in range(2)] == [2, 0]
    assert boxes.conditions(0) == box and CUTS == 62


def test_slots_that_are_in_are_refused_and_leave_all_as_it_was() -> None:
    boxes = filled([1, 2])
    with pytest.raises(ValueError, match="not in"):
        boxes.insert(FilterColumns.of([(2, [[]], [0])]), CUTS_OF_64)
    expect(boxes, [1, 2])
    assert 1 in boxes and 3 not in boxes and -1 not in boxes and not len(boxes.places_of(3))
