"""Lists that follow messages by places alone, against lists that are sorted anew, over few rows full of ties."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.maintain.list_kernels import follow, name_images, number_new, places
from state.best_tree import IN, OUT, STAY
from tests.effort import examples

Xs = dict[int, int]
"""What the range attribute of each row is; rows are their own numbers, the least is the best."""


class Message:
    """One message about a row, of a domain whose rows stand in the order of their numbers.

    Its bounds are the better rows', one by one; its candidates all that are worse, the best first, as they are read
    by lists of any range.
    """

    def __init__(self, kind: int, row: int, old_x: Xs, new_x: Xs) -> None:
        self.kind, self.row = kind, row
        xs = new_x if kind == IN else old_x
        x = xs[row]
        better = [xs[r] for r in xs if r < row and r != row]
        self.lefts = sorted((v for v in better if v <= x), reverse=True)
        self.rights = sorted(v for v in better if v > x)
        self.cands = [] if kind == IN else [(r, new_x[r]) for r in sorted(new_x) if r > row]

    def arrays(self) -> tuple[np.ndarray, ...]:
        lefts, rights, cands = self.lefts, self.rights, self.cands
        heads = np.array(
            [
                [self.kind],
                [0],
                [len(lefts)],
                [-1 if self.kind == IN else self.row],
                [-1 if self.kind == OUT else self.row],
            ]
        )
        xs = np.zeros((4, max(len(lefts) + len(rights), len(cands))), np.int64)
        xs[:2, : len(lefts) + len(rights)] = lefts + rights
        xs[2:, : len(cands)] = [x for _, x in cands]
        return (
            heads,
            np.array([0, len(lefts) + len(rights)]),
            np.array([0, len(cands)]),
            xs,
            np.array([r for r, _ in cands], np.int64),
        )


def held(xs: Xs, lo: int, hi: int, room: int) -> list[int]:
    return [row for row in sorted(xs) if lo <= xs[row] <= hi][:room]


ROOM = 4


def play(
    message: Message, before: list[int], lo: int, hi: int, room: int, place: int
) -> tuple[int, list[int], list[list[int]]]:
    """What `follow` returns, the list afterwards, and out and put; rows of images are numbers from 100 on."""
    heads, _, cands, xs, cand = message.arrays()
    one, nothing = np.zeros(1, np.int64), np.full((2, 1), -1, np.int64)
    first, count, rooms = (np.array([n], np.int32) for n in (1, len(before), room))
    cells = np.full(ROOM + 3, -77, np.int32)
    cells[1 : 1 + len(before)] = [100 + row for row in before]
    refs, out, put = np.arange(100, 112)[None].copy(), nothing.copy(), nothing.copy()
    pair = one, one, one + lo, one + hi, one + place, one
    wrong = follow(*pair, heads, cands, xs, cand, refs, first, count, rooms, cells, out, put)
    assert cells[0] == cells[1 + room] == -77
    return (
        int(wrong),
        [n - 100 for n in cells[1 : 1 + int(count[0])].tolist()],
        [out[:, 0].tolist(), put[:, 0].tolist()],
    )


@settings(max_examples=examples(1_000), deadline=None)
@given(st.integers(0, 2**32))
def test_a_list_is_what_sorting_anew_makes_it(seed: int) -> None:
    rng = Random(seed)
    old_x = {row: rng.randrange(3) for row in range(9) if rng.random() < 0.6}
    row = rng.randrange(9)
    kind = OUT if row in old_x else IN
    new_x = {r: x for r, x in old_x.items() if r != row} | ({row: rng.randrange(3)} if kind == IN else {})
    lo, hi, room = rng.randrange(3), rng.randrange(3), rng.randrange(1, ROOM + 1)
    x = (new_x if kind == IN else old_x)[row]
    before, after = held(old_x, lo, hi, room), held(new_x, lo, hi, room)
    if not lo <= x <= hi or before == after:
        return
    message = Message(kind, row, old_x, new_x)
    heads, bounds, _, xs, _ = message.arrays()
    one, place = np.zeros(1, np.int64), np.zeros(1, np.int64)
    places(one, one + lo, one + hi, heads, bounds, xs, place)
    better = sum(lo <= other <= hi for r, other in (new_x if kind == IN else old_x).items() if r < row)
    assert place[0] == better
    wrong, found, (out, put) = play(message, before, lo, hi, room, better)
    assert (wrong, found) == (-1, after)
    gone, come = set(before) - set(after), set(after) - set(before)
    assert out == ([before.index(min(gone)), 100 + min(gone)] if gone else [-1, -1])
    assert put == ([after.index(min(come)), 100 + min(come)] if come else [-1, -1])


@settings(max_examples=examples(400), deadline=None)
@given(st.integers(0, 2**32))
def test_images_that_a_list_may_need_are_named(seed: int) -> None:
    """Those of the row itself, and of as many candidates inside as there are rows from its place on."""
    rng = Random(seed)
    old_x = {row: rng.randrange(3) for row in range(9)}
    row, lo, hi, room = rng.randrange(9), rng.randrange(2), 1 + rng.randrange(2), rng.randrange(1, ROOM + 1)
    new_x = {r: x for r, x in old_x.items() if r != row}
    place = len(held({r: x for r, x in old_x.items() if r < row}, lo, hi, 9))
    heads, _, cands, xs, cand = Message(OUT, row, old_x, new_x).arrays()
    one, named = np.zeros(1, np.int64), np.zeros((1, 9), np.bool_)
    pair = one, one, one + lo, one + hi, one + min(place, room), one
    name_images(*pair, heads, cands, xs, cand, np.array([room], np.int32), named)
    inside = [r for r in sorted(new_x) if r > row and lo <= new_x[r] <= hi]
    assert named[0].nonzero()[0].tolist() == sorted([row, *inside[: room - min(place, room)]])


@pytest.mark.parametrize(
    ("kind", "row", "before", "place"),
    [
        pytest.param(OUT, 3, [1, 2], 0, id="what leaves is not there"),
        pytest.param(OUT, 2, [1, 2], 0, id="it stands elsewhere"),
        pytest.param(IN, 3, [1], 2, id="what comes has no place"),
        pytest.param(STAY, 1, [1, 2], 1, id="what becomes worse stood behind its place"),
    ],
)
def test_a_list_that_is_not_what_its_message_is_about_is_said_so(
    kind: int, row: int, before: list[int], place: int
) -> None:
    xs = dict.fromkeys(range(5), 1)
    assert play(Message(kind, row, xs, xs), before, 0, 2, 2, place)[:2] == (0, before)


def test_rows_get_their_numbers_in_all_lists_that_have_them() -> None:
    first, count = np.array([0, 3], np.int32), np.array([2, 2], np.int32)
    cells = np.array([-2, 5, -3, -3, -2, -4], np.int32)
    number_new(np.array([0, 1, 0]), np.array([70, 80, 90]), first, count, cells)
    assert cells.tolist() == [70, 5, -3, 80, 70, -4]
