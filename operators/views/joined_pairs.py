"""Joined: pairs of rows of two inputs whose keys are equal; with LEFT, a row without partner stands with NULLs.

    sides    each has the versions whose key has no NULL, in slots by key (state/ordering.py), with a heap of how many
             rows stand there now; the row at a slot is the version that came to it last
    pairs    which group of slots of the other side has the same key: looked up for the groups that a batch touches, by
             codes, by bytes of texts, or exactly across types of numbers (operators/join_keys.py)

A cause takes three steps, over both sides in each: rows that go or leave their key, rows that change in their place,
rows that come or reach another key. In each the pairs are what they are at that moment, so the last thing said of a
pair is what holds after the cause; that alone is told.

Cost: O(n) a side to lay out, 40 ns a row; O(log n) a change, and 0.1 us for each pair that it makes, changes or ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from catalog.schema.relation import Relation
from catalog.schema.view import Joined
from operators.batch_view import BatchView
from operators.channel_binding import KeptOrder, OrderingKey
from operators.join_keys import KeyColumn, distinct, translated
from operators.views.as_inserts import as_inserts
from operators.views.live_slots import count_up, first_live, shift
from operators.views.made_changes import made_changes
from operators.views.net_changes import NetChanges
from operators.views.row_keys import pair_keys
from operators.views.row_values import RowValues
from operators.views.view_operator import Input
from state.byte_table import Strings
from state.change_batch import I32, I64, ChangeBatch
from state.kernel import kernel
from state.ordering import Layout


class Side(NamedTuple):
    """One input, as kernels take it: arrays one by one, since each tuple on the way would count references to all.

    change: int64[4, changes], cause, before, after, and the steps that it takes, a bit each.
    where: int64[2, versions], slot and group, -1 where the key has a NULL.
    spans: int64[4, groups], where the slots of a group begin and end, and those of the other side that have its key,
    none where it is not touched.
    holds: int64[slots], the version at each.  live: int32[nodes], a heap of how many rows stand at the slots.
    """

    change: I64
    where: I64
    spans: I64
    holds: I64
    live: I32


@kernel
def _plant(live: I32, slot: I64, stored: int) -> None:
    """Build the heap of the stored rows."""
    size = len(live) // 2
    for v in range(stored):
        if slot[v] >= 0:
            live[size + slot[v]] = 1
    count_up(live)


@kernel
def _say(out: I64, at: int, cause: int, left: int, right: int, live: int) -> int:
    """Write what becomes of a pair, if there is room; return the place behind it."""
    if at < out.shape[1]:
        out[0, at], out[1, at], out[2, at], out[3, at] = cause, left, right, live
    return at + 1


@kernel
def _tell(
    begin: int, end: int, holds: I64, live: I32, v: int, cause: int, is_left: bool, lonely: bool, there: int,
    out: I64, at: int,
) -> int:  # fmt: skip
    """Say of all pairs of a version with rows of the other side that they are there (1), or not any more (0).

    begin, end, holds, live: the other side's rows.  lonely: rows without partner are told, and a left version is one
    unless it has a pair here; by a right version the left rows lose their NULLs, or get them.
    """
    slot = first_live(live, begin, end)
    if is_left and lonely and slot >= end:
        return _say(out, at, cause, v, -1, there)
    while slot < end:
        if is_left:
            at = _say(out, at, cause, v, holds[slot], there)
        else:
            if lonely and there == 1:
                at = _say(out, at, cause, holds[slot], -1, 0)
            at = _say(out, at, cause, holds[slot], v, there)
            if lonely and there == 0:
                at = _say(out, at, cause, holds[slot], -1, 1)
        slot = first_live(live, slot + 1, end)
    return at


@kernel
def _move(where: I64, spans: I64, holds: I64, live: I32, v: int, by: int) -> bool:
    """Let a version come (1) or go (-1); return whether no other row of its side has its key."""
    slot, g = where[0, v], where[1, v]
    if g < 0:
        return False
    if by < 0:
        shift(live, slot, by)
    alone = first_live(live, spans[0, g], spans[1, g]) >= spans[1, g]
    if by > 0:
        shift(live, slot, by)
        holds[slot] = v
    return alone


@kernel
def _step(
    change: I64, where: I64, spans: I64, holds: I64, live: I32, other_holds: I64, other_live: I32, i: int, step: int,
    is_left: bool, outer: bool, out: I64, at: int,
) -> int:  # fmt: skip
    """Take one step of one change: 0 a row goes, 1 it changes in its place, 2 it comes."""
    before = change[1, i]
    v, there = (before, 0) if step == 0 else (change[2, i], 1)
    lonely, g = False, where[1, v]
    if step == 1 and where[0, before] == where[0, v]:
        if g >= 0:
            holds[where[0, v]] = v
    else:
        if step == 1:
            _move(where, spans, holds, live, before, -1)
        lonely = _move(where, spans, holds, live, v, -1 if step == 0 else 1) and step != 1
    lonely = outer and (is_left or lonely)
    begin, end = (spans[2, g], spans[3, g]) if g >= 0 else (0, 0)
    return _tell(begin, end, other_holds, other_live, v, change[0, i], is_left, lonely, there, out, at)


@kernel
def _walk(
    change: I64, where: I64, spans: I64, holds: I64, live: I32,
    right: I64, right_where: I64, right_spans: I64, right_holds: I64, right_live: I32, outer: bool, out: I64,
) -> int:  # fmt: skip
    """Walk the causes of both sides, the left one first; return how much is said of pairs.

    out: int64[4, room], cause, left and right version, of which -1 is no partner, and whether the pair is there. What
    it has no room for is counted only.
    """
    at, i, k, lefts, rights = np.int64(0), 0, 0, change.shape[1], right.shape[1]  # not once more for a literal 0
    while i < lefts or k < rights:
        cause = change[0, i] if k == rights or (i < lefts and change[0, i] < right[0, k]) else right[0, k]
        i_end, k_end = i, k
        while i_end < lefts and change[0, i_end] == cause:
            i_end += 1
        while k_end < rights and right[0, k_end] == cause:
            k_end += 1
        for step in range(3):
            for c in range(i, i_end):
                if change[3, c] >> step & 1:
                    at = _step(
                        change, where, spans, holds, live, right_holds, right_live, c, step, True, outer, out, at
                    )  # fmt: skip
            for c in range(k, k_end):
                if right[3, c] >> step & 1:
                    at = _step(
                        right, right_where, right_spans, right_holds, right_live, holds, live, c, step, False, outer,
                        out, at,
                    )  # fmt: skip
        i, k = i_end, k_end
    return int(at)


ENTRIES = (_plant, _walk)
"""The kernels that are called from Python."""


class JoinedPairs:
    """The operator of a `Joined` over rows of two relations."""

    __slots__ = ("_keys", "_of")

    def __init__(self, of: Joined, left: Relation, right: Relation) -> None:
        self._of = of
        pairs = [(left.index(one), right.index(other)) for one, other in of.equal]
        self._keys: tuple[OrderingKey, OrderingKey] = (
            (tuple(one for one, _ in pairs), None),
            (tuple(other for _, other in pairs), None),
        )

    def needs(self) -> tuple[tuple[KeptOrder, ...], ...]:
        """Return the orderings by key of both sides."""
        return tuple((key,) for key in self._keys)

    def changes(self, inputs: Sequence[Input]) -> ChangeBatch:
        """Return what a batch does to the pairs."""
        return self._made(inputs, self._last_said(inputs, self._said(inputs)))

    def rows(self, inputs: Sequence[Input]) -> ChangeBatch:
        """Return the pairs as they are before the batch. Cost: O(n log n)."""
        given = [as_inserts(each, (key,)) for each, key in zip(inputs, self._keys, strict=True)]
        said = self._last_said(given, self._said(given))
        return self._made(given, said[:, said[3] == 1])

    def _made(self, inputs: Sequence[Input], said: I64) -> ChangeBatch:
        cause, left, right, live = said
        one, other = (given.view for given in inputs)
        columns = [RowValues.of_column(one, at, left).made() for at in range(len(one.relation.columns))]
        columns += [RowValues.of_versions(other, at, right).made() for at in range(len(other.relation.columns))]
        keys = _keys_of(one, left)
        if not self._of.lookup:
            keys = pair_keys(keys, _keys_of(other, right), right >= 0)
        return made_changes(cause, keys, live == 1, columns)

    def _said(self, inputs: Sequence[Input]) -> I64:
        """Return what is said of pairs: int64[4, said], cause, left and right version, 1 or 0."""
        net = [NetChanges.of(given) for given in inputs]
        if not any(map(len, net)):
            return np.zeros((4, 0), np.int64)
        views = [given.view for given in inputs]
        layouts = [view.layout(key) for view, key in zip(views, self._keys, strict=True)]
        partners = [self._partners(views, layouts, net[i], i) for i in (0, 1)]
        room = 4 * sum(map(len, net)) + 16
        while True:
            left, right = (_side(views[i], layouts[i], net[i], *partners[i]) for i in (0, 1))
            out = np.empty((4, room), np.int64)
            count = _walk(*left, *right, self._of.outer, out)
            if count <= room:
                return out[:, :count]
            room = count

    def _partners(
        self, views: Sequence[BatchView], layouts: Sequence[Layout], net: NetChanges, i: int
    ) -> tuple[I64, I64]:
        """Return where the other side's slots of the same key begin and end, of the groups that changes touch."""
        layout, other = layouts[i], layouts[1 - i]
        versions = np.concatenate([net.before[net.before >= 0], net.after[net.after >= 0]])
        slots = layout.slot[versions]
        touched = distinct(layout.group[slots[slots >= 0]])[0]
        found = self._seek(views, layouts, touched, i)
        touched, found = touched[found >= 0], found[found >= 0]
        begin, end = np.zeros(len(layout.starts) - 1, np.int64), np.zeros(len(layout.starts) - 1, np.int64)
        begin[touched], end[touched] = other.starts[found], other.starts[found + 1]
        return begin, end

    def _seek(self, views: Sequence[BatchView], layouts: Sequence[Layout], groups: I64, i: int) -> I64:
        """Return the group of the other side that has the key of each group, -1 where there is none."""
        heads = layouts[i].version[layouts[i].starts[groups]]
        wanted, known = [], np.ones(len(groups), np.bool_)
        for mine, its in zip(self._keys[i][0], self._keys[1 - i][0], strict=True):
            column, other = KeyColumn(views[i], mine), KeyColumn(views[1 - i], its)
            codes, there = translated(column, views[i].replay.codes[mine][heads], other)
            wanted.append(codes)
            known &= there
        ordering = views[1 - i].orderings[self._keys[1 - i]]
        found = ordering.seek(layouts[1 - i], views[1 - i].replay, np.stack(wanted, axis=1))
        return np.where(known, found, -1)

    def _last_said(self, inputs: Sequence[Input], said: I64) -> I64:
        """Return of what is said of one row of the view in one cause the last."""
        cause, left, right, _ = said
        row = _entries(inputs[0].view)[left].astype(np.int64)
        if not self._of.lookup:
            entries = np.append(_entries(inputs[1].view), -1)
            row = row * len(entries) + entries[right] + 1
        order = np.lexsort([row, cause])
        row, cause = row[order], cause[order]
        last = np.ones(len(order), np.bool_)
        last[:-1] = (row[1:] != row[:-1]) | (cause[1:] != cause[:-1])
        return said[:, np.sort(order[last])]


