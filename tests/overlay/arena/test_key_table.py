"""Entries by string: against a dictionary of lists."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.arena.key_table import KeyTable
from overlay.arena.text_arena import TextArena
from tests.effort import examples

keys = st.sampled_from([b"a", b"b", b"ab", b"12345678", b"123456789", b"x" * 40, "ü".encode()])


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.tuples(keys, st.booleans()), max_size=60))
def test_it_finds_what_was_added_and_not_removed(steps: list[tuple[bytes, bool]]) -> None:
    arena, table = TextArena(), KeyTable
    arena.reserve(60)
    found, held = table(arena), {}
    for entry, (key, comes) in enumerate(steps):
        mine = held.setdefault(key, [])
        if comes and len(mine) < 2:
            arena.put_all(np.array([entry]), [key])
            found.add(np.array([entry]))
            mine.append(entry)
        elif not comes and mine:
            gone = np.array([mine.pop()])
            found.remove(gone)
            found.remove(gone)
            arena.drop(gone)
        found.check(np.array([entry for mine in held.values() for entry in mine], np.int64))
    for key, mine in held.items():
        assert sorted(entry for entry in found.find_one(key) if entry >= 0) == mine
    assert found.find([b"nobody", b""]).tolist() == [[-1, -1], [-1, -1]] and found.find([]).shape == (0, 2)


def test_it_grows_and_is_built_anew() -> None:
    arena = TextArena()
    arena.reserve(5_000)
    entries = np.arange(5_000)
    arena.put_all(entries, [b"subscriber-%d" % i for i in range(5_000)])
    table = KeyTable(arena)
    for start in range(0, 5_000, 100):
        table.add(entries[start : start + 100])
    table.check(entries)
    table.remove(entries[::2])
    table.check(entries[1::2])
    table.rebuild(entries)
    table.check(entries)
    assert len(table) == 5_000
