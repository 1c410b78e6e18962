from __future__ import annotations

import numpy as np

from operators import range_distinct
from operators.answer import Members, Tally
from operators.batch_view import Places
from operators.channel_kinds import bind
from state.order_code import INT64_MAX, INT64_MIN
from tests.operators.grounds import ground_of
from tests.operators.watched import RELATION, Change, channel

ROWS: list[Change] = [
    (1, {"x": 1, "y": 5, "s": "b"}),
    (2, {"x": 4, "y": 5, "s": "a"}),
    (3, {"x": 3, "y": None, "s": "b"}),
    (4, {"x": 2, "y": 7, "s": None}),
]
RANGES = [(INT64_MIN, INT64_MAX), (1, 2), (3, 3), (5, 9), (4, 1)]
PLACES = Places([b"[]"], np.zeros(5, np.int64), *np.array(RANGES, np.int64).T.copy())


def test_values_in_a_range_each_once_and_null_among_them() -> None:
    for column, expected in (
        ("y", [{5, 7, None}, {5, 7}, {None}, set(), set()]),
        ("s", [{"a", "b", None}, {"b", None}, {"b"}, set(), set()]),
        ("x", [{1, 2, 3, 4}, {1, 2}, {3}, set(), set()]),
    ):
        bound = bind(channel("distinct", column), RELATION)
        parts = range_distinct.parts(ground_of(bound, ROWS), bound, PLACES)
        assert [set(part.values) for part in parts if isinstance(part, Members)] == expected


def test_how_many_there_are_is_told_with_null_and_without() -> None:
    for column, expected in (
        ("y", [(3, 2), (2, 2), (1, 0), (0, 0), (0, 0)]),
        ("s", [(3, 2), (2, 1), (1, 1), (0, 0), (0, 0)]),
        ("x", [(4, 4), (2, 2), (1, 1), (0, 0), (0, 0)]),
    ):
        bound = bind(channel("distinct", column), RELATION)
        parts = range_distinct.tallies(ground_of(bound, ROWS), bound, PLACES)
        assert [(part.count, part.total) for part in parts if isinstance(part, Tally)] == expected


def told(column: str, *changes: Change) -> list[list[int | None]]:
    """Return cause, rows, old, new and bounds of the messages."""
    bound = bind(channel("distinct", column), RELATION)
    out = []
    for found in range_distinct.find(ground_of(bound, ROWS, changes), bound):
        for i in range(len(found)):
            old = int(found.old[i]) if found.has_old[i] else None
            new = int(found.new[i]) if found.has_new[i] else None
            out.append([int(found.cause[i]), int(found.rows[i]), old, new, *found.box[:, i].tolist()])
    return out


def test_a_value_comes_into_the_gap_between_its_rows() -> None:
    assert told("y", (9, {"x": 2, "y": 5})) == [[0, 1, None, 5, 2, 2, 2, 3]]


def test_a_value_goes_from_the_gap_between_its_other_rows() -> None:
    assert told("y", (2, None)) == [[0, -1, 5, None, 2, 4, 4, INT64_MAX]]


def test_null_comes_and_goes_as_a_value_does() -> None:
    assert told("y", (3, {"x": 3, "y": 5})) == [
        [0, 1, None, 5, 2, 3, 3, 3],
        [0, -1, None, None, INT64_MIN, 3, 3, INT64_MAX],
    ]


def test_another_row_with_the_value_at_the_same_place_is_no_news() -> None:
    assert told("y", (9, {"x": 1, "y": 5}), (9, None)) == []
