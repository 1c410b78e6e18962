"""Strings end to end: grown, cleaned, cut."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.arena import text_arena
from overlay.arena.text_arena import ArenaFull, TextArena, cut, sizes_of
from tests.effort import examples

steps = st.lists(st.tuples(st.integers(0, 9), st.none() | st.binary(max_size=90)), max_size=60)


@settings(max_examples=examples(100), deadline=None)
@given(steps)
def test_it_is_a_dictionary_of_strings(steps: list[tuple[int, bytes | None]]) -> None:
    arena, model = TextArena(), dict.fromkeys(range(10), b"")
    arena.reserve(10)
    for entry, text in steps:
        if text is None:
            arena.drop(np.array([entry]))
        else:
            arena.put_all(np.array([entry]), [text])
        model[entry] = text or b""
        arena.check()
    assert arena.texts(np.arange(10)) == list(model.values())
    assert [arena.text(entry) for entry in model] == list(model.values())


def test_room_is_in_proportion_to_what_is_used() -> None:
    arena = TextArena()
    arena.reserve(100)
    for i in range(10_000):
        arena.put_all(np.array([i % 100]), [b"x" * (50 + i % 3)])
    assert len(arena.data) < 1.3 * 100 * 53
    arena.check()


def test_more_than_fits_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_arena, "_MOST_BYTES", 300)
    arena = TextArena()
    arena.reserve(2)
    arena.put_all(np.array([0]), [b"x" * 200])
    with pytest.raises(ArenaFull, match="expected at most 300"):
        arena.put_all(np.array([1]), [b"x" * 200])


def test_cutting_is_the_inverse_of_joining() -> None:
    texts = [b"a", b"", b"bc"]
    assert cut(b"".join(texts), sizes_of(texts)) == texts and cut(b"", sizes_of([])) == []
