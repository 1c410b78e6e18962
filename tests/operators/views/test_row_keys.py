"""Keys of rows of views: canonical, and different where rows are."""

from __future__ import annotations

import numpy as np

from operators.views.row_keys import group_keys, pair_keys, union_keys
from state.byte_table import Strings


def listed(strings: Strings) -> list[bytes]:
    return [strings[i] for i in range(len(strings))]


def test_a_group_is_its_values() -> None:
    codes, valid = np.array([0, 1, -1]), np.array([False, True, True])
    keys = group_keys([(codes, valid, None), (codes, ~valid, Strings.of(["ab", "", ""]))], 3)
    assert listed(keys) == [
        b"\0\1\0\0\0\2ab",
        b"\1" + (1).to_bytes(8, "big") + b"\0",
        b"\1" + b"\xff" * 8 + b"\0",
    ]
    assert listed(group_keys([], 1)) == [b""]
    assert listed(group_keys([], 0)) == []


def test_a_null_is_no_empty_text() -> None:
    texts = Strings.of(["", ""])
    assert len(set(listed(group_keys([(np.zeros(2, np.int64), np.array([True, False]), texts)], 2)))) == 2


def test_pairs_are_told_apart_wherever_their_keys_are_cut() -> None:
    every = np.ones(2, np.bool_)
    assert len(set(listed(pair_keys(Strings.of([b"a", b"ab"]), Strings.of([b"bc", b"c"]), every)))) == 2
    alone = pair_keys(Strings.of([b"a", b"a"]), Strings.of([b"", b""]), np.array([True, False]))
    assert listed(alone) == [b"\0\0\0\1a\1", b"\0\0\0\1a\0"]


def test_rows_of_a_union_have_the_place_of_their_input() -> None:
    assert listed(union_keys(258, Strings.of([b"k", b""]))) == [b"\1\2k", b"\1\2"]
