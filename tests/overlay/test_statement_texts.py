"""Statements come back as they were written, to the letter."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.template import split
from overlay import statement_texts
from overlay.literal_code import pack
from overlay.statement_texts import StatementTexts
from tests.effort import examples

PIECES = ["SELECT", " ", "''", "'", "'a b'", "'it''s'", "1", "2.5", "1e5", "-3", ".5", "5.", "1x", "\n", '"q"', "é1"]
pieces = st.sampled_from(PIECES)
statements = st.lists(st.lists(pieces, max_size=9).map("".join) | st.text(max_size=9), min_size=1, max_size=8)


@settings(max_examples=examples(200), deadline=None)
@given(statements)
def test_any_text_survives(statements: list[str]) -> None:
    texts = StatementTexts()
    entered = [texts.enter(statement) for statement in statements]
    texts.check(number for number, _ in entered)
    assert [texts.text(*one) for one in entered] == statements
    cut = [texts.enter(statement, (split(statement)[0][0], split(statement)[1])) for statement in statements]
    assert cut == entered


def test_what_has_no_room_as_a_template_is_kept_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statement_texts, "MOST_TEMPLATES", 2)
    texts = StatementTexts()
    written = ["a = 1", "b = 'x'", "c = 3", "a = 5", "d"]
    entered = [texts.enter(statement) for statement in written]
    assert entered == [(0, pack("1")), (1, pack("'x'")), (-1, b"c = 3"), (0, pack("5")), (-1, b"d")]
    texts.leave([1, -1])
    assert texts.enter("e = 4") == (1, pack("4")) and texts.parts(1) == ("e = ", "")
    texts.check([0, 1, 0, -1])
    assert texts.enter_parts(("a = ", ""), 3) == 0
