"""Ids and statements of slots: against a dictionary."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.arena.text_arena import cut
from overlay.table.slot_texts import SlotTexts
from overlay.table.statement_texts import packed
from tests.effort import examples

ids = st.sampled_from([b"a", b"bc", b"x" * 1_024, "ü".encode()])
statements = st.sampled_from(["SELECT 1", "SELECT 22", "a = 'x'", "no literal", ""])
steps = st.lists(st.tuples(st.integers(0, 7), st.none() | st.tuples(ids, statements)), max_size=40)


@settings(max_examples=examples(100), deadline=None)
@given(steps)
def test_it_is_a_dictionary_of_pairs(steps: list[tuple[int, tuple[bytes, str] | None]]) -> None:
    texts, model = SlotTexts(), {}
    texts.reserve(8)
    for slot, what in steps:
        if slot in model:
            texts.free(np.array([slot]))
            del model[slot]
        if what is not None and [key for key, _ in model.values()].count(what[0]) < 2:
            parts, literals = packed(what[1])
            texts.put(np.array([slot]), [what[0]], [parts], np.zeros(1, np.int64), [literals])
            model[slot] = what
    slots = np.array(sorted(model), np.int64)
    texts.check(slots)
    expected = [model[slot] for slot in slots.tolist()]
    statements = [text.decode() for text in cut(*texts.flat_statements(slots))]
    assert list(zip(texts.texts(slots), statements, strict=True)) == expected
    assert [(texts.id(slot), texts.statement(slot)) for slot in slots.tolist()] == expected
    for key in {key for key, _ in expected}:
        mine = [slot for slot in slots.tolist() if model[slot][0] == key]
        assert sorted(slot for slot in texts.find_one(key) if slot >= 0) == mine
        assert sorted(slot for slot in texts.find([key])[0].tolist() if slot >= 0) == mine
    again = SlotTexts()
    again.reserve(8)
    again.put_stored(slots, *texts.stored(slots))
    again.rebuild(slots)
    again.check(slots)
    assert [again.statement(slot) for slot in slots.tolist()] == [what for _, what in expected]
