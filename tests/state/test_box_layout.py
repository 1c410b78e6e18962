"""Boxes beside their like: an order is a permutation, likes are together, and no shape of boxes makes it slow."""

from __future__ import annotations

import time

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from state.box_layout import lay_out
from tests.effort import examples

boxes = st.lists(st.dictionaries(st.integers(0, 3), st.integers(1, 2**64 - 1), max_size=4), max_size=200)


def laid(asked: list[dict[int, int]], segment: int, columns: int = 4) -> np.ndarray:
    starts = np.append(0, np.cumsum([len(box) for box in asked])).astype(np.int64)
    names = np.array([c for box in asked for c in box], np.int64)
    masks = np.array([mask for box in asked for mask in box.values()], np.uint64)
    return lay_out(starts, names, masks, np.full((columns, 64), 1 / 64), segment)


@settings(max_examples=examples(100), deadline=None)
@given(boxes, st.sampled_from([1, 3, 64]))
def test_the_order_has_every_box_once(asked: list, segment: int) -> None:
    assert sorted(laid(asked, segment).tolist()) == list(range(len(asked)))


def test_boxes_of_one_cell_stand_together() -> None:
    cells = np.random.default_rng(1).permutation(np.repeat(np.arange(8), 64))
    order = laid([{0: 1 << int(cell), 1: 2**64 - 1} for cell in cells], 64)
    assert all(len(set(cells[order[at : at + 64]].tolist())) == 1 for at in range(0, 512, 64))


def test_the_column_that_parts_rows_better_is_cut_by() -> None:
    """Column 0 parts them in halves of one cell each, column 1 in halves of 32 cells."""
    asked = [{0: 1 << (i & 1), 1: (2**32 - 1) << 32 * (i >> 1 & 1)} for i in range(128)]
    order = laid(asked, 64)
    assert len({asked[i][0] for i in order[:64].tolist()}) == 1


def test_equal_boxes_and_boxes_without_columns_stay_as_they_are() -> None:
    assert laid([{0: 6}] * 300, 64).tolist() == list(range(300))
    assert laid([{}] * 300, 64).tolist() == list(range(300))


def test_what_can_only_be_peeled_off_bit_by_bit_is_cut_in_larger_pieces() -> None:
    """One cell has nearly all boxes, and each further column parts off a few."""
    asked = [{0: 1, 1: 2**64 - 1 if i % 500 else 2} for i in range(100_000)]
    laid(asked[:100], 64)
    begin = time.process_time()
    order = laid(asked, 64)
    assert len(order) == 100_000 and time.process_time() - begin < 5
