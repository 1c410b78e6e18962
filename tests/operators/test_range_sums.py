from __future__ import annotations

import numpy as np
import pytest

from operators import range_sums
from operators.answer import Tally
from operators.batch_view import Places
from operators.channel_kinds import bind
from state.order_code import INT64_MAX, INT64_MIN
from tests.operators.grounds import ground_of
from tests.operators.watched import RELATION, Change, channel

LOW, HIGH = INT64_MIN, INT64_MAX
ROWS: list[Change] = [(1, {"e": "a", "x": 2, "y": 5, "w": "0.50"}), (2, {"e": "a", "x": 3, "y": None, "w": "1.00"})]


def told(kind: str, column: str | None, change: Change) -> list[tuple[bytes, int, int | None, int | None, list[int]]]:
    """Return group, rows, old, new and bounds of the messages of one change."""
    bound = bind(channel(kind, column, ("e",)), RELATION)
    ground = ground_of(bound, ROWS, [change])
    (found,) = range_sums.find(ground, bound)
    groups = ground.groups(found.order, 1, found.group)
    return [
        (
            groups[i],
            int(found.rows[i]),
            int(found.old[i]) if found.has_old[i] else None,
            int(found.new[i]) if found.has_new[i] else None,
            found.box[:, i].tolist(),
        )
        for i in range(len(found))
    ]


A, B = b'["a"]', b'["b"]'
MOVES: list[tuple[str, str | None, Change, object]] = [
    ("rows", None, (9, {"e": "a", "x": 7}), [(A, 1, None, None, [LOW, 7, 7, HIGH])]),
    ("rows", None, (1, None), [(A, -1, None, None, [LOW, 2, 2, HIGH])]),
    (
        "rows",
        None,
        (1, {"e": "a", "x": 6, "y": 5}),
        [(A, -1, None, None, [LOW, 2, 2, 5]), (A, 1, None, None, [3, 6, 6, HIGH])],
    ),
    (
        "values",
        "y",
        (1, {"e": "a", "x": 0, "y": 8}),
        [
            (A, -1, 5, None, [1, 2, 2, HIGH]),
            (A, 1, None, 8, [LOW, 0, 0, 1]),
            (A, 0, 5, 8, [LOW, 0, 2, HIGH]),
        ],
    ),
    ("values", "y", (1, {"e": "a", "x": 2, "y": 8}), [(A, 0, 5, 8, [LOW, 2, 2, HIGH])]),
    ("values", "y", (1, {"e": "a", "x": 2, "y": None}), [(A, -1, 5, None, [LOW, 2, 2, HIGH])]),
    ("values", "y", (2, {"e": "a", "x": 3, "y": 1}), [(A, 1, None, 1, [LOW, 3, 3, HIGH])]),
    ("values", "y", (2, {"e": "a", "x": 4, "y": None}), []),
    ("values", "y", (1, {"e": "a", "x": 2, "y": 5, "s": "other"}), []),
    ("rows", "y", (1, {"e": "a", "x": 2, "y": 8}), []),
    (
        "values",
        "y",
        (1, {"e": "b", "x": 2, "y": 5}),
        [(A, -1, 5, None, [LOW, 2, 2, HIGH]), (B, 1, None, 5, [LOW, 2, 2, HIGH])],
    ),
    ("rows", None, (1, {"e": None, "x": 2, "y": 5}), [(A, -1, None, None, [LOW, 2, 2, HIGH])]),
    (
        "rows",
        None,
        (1, {"e": "a", "x": HIGH, "y": 5}),
        [(A, -1, None, None, [LOW, 2, 2, HIGH - 1]), (A, 1, None, None, [3, HIGH, HIGH, HIGH])],
    ),
]


@pytest.mark.parametrize(("kind", "column", "change", "expected"), MOVES)
def test_what_a_change_says(kind: str, column: str | None, change: Change, expected: object) -> None:
    assert told(kind, column, change) == expected


def test_counts_and_totals_of_ranges() -> None:
    places = Places([A, B], np.array([0, 0, 1, 0]), np.array([LOW, 3, LOW, 3]), np.array([HIGH, 3, HIGH, 2]))
    for kind, column, expected in (
        ("rows", None, [(2, 0), (1, 0), (0, 0), (0, 0)]),
        ("rows", "y", [(1, 0), (0, 0), (0, 0), (0, 0)]),
        ("values", "y", [(1, 5), (0, 0), (0, 0), (0, 0)]),
        ("values", "w", [(2, 150), (1, 100), (0, 0), (0, 0)]),
    ):
        bound = bind(channel(kind, column, ("e",)), RELATION)
        parts = range_sums.parts(ground_of(bound, ROWS), bound, places)
        assert parts == [Tally.of(*pair) for pair in expected]
