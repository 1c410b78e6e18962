from __future__ import annotations

import numpy as np

from operators import range_extremum
from operators.answer import Extremum
from operators.batch_view import Places
from operators.channel_kinds import bind
from state.order_code import INT64_MAX, INT64_MIN
from tests.operators.grounds import ground_of
from tests.operators.watched import RELATION, Change, channel

ROWS: list[Change] = [
    (1, {"x": 1, "y": INT64_MAX, "s": "b"}),
    (2, {"x": 2, "y": 5, "s": "a"}),
    (3, {"x": 3, "y": None}),
]
EVERYWHERE = Places([b"[]"], np.zeros(3, np.int64), np.array([INT64_MIN, 1, 3]), np.array([INT64_MAX, 1, 3]))


def test_the_greatest_code_is_a_value_and_absence_is_none() -> None:
    for kind, expected in (("min", [5, INT64_MAX]), ("max", [INT64_MAX, INT64_MAX])):
        bound = bind(channel(kind, "y"), RELATION)
        new, there = range_extremum.answers(ground_of(bound, ROWS), bound, EVERYWHERE)
        assert new.tolist() == [*expected, 0]
        assert there.tolist() == [True, True, False]


def test_texts_are_answers_too() -> None:
    bound = bind(channel("max", "s"), RELATION)
    ground = ground_of(bound, ROWS)
    parts = range_extremum.parts(ground, bound, EVERYWHERE)
    assert parts == [Extremum("b"), Extremum("b"), Extremum()]


def test_a_lower_value_is_found_with_its_reach() -> None:
    bound = bind(channel("min", "y"), RELATION)
    (found,) = range_extremum.find(ground_of(bound, ROWS, [(3, {"x": 3, "y": 6}), (3, {"x": 3, "y": 4})]), bound)
    assert found.cause.tolist() == [0, 1]
    assert found.new.tolist() == [6, 4]
    assert found.box.T.tolist() == [[3, 3, 3, INT64_MAX], [INT64_MIN, 3, 3, INT64_MAX]]
    assert not found.rows.any()
    assert not found.has_old.any()


def test_a_change_of_something_else_is_not_found() -> None:
    bound = bind(channel("min", "y"), RELATION)
    (found,) = range_extremum.find(ground_of(bound, ROWS, [(2, {"x": 2, "y": 5, "s": "z"})]), bound)
    assert len(found) == 0
