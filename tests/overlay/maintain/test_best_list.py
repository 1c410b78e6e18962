"""What a message does to a list: as the twin has it, told by one move, and silent where nothing is shown otherwise."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.best_shape import BestShape
from catalog.query.channel import Order
from catalog.types.column_type import ColumnType, Kind
from operators.reply import decode_row, encode_row
from overlay.answers.answer import ListAnswer
from overlay.answers.answer_table import AnswerTable
from overlay.answers.list_layout import ListLayout
from overlay.maintain.best_list import ListChange, ListMaintainer, apply_change
from overlay.maintain.notifier import Notifier
from state.best_tree import IN, OUT, STAY
from tests.effort import examples
from tests.oracle.naive_best_list import BestMessage

LIMIT = 3
SHAPE = BestShape("t", ("v",), (), None, (Order("k", False, False),), LIMIT, ())
LAYOUT = ListLayout(SHAPE, [ColumnType(Kind.BIGINT)])
ROWS = st.dictionaries(st.integers(0, 5), st.integers(0, 2), max_size=6)
"""By rank what is shown: the rank is the key too."""


def image(rank: int, shown: int) -> bytes:
    return encode_row([shown, rank])


def between(before: dict[int, int], after: dict[int, int]) -> list[ListChange]:
    """Return a change of one row as a message has it, if there is one: ranks are all that there is."""
    changed = [rank for rank in range(6) if before.get(rank) != after.get(rank)]
    if len(changed) != 1:
        return []
    (rank,) = changed
    place = sum(other < rank for other in after if other != rank)
    if place >= LIMIT:
        return []
    old, new = (image(rank, rows[rank]) if rank in rows else b"" for rows in (before, after))
    kind = STAY if old and new else OUT if old else IN
    inside = [image(r, s) for r, s in sorted(after.items()) if r > rank] if kind == OUT else []
    return [ListChange(f"{rank}", kind, place, old, new, inside)]


def listed(rows: dict[int, int]) -> list[bytes]:
    return [image(rank, shown) for rank, shown in sorted(rows.items())][:LIMIT]


@given(states=st.lists(ROWS, min_size=2, max_size=6), latest=st.booleans())
@settings(max_examples=examples(200), deadline=None)
def test_a_list_follows_and_tells_what_is_shown_otherwise(states, latest):
    path = [states[0]]
    for goal in states[1:]:
        for rank in range(6):
            step = {r: s for r, s in path[-1].items() if r != rank} | {r: goal[r] for r in (rank,) if r in goal}
            path.append(step)
    answer, lines = ListAnswer(listed(path[0])), list[dict]()
    notifier = Notifier(lambda _, line: lines.append(msgspec.json.decode(line)), b"a", '{"id":"a"', 1)
    maintainer = ListMaintainer(7, answer, LAYOUT, notifier, latest)
    answers, held = AnswerTable(), [decode_row(row)[:1] for row in answer]
    answers.start(7, answer)
    for before, after in pairwise(path):
        changes = between(before, after)
        assert maintainer.take(changes, 0, len(changes), answers)
        assert answer == listed(after)
    maintainer.end()
    assert not latest or len(lines) <= 1
    for line in lines:
        was = list(held)
        for place, row in line["removed"]:
            assert held.pop(place) == row
        for place, row in line["added"]:
            held.insert(place, row)
        assert held != was
    assert held == [decode_row(row)[:1] for row in answer]


def test_a_list_that_is_another_one_is_not_touched():
    for kind in (OUT, STAY):
        with pytest.raises(ValueError, match="place 0"):
            apply_change(ListAnswer([image(1, 1)]), ListChange("", kind, 0, image(0, 0), b"", [image(2, 2)]), LIMIT)


@given(ranks=st.sets(st.integers(0, 8), max_size=5), data=st.data())
@settings(max_examples=examples(200), deadline=None)
def test_a_move_is_what_the_twin_says(ranks, data):
    """All rows in range, of ranks 0, 10, ..; one moves to a rank between."""
    every = sorted(10 * rank for rank in ranks) or [0]
    old = data.draw(st.sampled_from(every))
    new = data.draw(st.sampled_from(list(range(-5, 90, 10))))
    others = [rank for rank in every if rank != old]
    ref = min(old, new)
    place = sum(rank < ref for rank in others)
    if place >= LIMIT:
        return
    cands = [(rank, rank, rank) for rank in others if old < rank < new] if new > old else []
    message = BestMessage(STAY, 0, 0, 0, 0, place, [], [], [(0, 0, rank) for rank, _, _ in cands], old, new)
    rows = [rank.to_bytes(2, "big", signed=True) for rank in every[:LIMIT]]
    change = ListChange(
        "", STAY, place, *(rank.to_bytes(2, "big", signed=True) for rank in (old, new)),
        [rank.to_bytes(2, "big", signed=True) for rank, _, _ in cands],
    )  # fmt: skip
    held = ListAnswer(rows)
    apply_change(held, change, LIMIT)
    twin = message.applied(every[:LIMIT], 0, 0, LIMIT)
    assert held == [rank.to_bytes(2, "big", signed=True) for rank in twin]
    assert twin == sorted([*others, new])[:LIMIT]
