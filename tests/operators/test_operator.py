"""What operators make of a batch: messages as they are told apart, and what has no length of its own."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from operators.best_messages import BestMessages
from operators.operator import Messages, Outcome, Ranged
from shard.tables import Table
from state.order_code import INT64_MAX, INT64_MIN
from tests.operators.watched import RELATION, Change, batch_of, channel

RANGED = sorted(name for name in vars(Ranged) if not name.startswith("_"))


def told(*changes: Change, before: tuple[Change, ...] = ()) -> Messages:
    """What a table says to those who ask for the least and the greatest y, and how many rows there are, by x."""
    table = Table(RELATION)
    table.listen([channel("min", "y"), channel("max", "y"), channel("rows", None)])
    if before:
        table.apply(batch_of(before))
    return table.apply(batch_of(changes)).messages


def of(messages: Messages, kind: str) -> list[tuple[int, ...]]:
    columns = messages.cause, messages.rows, messages.lo_min, messages.lo_max, messages.hi_min, messages.hi_max
    which = [i for i in range(len(messages)) if messages.channels[messages.channel[i]].kind == kind]
    return [tuple(int(column[i]) for column in columns) for i in which]


def test_both_kinds_of_messages_are_found_by_their_rectangles() -> None:
    """`Messages` has all that whoever looks for listeners reads, and so has what is told of first rows."""
    for kind in (Messages, BestMessages):
        known = {each.name for each in fields(kind)} | set(dir(kind))
        assert set(RANGED) <= known, kind
        assert hasattr(kind, "__len__")


def test_there_are_as_many_messages_as_causes_of_them() -> None:
    messages = told((1, {"x": 3, "y": 5}), (2, {"x": 4, "y": 5}))
    columns = [each.name for each in fields(Messages) if each.name not in ("channels", "groups", "texts")]
    assert {len(getattr(messages, name)) for name in columns} == {len(messages)}
    assert (np.diff(messages.cause) >= 0).all()
    assert len(told()) == 0


def test_a_row_is_told_to_the_ranges_that_hold_it() -> None:
    messages = told((1, {"x": 3, "y": 5}))
    assert of(messages, "rows") == [(0, 1, INT64_MIN, 3, 3, INT64_MAX)]
    assert of(messages, "min") == of(messages, "max") == [(0, 0, INT64_MIN, 3, 3, INT64_MAX)]


def test_a_worse_row_is_told_to_those_whose_range_leaves_the_better_one_out() -> None:
    messages = told((2, {"x": 6, "y": 9}), before=((1, {"x": 3, "y": 5}),))
    assert of(messages, "min") == [(0, 0, 4, 6, 6, INT64_MAX)]
    assert of(messages, "max") == [(0, 0, INT64_MIN, 6, 6, INT64_MAX)]


def test_messages_of_one_channel_and_cause_reach_nobody_twice() -> None:
    before = tuple((i, {"x": i, "y": (3 * i) % 5}) for i in range(6))
    messages = told((2, None), (3, {"x": 1, "y": 0}), before=before)
    for kind in ("min", "max"):
        for lo in range(-1, 8):
            for hi in range(lo, 8):
                met = [cause for cause, _, a, b, c, d in of(messages, kind) if a <= lo <= b and c <= hi <= d]
                assert len(met) == len(set(met)), (kind, lo, hi)


def test_what_nobody_listens_to_is_not_there() -> None:
    table = Table(RELATION)
    outcome = table.apply(batch_of([(1, {"x": 3, "y": 5})]))
    assert isinstance(outcome, Outcome)
    assert (len(outcome.messages), outcome.images, outcome.best) == (0, None, None)
