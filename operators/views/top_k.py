"""TopK: the first k rows of each group of equal values, NULL being one of them, in an order; with places if wanted.

    slots    every version by (group; order), so that directions, NULLs, texts and ties are gone (state/rank_order.py)
    live     a heap of how many rows are there now, over the slots: the first ones of a group are found one by one
    edge     of each group the slot of its last row that is told; changes beyond it say nothing

All changes of a cause are applied together, then the lists of the groups that it touched are compared with what was
told: by row, since one that moves to another group may be told in both, and by place, where places are told.

Cost: O(n) to lay out, 5 ns a row, and 5 ns a row of the groups that are touched; O(log n) a change, and O(k log n) for
each list that it touches.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from catalog.schema.relation import Relation
from catalog.schema.view import TopK
from operators.channel_binding import KeptOrder
from operators.views.as_inserts import as_inserts
from operators.views.group_walk import touched_groups
from operators.views.live_slots import count_up, first_live, shift
from operators.views.made_changes import MadeColumn, made_changes
from operators.views.net_changes import NetChanges
from operators.views.row_values import RowValues
from operators.views.view_operator import Input
from state.change_batch import I32, I64, ChangeBatch
from state.kernel import kernel
from state.rank_order import RankKey


class Slots(NamedTuple):
    """Where versions stand. group, slot: int64[versions].  version: int64[slots].  spans: int64[2, groups].

    live: int32[nodes], a heap of how many rows stand at the slots.  edge: int64[groups], -1 where not known yet.
    """

    group: I64
    slot: I64
    version: I64
    spans: I64
    live: I32
    edge: I64


class Lists(NamedTuple):
    """Rows that were told of the groups of one cause, and are. version, place: int64[room]."""

    version: I64
    place: I64


@kernel
def _plant(live: I32, slot: I64, group: I64, stored: int) -> None:
    """Build the heap of the stored rows of the groups that are touched."""
    size = len(live) // 2
    for v in range(stored):
        if group[v] >= 0:
            live[size + slot[v]] = 1
    count_up(live)


@kernel
def _list(of: Slots, g: int, k: int, out: Lists, at: int) -> int:
    """Write the first k rows of a group behind `at`, note its edge, and return the place behind them."""
    end, place = of.spans[1, g], 0
    slot = first_live(of.live, of.spans[0, g], end)
    of.edge[g] = end
    while slot < end and place < k:
        place += 1
        out.version[at], out.place[at] = of.version[slot], place
        at += 1
        if place == k:
            of.edge[g] = slot
        else:
            slot = first_live(of.live, slot + 1, end)
    return at


@kernel
def _open(of: Slots, cause: int, v: int, k: int, stamp: I64, old: Lists, at: int) -> int:
    """Note what is told of the group of a version that comes or goes, if its list may change and is not noted yet."""
    g = of.group[v]
    if of.edge[g] < 0:
        _list(of, g, k, old, at)
    if stamp[g] == cause or of.slot[v] > of.edge[g]:
        return at
    stamp[g] = cause
    return _list(of, g, k, old, at)


@kernel
def _tell(out: I64, count: int, cause: int, version: int, place: int) -> I64:
    """Write one change of the view, place 0 being a delete; return where it was written, which may have grown."""
    if count == out.shape[1]:
        wider = np.empty((3, 2 * count), np.int64)
        for p in range(count):  # a slice would bring numba's words for unequal shapes: 5 s of compiling
            wider[0, p], wider[1, p], wider[2, p] = out[0, p], out[1, p], out[2, p]
        out = wider
    out[0, count], out[1, count], out[2, count] = cause, version, place
    return out


@kernel
def _walk(
    of: Slots, change: I64, entry: I32, k: int, ranked: bool, old: Lists, new: Lists, stamp: I64, mark: I64, out: I64
) -> tuple[I64, int]:
    """Walk the causes; return what is told, int64[3, room], cause, version and place, and how much of it.

    change: int64[3, changes], cause, before, after.  entry: int32[versions], the row of each.
    old, new: room for all slots.  stamp: int64[groups].  mark: int64[4, rows], for both lists the cause in which a row
    stood in it, and where.
    """
    zero, i = np.int64(0), 0  # numba compiles what is called with a literal 0 once more for it
    count = zero
    while i < change.shape[1]:
        cause, begin, was = change[0, i], i, zero
        while i < change.shape[1] and change[0, i] == cause:
            for side in range(1, 3):
                if change[side, i] >= 0:
                    was = _open(of, cause, change[side, i], k, stamp, old, was)
            i += 1
        for c in range(begin, i):
            if change[1, c] >= 0:
                shift(of.live, of.slot[change[1, c]], -1)
            if change[2, c] >= 0:
                shift(of.live, of.slot[change[2, c]], 1)
        has = zero
        for c in range(begin, i):
            for side in range(1, 3):
                v = change[side, c]
                if v >= 0 and stamp[of.group[v]] == cause:
                    stamp[of.group[v]] = -1
                    has = _list(of, of.group[v], k, new, has)
        for p in range(was):
            e = entry[old.version[p]]
            mark[0, e], mark[1, e] = cause, p
        for p in range(has):
            e = entry[new.version[p]]
            mark[2, e], mark[3, e] = cause, p
        for p in range(was):
            if mark[2, entry[old.version[p]]] != cause:
                out = _tell(out, count, cause, old.version[p], zero)
                count += 1
        for p in range(has):
            e = entry[new.version[p]]
            q = mark[1, e] if mark[0, e] == cause else -1
            same = q >= 0 and old.version[q] == new.version[p]
            if not same or (ranked and old.place[q] != new.place[p]):
                out = _tell(out, count, cause, new.version[p], new.place[p])
                count += 1
    return out, int(count)


ENTRIES = (_plant, _walk)
"""The kernels that are called from Python."""


class TopRows:
    """The operator of a `TopK` over rows of `relation`."""

    __slots__ = ("_by", "_k", "_order", "_ranked")

    def __init__(self, of: TopK, relation: Relation) -> None:
        self._by = tuple(relation.index(name) for name in of.by)
        by = tuple((column, False, True) for column in self._by)
        order = tuple((relation.index(each.column), each.descending, each.nulls_first) for each in of.order)
        self._order: RankKey = (*by, *(each for each in order if each[0] not in self._by))
        self._k = of.k
        self._ranked = of.ranked

    def needs(self) -> tuple[tuple[KeptOrder, ...], ...]:
        """Return the order of groups and rows."""
        return ((self._order,),)

    def changes(self, inputs: Sequence[Input]) -> ChangeBatch:
        """Return what a batch does to the lists."""
        (given,) = inputs
        view, net = given.view, NetChanges.of(given)
        cause, version, place = self._walked(given, net)
        live = place > 0
        entries = np.concatenate([np.arange(view.replay.rows), view.replay.entry])
        columns = [RowValues.of_column(view, at, version).made() for at in range(len(view.relation.columns))]
        if self._ranked:
            columns.append(MadeColumn(place, live))
        return made_changes(cause, view.rows.keys_of(entries[version]), live, columns)

    def rows(self, inputs: Sequence[Input]) -> ChangeBatch:
        """Return the lists as they are before the batch. Cost: O(n log n)."""
        (given,) = inputs
        return self.changes([as_inserts(given, (self._order,))])

    def _walked(self, given: Input, net: NetChanges) -> I64:
        """Return what is told: int64[3, changes], cause, version, and place from 1 on, or 0 for a delete."""
        if not len(net):
            return np.zeros((3, 0), np.int64)
        replay, ranks = given.view.replay, given.view.ranks(self._order)
        change = net.columns
        group, spans = touched_groups(given.view, self._by, ranks, change)
        slots, groups = len(ranks.version), spans.shape[1]
        live = np.zeros(2 << max(slots - 1, 0).bit_length(), np.int32)
        _plant(live, ranks.rank, group, replay.rows)
        of = Slots(group, ranks.rank, ranks.version, spans, live, np.full(groups, -1))
        old, new = (Lists(np.empty(slots, np.int64), np.empty(slots, np.int64)) for _ in range(2))
        entry = np.concatenate([np.arange(replay.rows, dtype=np.int32), replay.entry])
        stamp, mark = np.full(groups, -1), np.full((4, len(replay.current)), -1)
        room = np.empty((3, 2 * len(net) + 16), np.int64)
        out, count = _walk(of, change, entry, self._k, self._ranked, old, new, stamp, mark, room)
        return out[:, :count]
