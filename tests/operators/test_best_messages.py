from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.best_messages import MORE
from tests.effort import examples
from tests.operators.wire.test_best import MESSAGE, TEXT_BOUNDS, messages_of, said


@given(drawn=st.lists(MESSAGE, min_size=1, max_size=6), data=st.data())
@settings(max_examples=examples(200), deadline=None)
def test_some_messages_have_only_what_they_name(drawn, data):
    messages = messages_of(drawn, list(range(len(drawn))))
    which = sorted(data.draw(st.sets(st.integers(0, len(drawn) - 1))))
    part = messages.take(np.array(which, np.int64), TEXT_BOUNDS)
    assert said(part) == [said(messages)[i] for i in which]
    named = {n for n in (*part.old.tolist(), *part.new.tolist(), *part.cand.tolist()) if n >= 0}
    assert named == set(range(len(part.images["id"].values))) and len(part.groups) == len(set(part.group.tolist()))
    texts = {x for name, rows in part.of_texts(TEXT_BOUNDS).items() for x in getattr(part, name)[rows].tolist()}
    assert texts == set(range(len(part.texts)))


@given(drawn=st.lists(MESSAGE, min_size=1, max_size=6))
@settings(max_examples=examples(100), deadline=None)
def test_each_message_names_its_row_before_and_after_and_its_candidates(drawn):
    by, image = messages_of(drawn, list(range(len(drawn)))).named()
    rows = [[n for n in (m["old"], m["new"], *(c for _, c in m["cands"])) if n >= 0] for m in drawn]
    assert list(zip(by.tolist(), image.tolist(), strict=True)) == [(i, n) for i, mine in enumerate(rows) for n in mine]


def test_more_of_a_message_has_candidates_alone():
    message = {"channel": 0, "kind": 1, "box": (0, 1, 2, 3), "base": 1, "left": [4], "right": [], "old": 0, "new": -1}
    messages = messages_of([message | {"cands": [(6, 1), (7, 2)]}], [0])
    pieces = [messages.piece(0, slice(i, i + 1), TEXT_BOUNDS) for i in range(2)]
    heads = [(int(piece.kind[0]), int(piece.lefts[0]), int(piece.old[0])) for piece in pieces]
    assert heads == [(1, 1, 0), (MORE, 0, -1)]
    assert [(piece.bounds.tolist(), piece.cand_x.tolist()) for piece in pieces] == [([4], [6]), ([], [7])]
    assert [len(piece.images["id"].values) for piece in pieces] == [2, 1]
