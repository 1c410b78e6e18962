"""Lists follow messages row by row: what was taken out and put in, and which rows are counted."""

from __future__ import annotations

import numpy as np
import pytest

from operators.reply import decode_row
from overlay.maintain.list_follower import ListFollower, Moves, Pairs, Record
from overlay.maintain.list_kernels import PLACE, ROW
from tests.overlay.list_bench import ListBench

ROWS = {"a": (1, 0), "b": (1, 1), "c": (1, 2)}


def followed(
    bench: ListBench, key: str, now: tuple[int, int] | None, place: int, which: int = 0
) -> tuple[list, list, Moves]:
    """Return what came of one message about a row, as [place, row] that went and came, for slot 0."""
    images: dict = {}
    told = [(0, False, made) for made in bench.messages(key, now, images)]
    messages = bench.packed(told[which : which + 1], images).messages
    xs = np.stack([messages.bounds, messages.bounds]) if len(messages.bounds) else np.zeros((2, 0), np.int64)
    wide = np.zeros((4, max(len(messages.bounds), len(messages.cand_x))), np.int64)
    wide[:2, : xs.shape[1]], wide[2:, : len(messages.cand_x)] = xs, messages.cand_x
    one = np.zeros(1, np.int64)
    follower, lists = ListFollower(bench.store.lists), bench.store.lists
    moves = follower.follow(Record(messages, wide), Pairs(one, one, one, one + 3, one + place))
    sides = [
        [(int(side[PLACE, 0]), decode_row(lists.rows.images(side[ROW, :1])[0])) if side[PLACE, 0] >= 0 else None]
        for side in moves
    ]
    follower.leave(moves)
    lists.check()
    return sides[0], sides[1], moves


def test_a_row_that_comes_pushes_the_last_one_out() -> None:
    bench = ListBench([(0, 3, 2, "k, m", "")], ROWS)
    out, put, moves = followed(bench, "d", (1, 0), 1)
    assert (out, put) == ([(1, ["b", 1])], [(1, ["d", 0])])
    assert not moves.alike.any() and len(bench.store.lists.rows) == 2


def test_a_row_that_goes_makes_room_for_the_next_one() -> None:
    bench = ListBench([(0, 3, 2, "k, m", "")], ROWS)
    assert followed(bench, "a", None, 0)[:2] == ([(0, ["a", 0])], [(1, ["c", 2])])
    assert followed(bench, "b", None, 0)[:2] == ([(0, ["b", 1])], [None])


def test_a_row_that_only_moves_along_the_range_leaves_its_list_alike() -> None:
    bench = ListBench([(0, 3, 2, "k", "")], ROWS)
    out, put, moves = followed(bench, "b", (2, 1), 1, which=2)
    assert out == put == [(1, ["b", 1])] and moves.alike.all()


def test_equal_bytes_are_one_row_wherever_they_come_from() -> None:
    bench = ListBench([(0, 3, 3, "k, m", ""), (0, 3, 3, "k, m", "")], ROWS)
    bench.batch([[("a", (1, 2))], [("a", (1, 0))], [("a", (1, 2))], [("b", None)], [("b", (1, 1))]], 2)
    lists = bench.store.lists
    lists.check()
    assert len(lists.rows) == 3
    assert [decode_row(image) for image in lists.answer(1)] == [["b", 1], ["a", 2], ["c", 2]]


@pytest.mark.parametrize(("key", "place"), [("a", 1), ("b", 0)])
def test_a_list_that_is_another_one_is_refused(key: str, place: int) -> None:
    bench = ListBench([(0, 3, 2, "k, m", "")], ROWS)
    with pytest.raises(ValueError, match=f"a list of 2 rows does not have at place {place}"):
        followed(bench, key, None, place)
