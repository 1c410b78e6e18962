"""Transitions in numpy against walking the hits one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.maintain.transitions import counted, transitions

answers = st.tuples(st.integers(0, 2), st.booleans()).map(lambda pair: (pair[0] if pair[1] else 0, pair[1]))


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), answers), max_size=20), st.lists(answers, min_size=4, max_size=4))
def test_as_one_by_one(hits: list, held: list) -> None:
    state = [(value, known, 10 * slot) for slot, (value, known) in enumerate(held)]
    slots = np.array([slot for slot, _ in hits], np.int64)
    new = np.array([value for _, (value, _) in hits], np.int64)
    known = np.array([known for _, (_, known) in hits], np.bool_)
    columns = [
        np.array([state[slot][i] for slot, _ in hits], kind) for i, kind in enumerate([np.int64, np.bool_, np.int64])
    ]
    got = transitions(slots, new, known, *columns)
    for i, (slot, (value, is_known)) in enumerate(hits):
        old, old_known, n = state[slot]
        moves = (old, old_known) != (value, is_known)
        state[slot] = (value, is_known, n + moves)
        assert (got.old[i], got.old_known[i], got.moves[i], got.n[i]) == (old, old_known, moves, n + moves)
    ends = zip(got.slots.tolist(), got.value.tolist(), got.known.tolist(), got.last_n.tolist(), strict=True)
    assert sorted(ends) == [(slot, *state[slot]) for slot in sorted({slot for slot, _ in hits})]


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([-1, 1])), max_size=20))
def test_counts_run_by_slot_from_what_was_held(hits: list[tuple[int, int]]) -> None:
    held = {slot: 10 * slot for slot in range(4)}
    slots, rows = (np.array([hit[i] for hit in hits], np.int64) for i in (0, 1))
    counts = counted(slots, rows, np.array([held[slot] for slot in slots.tolist()], np.int64))
    for slot, change, count in zip(slots.tolist(), rows.tolist(), counts.tolist(), strict=True):
        held[slot] += change
        assert count == held[slot]
