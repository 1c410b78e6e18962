"""Rows laid out by the keys of a join; `test_join_replay.py` has what becomes of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.maintain.join_rows import JoinRows, _as_one
from tests.effort import examples
from tests.oracle.naive_answer import Rows
from tests.oracle.naive_cell import NaiveTimeline
from tests.overlay.join_questions import FORMS, RELATIONS, SHOWN, TABLES

numbers = st.lists(st.tuples(st.integers(-1, 2), st.integers(0, 2), st.integers(5, 6)), min_size=1, max_size=6)


@settings(max_examples=examples(200), deadline=None)
@given(own=numbers, theirs=numbers, width=st.integers(1, 3))
def test_several_keys_are_one_number(own: list[tuple], theirs: list[tuple], width: int) -> None:
    columns = [
        (np.array([one[i] for one in own], np.int64), np.array([one[i] for one in theirs], np.int64))
        for i in range(width)
    ]
    mine, others = _as_one(columns)
    for i, first in enumerate(own):
        for j, second in enumerate(theirs):
            assert (mine[i] == others[j]) == (first[:width] == second[:width])


def row(key: str, k: int | None, j: int = 0) -> dict:
    return {"id": key, "k": k, "j": j, "x": 0, "s": "a"}


def test_a_table_that_stands_twice_is_there_once_with_keys_of_each_place() -> None:
    tables: dict[str, Rows] = {"r": {"p": row("p", 1), "q": row("q", None, 1)}, "s": {}, "t": {}}
    join = FORMS["itself across"]
    rows = JoinRows.of(join, NaiveTimeline(RELATIONS, [join], dict.fromkeys(TABLES, SHOWN)).of(tables, []))
    assert join.classes == (((0, "j"), (1, "k")),)
    assert rows.base == (0, 0) and rows.valid.tolist() == [[True, True], [True, False]]
    assert (rows.key_of(0, 1)[0], rows.key_of(0, 1)[1]) == (rows.key_of(0, 0)[1], -1), "p by k is q by j"
