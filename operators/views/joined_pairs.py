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

import numba
import numpy as np

from catalog.schema.relation import Relation
from catalog.schema.view import Joined
from operators.batch_view import BatchView
from operators.channel_binding import KeptOrder, OrderingKey
from operators.join_keys import KeyColumn, translated
from operators.views.as_inserts import as_inserts
from operators.views.made_changes import made_changes
from operators.views.net_changes import NetChanges
from operators.views.row_keys import pair_keys
from operators.views.row_values import RowValues
from operators.views.view_operator import Input
from state.byte_table import Strings
from state.change_batch import I32, I64, ChangeBatch
from state.ordering import Layout


class Side(NamedTuple):
    """One input. cause, before, after: its net changes.  slot, group: int64[versions], -1 where the key has a NULL.

    holds: int64[slots], the version at each.  live: int32[nodes], a heap of how many rows stand at the slots.
    begin, end: int64[groups], the slots of the other side's rows of the same key; none for a group not touched.
    """

    cause: I32
    before: I64
    after: I64
    slot: I64
    group: I64
    holds: I64
    live: I32
    begin: I64
    end: I64


@numba.njit(cache=True)
def _plant(live: I32, slot: I64, stored: int) -> None:
    """Build the heap of the stored rows."""
    size = len(live) // 2
    for v in range(stored):
        if slot[v] >= 0:
            live[size + slot[v]] = 1
    for node in range(size - 1, 0, -1):
        live[node] = live[2 * node] + live[2 * node + 1]


@numba.njit(cache=True)
def _shift(live: I32, slot: int, by: int) -> None:
    """Count a row at a slot that comes (1) or goes (-1)."""
    node = slot + len(live) // 2
    while node > 0:
        live[node] += by
        node >>= 1


@numba.njit(cache=True)
def _first_live(live: I32, begin: int, end: int) -> int:
    """Return the first slot of [begin, end) with a row, or `end`."""
    size = len(live) // 2
    if begin >= end:
        return end
    node = begin + size
    if live[node] == 0:
        while True:
            while node & 1:
                node >>= 1
            if node == 0:
                return end
            node += 1
            if live[node] != 0:
                break
        while node < size:
            node *= 2
            if live[node] == 0:
                node += 1
    return min(node - size, end)


@numba.njit(cache=True)
def _say(out: I64, count: int, cause: int, one: int, other: int, is_left: bool, live: int) -> I64:
    """Write what becomes of a pair; return where it was written, which may have grown."""
    if count == out.shape[1]:
        wider = np.empty((4, 2 * count), np.int64)
        wider[:, :count] = out
        out = wider
    left, right = (one, other) if is_left else (other, one)
    out[0, count], out[1, count], out[2, count], out[3, count] = cause, left, right, live
    return out


@numba.njit(cache=True)
def _pairs(
    mine: Side, other: Side, v: int, cause: int, is_left: bool, outer: bool, lonely: bool, live: int, out: I64, at: int
) -> tuple[I64, int]:
    """Say of all pairs that a version has with the other side that they are there (1), or not any more (0).

    lonely: none but this one of its side has this key, so rows of the left one lose their NULLs, or get them.
    """
    g = mine.group[v]
    begin, end = (mine.begin[g], mine.end[g]) if g >= 0 else (0, 0)
    slot = _first_live(other.live, begin, end)
    if is_left and outer and slot >= end:
        return _say(out, at, cause, v, -1, True, live), at + 1
    while slot < end:
        partner = other.holds[slot]
        if lonely and outer and not is_left and live == 1:
            out = _say(out, at, cause, partner, -1, True, 0)
            at += 1
        out = _say(out, at, cause, v, partner, is_left, live)
        at += 1
        if lonely and outer and not is_left and live == 0:
            out = _say(out, at, cause, partner, -1, True, 1)
            at += 1
        slot = _first_live(other.live, slot + 1, end)
    return out, at


@numba.njit(cache=True)
def _is_lonely(mine: Side, starts: I64, v: int) -> bool:
    """Return whether no row of the same side has the key of a version."""
    g = mine.group[v]
    return g >= 0 and _first_live(mine.live, starts[g], starts[g + 1]) >= starts[g + 1]


