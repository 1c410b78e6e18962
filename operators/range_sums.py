"""Range COUNT, SUM and AVG: every row that comes into a range, goes from it, or changes its value there.

The papers relax these to range subscriptions: each event in the range is sent. Sent exactly, a change of a row from
x_o to x_n within a group splits the plane of ranges in three, and what the ranges of each part must hear differs:

    hi |                       A  holds x_o only:   a row has gone   (rows -1, `old`)
       |   A  :  C  :          B  holds x_n only:   a row has come   (rows +1, `new`)
       |......+-----+ x_n      C  holds both:       `new` instead of `old`, for `values`, if they differ (rows 0)
       |   A  |  B
       +------+--------- lo    (x_o < x_n: A is lo <= x_o <= hi < x_n, B is x_o < lo <= x_n <= hi; else mirrored)
             x_o

A change of group is a row gone from one and come into the other. A row counts where its columns `equal`, `range` and
the channel's own, if it has one, are not NULL. At most three messages a change, and those of a group are disjoint.

Cost: O(m) for m changes, 0.1 us each and message, all vectorised. A snapshot: O(n) for a channel
(operators/exact_sums.py), O(log n) for each region.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from catalog.query.channel import Channel
from catalog.schema.relation import Relation
from operators.answer import Part, Tally
from operators.batch_view import BatchView, Places
from operators.channel_binding import ChannelBinding
from operators.channel_kind import RangeKind, its_own_ordering
from operators.delta import Delta
from operators.exact_sums import ExactSums
from operators.exact_units import is_summable
from state.change_batch import I64, Bool
from state.order_code import INT64_MAX, INT64_MIN


@dataclass(slots=True)
class _Moves:
    """The changes that touch a channel: where the row was (`had`) and is (`has`), by group, x and value."""

    cause: I64
    had: Bool
    has: Bool
    group: tuple[I64, I64]
    x: tuple[I64, I64]
    value: tuple[I64, I64]

    @classmethod
    def of(cls, view: BatchView, bound: ChannelBinding) -> _Moves:
        replay, layout = view.replay, view.layout(bound.order)
        both = []
        for versions in (replay.before, replay.after):
            there = (versions >= 0) & (layout.slot[versions] >= 0) if len(versions) else np.zeros(0, np.bool_)
            both.append(there if bound.column is None else there & replay.valid[bound.column][versions])
        cause = np.flatnonzero((both[0] | both[1]) & (replay.before != replay.after))
        had, has = both[0][cause], both[1][cause]
        group, x, value = [], [], []
        for versions, there in ((replay.before[cause], had), (replay.after[cause], has)):
            slot = np.where(there, layout.slot[versions], 0)
            group.append(layout.group[slot])
            x.append(layout.x[slot])
            value.append(
                replay.codes[bound.column][versions] if bound.channel.kind == "values" else np.zeros_like(slot)
            )
        return cls(cause, had, has, (group[0], group[1]), (x[0], x[1]), (value[0], value[1]))


def find(view: BatchView, bound: ChannelBinding) -> Iterator[Delta]:
    """Yield the messages of the view's changes."""
    moves = _Moves.of(view, bound)
    same = moves.had & moves.has & (moves.group[0] == moves.group[1])
    moved = same & (moves.x[0] != moves.x[1])
    gone = np.flatnonzero(moves.had & (~same | moved))
    come = np.flatnonzero(moves.has & (~same | moved))
    other = np.flatnonzero(same & (moves.value[0] != moves.value[1]))
    which = np.concatenate([gone, come, other])
    rows = np.repeat(np.array([-1, 1, 0]), [len(gone), len(come), len(other)])
    box = np.concatenate([_only(moves, 0, gone, moved), _only(moves, 1, come, moved), _both(moves, other)], axis=1)
    order = np.argsort(which, kind="stable")
    which, rows, box = which[order], rows[order], box[:, order]
    values = bound.channel.kind == "values"
    has_old, has_new = (rows <= 0) & values, (rows >= 0) & values
    old, new = np.where(has_old, moves.value[0][which], 0), np.where(has_new, moves.value[1][which], 0)
    group = np.where(rows < 0, moves.group[0][which], moves.group[1][which])
    yield Delta(bound.order, moves.cause[which], group, rows, old, has_old, new, has_new, box)


def parts(view: BatchView, bound: ChannelBinding, places: Places) -> list[Part]:
    """Return count and total of each place. `view` must be still. Cost: see the module's header."""
    layout = view.layout(bound.order)
    first, stop = layout.spans(view.seek(bound.order, places.groups)[places.group], places.lo, places.hi)
    if bound.column is None:
        return [Tally.of(count, 0) for count in (stop - first).tolist()]
    there = view.replay.valid[bound.column][layout.version]
    sums = np.append(0, np.cumsum(there))
    counts = (sums[stop] - sums[first]).tolist()
    if bound.channel.kind == "rows":
        return [Tally.of(count, 0) for count in counts]
    codes = np.where(there, view.replay.codes[bound.column][layout.version], 0)
    type_ = view.relation.columns[bound.column].type
    exact = ExactSums.of_texts(type_, codes, there, view.rows, bound.column) if bound.text else None
    totals = (exact or ExactSums.of(type_, codes)).between(first, stop)
    return [Tally.of(count, total) for count, total in zip(counts, totals, strict=True)]


def _only(moves: _Moves, side: int, which: I64, moved: Bool) -> I64:
    """Return the rectangles of the ranges that hold a row's x on one side, and not on the other where it moved."""
    x, other = moves.x[side][which], moves.x[1 - side][which]
    above, below = moved[which] & (other > x), moved[which] & (other < x)
    lo_min = np.where(below, other + below, INT64_MIN)
    return np.stack([lo_min, x, x, np.where(above, other - above, INT64_MAX)])


def _both(moves: _Moves, which: I64) -> I64:
    """Return the rectangles of the ranges that hold both x."""
    one, other = moves.x[0][which], moves.x[1][which]
    ends = np.full(len(which), INT64_MIN), np.full(len(which), INT64_MAX)
    return np.stack([ends[0], np.minimum(one, other), np.maximum(one, other), ends[1]])


def _lacks(channel: Channel, relation: Relation) -> str:
    if channel.column is None:
        return "" if channel.kind == "rows" else f"`{channel.kind}` needs a column"
    type_ = relation.column(channel.column).type
    summed = channel.kind == "values" and not is_summable(type_)
    return f"column `{channel.column}` is {type_}; only numbers have sums" if summed else ""


KIND = RangeKind(lacks=_lacks, orderings=its_own_ordering, find=find, nothing=Tally(), parts=parts)
