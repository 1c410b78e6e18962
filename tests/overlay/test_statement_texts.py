"""Statements come back as they were written, to the letter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay import statement_texts
from overlay.statement_texts import StatementTexts, statements_of

PIECES = [
    "SELECT",
    " ",
    "''",
    "'",
    "'a b'",
    "'it''s'",
    "1",
    "2.5",
    "1e5",
    "-3",
    ".5",
    "5.",
    "x1",
    "1x",
    "\n",
    '"q"',
    "é1",
]
pieces = st.sampled_from(PIECES)
statements = st.lists(st.lists(pieces, max_size=9).map("".join) | st.text(max_size=9), min_size=1, max_size=8)


@settings(max_examples=200, deadline=None)
@given(statements)
def test_any_text_survives(statements: list[str]) -> None:
    texts = StatementTexts()
    texts.reserve(len(statements))
    slots = np.arange(len(statements))
    texts.put(slots, statements)
    texts.check(slots)
    assert texts.texts(slots) == statements == [texts.text(slot) for slot in slots.tolist()]
    stored = texts.stored(slots)
    assert statements_of(stored[0], stored[1].tolist(), *stored[2:]) == statements
    again = StatementTexts()
    again.reserve(len(statements))
    again.put_stored(slots, *stored)
    again.check(slots)
    assert again.texts(slots) == statements


def test_what_has_no_room_as_a_template_is_kept_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statement_texts, "MOST_TEMPLATES", 2)
    texts = StatementTexts()
    texts.reserve(5)
    written = ["a = 1", "b = 'x'", "c = 3", "a = 5", "d"]
    texts.put(np.arange(5), written)
    assert texts.template.tolist()[:5] == [0, 1, -1, 0, -1] and texts.texts(np.arange(5)) == written
    texts.drop(np.array([1, 2]))
    texts.put(np.array([2]), ["e = 4"])
    assert texts.text(2) == "e = 4" and texts.template[2] == 1
    texts.check(np.array([0, 2, 3, 4]))
    again = StatementTexts()
    again.reserve(5)
    kept = np.array([0, 2, 4])
    again.put_stored(kept, *texts.stored(kept))
    assert again.texts(kept) == ["a = 1", "e = 4", "d"]
