"""Shared strings: numbered, counted, gone."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.arena.key_interner import NumberedKeys
from tests.effort import examples

keys = st.sampled_from([b"[1]", b"[2]", b'["x"]', b"[]", b"[12345]"])


def enter(shared: NumberedKeys, come: list[bytes]) -> list[int]:
    distinct = list(dict.fromkeys(come))
    return shared.enter(distinct, np.array([distinct.index(key) for key in come], np.int64)).tolist()


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.tuples(st.lists(keys, max_size=6), st.integers(0, 6)), max_size=12))
def test_numbers_hold_as_long_as_somebody_has_them(steps: list[tuple[list[bytes], int]]) -> None:
    shared = NumberedKeys()
    held: list[tuple[int, bytes]] = []
    for come, leave in steps:
        held += zip(enter(shared, come), come, strict=True)
        gone, held = held[:leave], held[leave:]
        shared.leave(np.array([number for number, _ in gone], np.int64))
        numbers = np.array([number for number, _ in held], np.int64)
        shared.check(numbers)
        assert shared.keys(numbers) == [key for _, key in held]
    assert len(shared) == len({key for _, key in held})


def test_what_is_only_looked_for_is_not_counted() -> None:
    shared = NumberedKeys()
    one, other = shared.enter([b"[1]", b"[2]"], np.array([0, 1])).tolist()
    assert shared.find([b"[2]", b"[3]", b"[1]"]).tolist() == [other, -1, one]
    shared.more(np.array([one, one]))
    assert shared.leave(np.array([one, other])).tolist() == [other]
    shared.check(np.array([one, one]))


def test_one_number_and_its_string() -> None:
    shared = NumberedKeys()
    numbers = shared.enter([b"[1]", b"[22]"], np.array([0, 1, 0]))
    assert numbers.tolist() == [0, 1, 0] and shared.key(1) == b"[22]" and shared.size(numbers).tolist() == [3, 4, 3]
