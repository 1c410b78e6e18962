from __future__ import annotations

from typing import Any

import msgspec
import pytest

from catalog.query.best_shape import BestShape
from catalog.query.channel import BestChannel, Order
from catalog.query.shape import Region
from operators import range_best
from operators.channel_binding import ChannelError
from operators.channel_kinds import bind
from operators.reply import decode_row
from state.best_tree import IN, OUT, STAY
from state.order_code import INT64_MAX, INT64_MIN
from tests.operators.grounds import ground_of
from tests.operators.watched import RELATION, Change
from tests.operators.wire.test_best import said

ORDER = (Order("y", False, False), Order("id", False, False))
CHANNEL = BestChannel("t", "best", None, (), "x", ORDER, 2)
POINTS = [(1, 1, 5), (2, 3, 3), (3, 4, 9), (4, 6, 7)]
ROWS: list[Change] = [(i, {"x": x, "y": y, "s": f"row {i}"}) for i, x, y in POINTS]


def told(*changes: Change) -> list[tuple[Any, ...]]:
    """Return kind, better rows inside, to the left and to the right, box, their x, candidates by (x, id), the row."""
    bound = bind(CHANNEL, RELATION)
    found = range_best.find(ground_of(bound, ROWS, changes), {CHANNEL: bound}, ["id"])
    assert found is not None
    return [
        (*counts[1:], box, bounds, [(x, row) for x, (row,) in cands], ends)
        for _, _, counts, box, bounds, cands, ends in said(found)
    ]


def test_a_row_comes_where_fewer_than_k_are_better() -> None:
    box = [INT64_MIN, 4, 4, INT64_MAX]
    assert told((9, {"x": 4, "y": 4})) == [(IN, 0, 1, 0, box, [3], [], [None, (9,)])]
    box = [2, 4, 4, INT64_MAX]
    assert told((9, {"x": 4, "y": 6})) == [(IN, 0, 2, 0, box, [3, 1], [], [None, (9,)])]


def test_a_row_goes_and_those_that_may_move_up_are_told_by_rank() -> None:
    box = [INT64_MIN, 3, 3, INT64_MAX]
    assert told((2, None)) == [(OUT, 0, 0, 0, box, [], [(1, 1), (6, 4), (4, 3)], [(2,), None])]


def test_a_change_of_place_order_or_a_needed_column_is_told_and_no_other() -> None:
    box = [INT64_MIN, 1, 1, INT64_MAX]
    assert told((1, {"x": 1, "y": 4, "s": "row 1"})) == [(STAY, 0, 0, 1, box, [3], [], [(1,), (1,)])]
    assert told((1, {"x": 1, "y": 5, "s": "another"})) == []


def test_a_region_is_answered_with_its_first_rows_in_order() -> None:
    bound, shape = bind(CHANNEL, RELATION), BestShape("t", ("id", "s"), (), "x", ORDER, 2, (0,))
    regions = [Region(shape, b"[]", lo, hi) for lo, hi in ((INT64_MIN, INT64_MAX), (4, 9), (7, 9))]
    answers = range_best.first(ground_of(bound, ROWS), {CHANNEL: bound}, regions)
    ids = [[decode_row(row)[0] for row in answer.rows] for answer in answers]
    assert ids == [[2, 1], [4, 3], []]


@pytest.mark.parametrize("wrong", [{"order": ORDER[:1]}, {"order": (*ORDER, ORDER[1])}, {"most": 3}, {"column": "y"}])
def test_an_order_that_does_not_end_in_the_key_and_a_size_that_is_none_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ChannelError, match="does not fit table `t`"):
        bind(msgspec.structs.replace(CHANNEL, **wrong), RELATION)
