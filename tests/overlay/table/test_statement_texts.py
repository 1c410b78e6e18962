"""Statements come back as they were written, to the letter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.bulk.cut_statements import CutStatements
from catalog.query.template import split
from overlay.arena.text_arena import cut, sizes_of
from overlay.table import statement_texts
from overlay.table.literal_code import pack
from overlay.table.statement_texts import StatementTexts, packed, packed_all
from tests.effort import examples

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
    "1x",
    "\n",
    '"q"',
    "é1",
    "'é'",
]
pieces = st.sampled_from([*PIECES, "'é'"])
statements = st.lists(st.lists(pieces, max_size=9).map("".join) | st.text(max_size=9), min_size=1, max_size=8)


def all_of(texts: StatementTexts, entered: list[tuple[int, bytes]]) -> list[str]:
    sizes = sizes_of([literals for _, literals in entered])
    data = np.frombuffer(b"".join(literals for _, literals in entered), np.uint8)
    numbers = np.array([number for number, _ in entered], np.int64)
    return [text.decode() for text in cut(*texts.texts(numbers, data, np.cumsum(sizes) - sizes, sizes))]


@settings(max_examples=examples(200), deadline=None)
@given(statements)
def test_any_text_survives(statements: list[str]) -> None:
    texts = StatementTexts()
    entered = [(texts.enter(parts), literals) for parts, literals in map(packed, statements)]
    texts.check(number for number, _ in entered)
    assert [texts.text(*one) for one in entered] == statements == all_of(texts, entered)
    assert [packed(one, (split(one)[0][0], split(one)[1])) for one in statements] == list(map(packed, statements))


@settings(max_examples=examples(100), deadline=None)
@given(statements)
def test_many_are_packed_as_one(statements: list[str]) -> None:
    sizes = sizes_of([text.encode() for text in statements])
    data = np.frombuffer("".join(statements).encode(), np.uint8)
    made = CutStatements.of(data, np.cumsum(sizes) - sizes, np.cumsum(sizes))
    for rows in made.by_template():
        count = int(made.counts[rows[0]])
        assert packed_all(made, rows, count) == [packed(statements[i])[1] for i in rows.tolist()]


def test_what_has_no_room_as_a_template_is_to_be_kept_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statement_texts, "MOST_TEMPLATES", 2)
    texts = StatementTexts()
    templates = [packed(text)[0] for text in ["a = 1", "b = 'x'", "c = 3", "a = 5", "d"]]
    assert [texts.enter(parts) for parts in templates] == [0, 1, -1, 0, -1]
    assert all_of(texts, [(0, pack("7")), (-1, b"c = 3"), (1, pack("'y'"))]) == ["a = 7", "c = 3", "b = 'y'"]
    texts.leave([1, -1])
    assert texts.enter(packed("e = 4")[0]) == 1 and texts.parts(1) == ("e = ", "")
    texts.check([0, 1, 0, -1])
    assert texts.enter_parts(("a = ", ""), 3) == 0
    assert all_of(texts, []) == []
