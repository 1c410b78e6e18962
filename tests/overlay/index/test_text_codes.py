"""Closed codes say of every text what half-open keys say of it, whatever bounds come and go."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.index import label_order
from overlay.index.text_codes import TextCodes
from state.filter_index import FilterIndex
from tests.effort import examples

keys = st.binary(max_size=2) | st.sampled_from([b"", b"a", b"a\0", b"aa", b"b", b"\xff"])
ranges = st.tuples(keys, keys).map(sorted).filter(lambda pair: pair[0] < pair[1])
steps = st.lists(st.tuples(st.lists(ranges, max_size=4), st.lists(st.integers(0, 20), max_size=3)), max_size=8)


@settings(max_examples=examples(200), deadline=None)
@given(steps, st.lists(keys, max_size=12), st.sampled_from([2, 2**40]))
def test_codes_compare_as_keys_do(steps: list, texts: list[bytes], gap: int) -> None:
    """With gaps of 2 nearly every bound moves the labels; held intervals are then moved as `add` says."""
    codes = TextCodes()
    held: list[tuple[bytes, bytes]] = []
    coded: list[tuple[int, int]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(label_order, "_GAP", gap)
        for new, gone in steps:
            moved = codes.add([bound for pair in new for bound in pair])
            if moved is not None:
                assert all(a < b for column in moved for a, b in pairwise(column.tolist()))
                by = dict(zip(*(column.tolist() for column in moved), strict=True))
                coded = [(by[lo], by[hi]) for lo, hi in coded]
            held += new
            coded += [codes.interval(lo, hi) for lo, hi in new]
            for place in sorted({place for place in gone if place < len(held)}, reverse=True):
                for bound in held.pop(place):
                    codes.release(bound)
                coded.pop(place)
            codes.check()
            assert len(codes) == len({bound for pair in held for bound in pair})
            assert coded == [codes.interval(lo, hi) for lo, hi in held]
            of = codes.of(texts).tolist()
            for (lo, hi), (first, last) in zip(held, coded, strict=True):
                assert first <= last
                assert [first <= code <= last for code in of] == [lo <= key < hi for key in texts]


def test_labels_that_move_do_so_in_the_index_too() -> None:
    codes, index = TextCodes(), FilterIndex(1, segment=64)
    held = [(b"a" + b"z" * i, b"b") for i in range(100)]
    moves = 0
    for slot, (lo, hi) in enumerate(held):
        moved = codes.add([lo, hi])
        if moved is not None:
            index.recode(0, *moved)
            moves += 1
        index.insert(slot, [[(0, [codes.interval(lo, hi)], False)]], [0])
    assert moves
    texts = [b"", b"a", b"azz", b"a" + b"z" * 99 + b"a", b"b", b"c"]
    new, there = codes.of(texts).reshape(-1, 1), np.ones((len(texts), 1), np.bool_)
    hits = index.match(new, there, ~there[:, 0], new, there, there[:, 0])
    found = set(zip(hits.change.tolist(), hits.slot.tolist(), strict=True))
    assert found == {(i, s) for i, key in enumerate(texts) for s, (lo, hi) in enumerate(held) if lo <= key < hi}


def test_without_bounds_all_texts_are_alike() -> None:
    assert TextCodes().of([b"a", b"b"]).tolist() == [0, 0]