def _side(view: BatchView, layout: Layout, net: NetChanges, begin: I64, end: I64) -> Side:
    """Return one input as the walk takes it."""
    live = np.zeros(2 << max(len(layout.version) - 1, 0).bit_length(), np.int32)
    _plant(live, layout.slot, view.replay.rows)
    group = np.append(np.append(layout.group, -1)[layout.slot], -2)
    stays = (group[net.before] == group[net.after]) & (net.before >= 0)
    steps = np.where(stays, 2, (net.before >= 0) + 4 * (net.after >= 0))
    return Side(
        change=np.vstack([net.columns, steps]),
        where=np.stack([layout.slot, group[:-1]]),
        spans=np.stack([layout.starts[:-1], layout.starts[1:], begin, end]),
        holds=layout.version.copy(),
        live=live,
    )


def _entries(view: BatchView) -> I64:
    """Return the row of each version."""
    return np.concatenate([np.arange(view.replay.rows), view.replay.entry])


def _keys_of(view: BatchView, versions: I64) -> Strings:
    """Return the keys of the rows of versions, nothing for -1; end to end."""
    there = versions >= 0
    found = view.rows.keys_of(_entries(view)[versions[there]])
    lengths = np.zeros(len(versions), np.int64)
    lengths[there] = found.lengths
    stops = np.cumsum(lengths)
    return Strings(found.data, stops - lengths, stops)