@numba.njit(cache=True)
def _step(
    mine: Side, other: Side, starts: I64, i: int, step: int, is_left: bool, outer: bool, out: I64, at: int
) -> tuple[I64, int]:
    """Take one step of one change: 0 a row goes, 1 it changes in its place, 2 it comes."""
    cause, before, after = mine.cause[i], mine.before[i], mine.after[i]
    stays = before >= 0 and after >= 0 and mine.group[before] == mine.group[after]
    if step == 1 and stays:
        if mine.slot[after] >= 0:
            _shift(mine.live, mine.slot[before], -1)
            _shift(mine.live, mine.slot[after], 1)
            mine.holds[mine.slot[after]] = after
        return _pairs(mine, other, after, cause, is_left, outer, False, 1, out, at)
    if step == 0 and not stays and before >= 0:
        if mine.slot[before] >= 0:
            _shift(mine.live, mine.slot[before], -1)
        return _pairs(mine, other, before, cause, is_left, outer, _is_lonely(mine, starts, before), 0, out, at)
    if step == 2 and not stays and after >= 0:
        lonely = _is_lonely(mine, starts, after)
        if mine.slot[after] >= 0:
            _shift(mine.live, mine.slot[after], 1)
            mine.holds[mine.slot[after]] = after
        return _pairs(mine, other, after, cause, is_left, outer, lonely, 1, out, at)
    return out, at


@numba.njit(cache=True)
def _walk(left: Side, right: Side, starts: I64, right_starts: I64, outer: bool, out: I64) -> tuple[I64, int]:
    """Walk the causes of both sides; return what is said, int64[4, room], cause, versions, 1 or 0, and how much.

    A right version of -1 is no partner.  starts: int64[groups + 1] of the left side.
    """
    at, i, k = 0, 0, 0
    while i < len(left.cause) or k < len(right.cause):
        cause = left.cause[i] if i < len(left.cause) else right.cause[k]
        if k < len(right.cause):
            cause = min(cause, right.cause[k])
        i_end, k_end = i, k
        while i_end < len(left.cause) and left.cause[i_end] == cause:
            i_end += 1
        while k_end < len(right.cause) and right.cause[k_end] == cause:
            k_end += 1
        for step in range(3):
            for c in range(i, i_end):
                out, at = _step(left, right, starts, c, step, True, outer, out, at)
            for c in range(k, k_end):
                out, at = _step(right, left, right_starts, c, step, False, outer, out, at)
        i, k = i_end, k_end
    return out, at


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
        left, right = (self._side(views, layouts, net[i], i) for i in (0, 1))
        room = np.empty((4, 4 * sum(map(len, net)) + 16), np.int64)
        out, count = _walk(left, right, layouts[0].starts, layouts[1].starts, self._of.outer, room)
        return out[:, :count]

    def _side(self, views: Sequence[BatchView], layouts: Sequence[Layout], net: NetChanges, i: int) -> Side:
        """Return one input as the walk takes it."""
        view, layout, other = views[i], layouts[i], layouts[1 - i]
        group = np.append(layout.group, -1)[layout.slot]
        live = np.zeros(2 << max(len(layout.version) - 1, 0).bit_length(), np.int32)
        _plant(live, layout.slot, view.replay.rows)
        versions = np.concatenate([net.before[net.before >= 0], net.after[net.after >= 0]])
        touched = np.unique(group[versions])
        touched = touched[touched >= 0]
        begin, end = np.zeros(len(layout.starts) - 1, np.int64), np.zeros(len(layout.starts) - 1, np.int64)
        found = self._partners(views, layouts, touched, i)
        there = found >= 0
        begin[touched[there]], end[touched[there]] = other.starts[found[there]], other.starts[found[there] + 1]
        return Side(
            net.cause, net.before, net.after, layout.slot, group, layout.version.copy(), live, begin, end
        )  # fmt: skip

    def _partners(self, views: Sequence[BatchView], layouts: Sequence[Layout], groups: I64, i: int) -> I64:
        """Return the group of the other side that has the key of each group, -1 where there is none."""
        heads = layouts[i].version[layouts[i].starts[groups]]
        wanted, known = [], np.ones(len(groups), np.bool_)
        for mine, its in zip(self._keys[i][0], self._keys[1 - i][0], strict=True):
            column, other = KeyColumn(views[i], mine), KeyColumn(views[1 - i], its)
            codes, there = translated(column, views[i].replay.codes[mine][heads], other)
            wanted.append(codes)
            known &= there
        ordering = views[1 - i].orderings[self._keys[1 - i]]
        found = ordering.seek(layouts[1 - i], views[1 - i].replay, np.stack(wanted, axis=1).tolist())
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
