"""Orderings: a permutation of a relation's rows by (equality columns, range attribute), kept sorted by merging.

All subscriptions of the shapes that compare the same columns share one ordering, whatever they measure. Rows
with NULL in one of its columns meet none of those subscriptions and are left out. Without a range attribute
every row of a group has x = 0.

    equal = (exchange,), range = risk         group 0 (NYSE)    group 1 (XETR)
    slot                                       0    1    2       3    4
    version                                    7    2    9       0    4
    x                                         10   10   40       5   80          starts = [0, 3, 5]

Idea: opening and writing a shard is O(n) anyway, so a batch lays the slots out once, for its whole length: every
stored row has a slot, and every version that comes to a key where its row was not gets a slot of its own, merged
in. A change of a measure then stays in its slot, a move goes from one slot to another, and nothing is shifted.

Invariants (`check`): 1 the permutation holds exactly the rows without NULL in the ordering's columns, each once.
2 It is sorted by (equality columns, x), then by row: it follows from the rows of now, however they came about. 3 In a
layout, groups are runs of slots and x does not fall inside one.
Cost: a layout is O(n + m log m): 10 ns a row and column; a commit O(n). Stored: 4 bytes a row.
Source: the upper tier of the A2B-tree, Interface paper 3.1.1, with the group's columns in front.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numba
import numpy as np

from state.change_batch import I32, I64, Bool
from state.row_store import Replay


@numba.njit(cache=True)
def _compare(codes: I64, columns: I64, one: int, other: int) -> int:
    """Return the sign of the order of two versions' keys."""
    for k in range(len(columns)):
        a = codes[columns[k], one]
        b = codes[columns[k], other]
        if a != b:
            return -1 if a < b else 1
    return 0


@numba.njit(cache=True)
def _trace(codes: I64, columns: I64, member: Bool, before: I64, after: I64, stored: int, owner: I64, fresh: I64) -> int:
    """Say in whose slot each change's version stands; return how many versions need a new one."""
    count = 0
    for i in range(len(after)):
        new = stored + i
        if after[i] != new or not member[new]:
            continue
        old = before[i]
        if old >= 0 and owner[old] >= 0 and _compare(codes, columns, old, new) == 0:
            owner[new] = owner[old]
        else:
            owner[new] = new
            fresh[count] = new
            count += 1
    return count


@numba.njit(cache=True)
def _descends(codes: I64, columns: I64, entry: I32, stored: int, fresh: I64) -> bool:
    """Return whether versions that are sorted by key have some with equal keys that are not in the order of rows."""
    for i in range(1, len(fresh)):
        one, other = fresh[i - 1], fresh[i]
        if entry[other - stored] < entry[one - stored] and _compare(codes, columns, one, other) == 0:
            return True
    return False


@numba.njit(cache=True)
def _merge(codes: I64, columns: I64, entry: I32, stored: int, rows: I64, fresh: I64, out: I64) -> None:
    """Merge two sorted lists of versions; where keys are equal, the order is that of the rows."""
    r = f = 0
    for s in range(len(out)):
        sign = 1
        if f == len(fresh):
            sign = -1
        elif r < len(rows):
            sign = _compare(codes, columns, rows[r], fresh[f])
            if sign == 0:
                sign = 1 if entry[fresh[f] - stored] < rows[r] else -1
        if sign < 0:
            out[s] = rows[r]
            r += 1
        else:
            out[s] = fresh[f]
            f += 1


@numba.njit(cache=True)
def _seek(codes: I64, columns: I64, heads: I64, wanted: I64, out: I64) -> None:
    """For each row of `wanted` find the group whose first version has those equality codes, or -1."""
    for i in range(len(wanted)):
        low, high = 0, len(heads)
        out[i] = -1
        while low < high:
            mid = (low + high) // 2
            sign = 0
            for k in range(len(columns)):
                code = codes[columns[k], heads[mid]]
                if code != wanted[i, k]:
                    sign = -1 if code < wanted[i, k] else 1
                    break
            if sign == 0:
                out[i] = mid
                break
            if sign < 0:
                low = mid + 1
            else:
                high = mid


@numba.njit(cache=True)
def first_at(x: I64, begin: int, end: int, value: int) -> int:
    """Return the first slot of [begin, end) with x >= value, or `end`."""
    while begin < end:
        mid = (begin + end) // 2
        if x[mid] < value:
            begin = mid + 1
        else:
            end = mid
    return begin


@numba.njit(cache=True)
def run_at(x: I64, slot: int, begin: int, end: int) -> tuple[int, int]:
    """Return the slots [first, last + 1) of the group [begin, end) with the x of `slot`."""
    first, stop = slot, slot + 1
    if first > begin and x[first - 1] == x[slot]:
        first = first_at(x, begin, first, x[slot])
    if stop < end and x[stop] == x[slot]:
        stop = end if x[end - 1] == x[slot] else first_at(x, stop, end, x[slot] + 1)
    return first, stop


@numba.njit(cache=True)
def _spans(x: I64, starts: I64, group: I64, lo: I64, hi: I64, first: I64, stop: I64) -> None:
    """Write the slots [first, stop) with lo <= x <= hi of each group; none for group -1."""
    for i in range(len(group)):
        first[i] = stop[i] = 0
        if group[i] < 0 or lo[i] > hi[i]:
            continue
        begin, end = starts[group[i]], starts[group[i] + 1]
        first[i] = first_at(x, begin, end, lo[i])
        stop[i] = end if hi[i] >= x[end - 1] else first_at(x, first[i], end, hi[i] + 1)


@numba.njit(cache=True)
def _present(x: I64, starts: I64, first: I64, stop: I64, lo: I64, hi: I64, count: I64, out: I64) -> int:
    """Write the groups of [first, stop) that have a slot with lo <= x <= hi, range after range, and how many each.

    What does not fit into `out` is counted only. Returns the number of all.
    """
    total = 0
    for i in range(len(lo)):
        before = total
        for group in range(first[i], stop[i]):
            end = starts[group + 1]
            slot = first_at(x, starts[group], end, lo[i])
            if slot < end and x[slot] <= hi[i]:
                if total < len(out):
                    out[total] = group
                total += 1
        count[i] = total - before
    return total


@numba.njit(cache=True)
def _insertions(codes: I64, columns: I64, kept: I32, numbers: I32, fresh: I64, rows: I64, out: I64) -> None:
    """For each version of `fresh` find how many of the sorted rows `kept` stand before it; of equal keys, by number.

    numbers: what the kept rows are called from now on.  rows: the same of the fresh versions.
    """
    for i in range(len(fresh)):
        low, high = 0, len(kept)
        while low < high:
            mid = (low + high) // 2
            sign = _compare(codes, columns, kept[mid], fresh[i])
            if sign < 0 or (sign == 0 and numbers[mid] < rows[i]):
                low = mid + 1
            else:
                high = mid
        out[i] = low


ENTRIES = (_trace, _descends, _merge, _seek, _spans, _present, _insertions)
"""The kernels that are called from Python."""


@dataclass(slots=True)
class Layout:
    """The slots of one ordering for one batch.

    version: int64[slots], the version that made each slot.  x: int64[slots].  group: int64[slots].
    starts: int64[groups + 1], first slot of each group.  slot: int64[versions], -1 for those that have none.
    fresh: how many slots the batch added.
    """

    version: I64
    x: I64
    group: I64
    starts: I64
    slot: I64
    fresh: int

    def spans(self, group: I64, lo: I64, hi: I64) -> tuple[I64, I64]:
        """Return the slots [first, stop) with lo <= x <= hi of each group (number, or -1). Cost: O(log n) each."""
        first, stop = np.empty(len(group), np.int64), np.empty(len(group), np.int64)
        _spans(self.x, self.starts, group, lo, hi, first, stop)
        return first, stop

    def present(self, first: I64, stop: I64, lo: I64, hi: I64) -> tuple[I64, I64]:
        """Return which of the groups [first, stop) have a slot with lo <= x <= hi: how many for each range, and all.

        Cost: O(log n) a group that is looked at, 80 ns.
        """
        count = self.count_present(first, stop, lo, hi)
        groups = np.empty(int(count.sum()), np.int64)
        if len(groups):
            _present(self.x, self.starts, first, stop, lo, hi, count, groups)
        return count, groups

    def count_present(self, first: I64, stop: I64, lo: I64, hi: I64) -> I64:
        """Return how many of the groups [first, stop) have a slot with lo <= x <= hi. Cost: as half of `present`."""
        count = np.empty(len(lo), np.int64)
        _present(self.x, self.starts, first, stop, lo, hi, count, np.empty(0, np.int64))
        return count


class Ordering:
    """The rows by (columns `equal`, column `range`); `rows` is the permutation, int32."""

    __slots__ = ("_columns", "equal", "range", "rows")

    def __init__(self, equal: tuple[int, ...], range_: int | None, rows: I32) -> None:
        self.equal = equal
        self.range = range_
        self.rows = rows
        self._columns = np.array(equal if range_ is None else (*equal, range_), np.int64)

    @classmethod
    def of(cls, equal: tuple[int, ...], range_: int | None, still: Replay) -> Ordering:
        """Sort the rows of a store. Cost: O(n log n), 8 ms for 50,000 rows."""
        ordering = cls(equal, range_, np.zeros(0, np.int32))
        rows = np.flatnonzero(ordering._members(still))
        ordering.rows = ordering._sorted(still, rows).astype(np.int32)
        return ordering

    def layout(self, replay: Replay) -> Layout:
        """Give every version that has a place in this ordering its slot. Cost: O(n + m log m)."""
        member = self._members(replay)
        versions = np.arange(len(member))
        owner = np.where(member & (versions < replay.rows), versions, -1)
        fresh = np.empty(len(replay.after), np.int64)
        count = _trace(replay.codes, self._columns, member, replay.before, replay.after, replay.rows, owner, fresh)
        version = np.empty(len(self.rows) + count, np.int64)
        new = self._sorted(replay, fresh[:count])
        if _descends(replay.codes, self._columns, replay.entry, replay.rows, new):
            new = self._sorted(replay, new[np.argsort(replay.entry[new - replay.rows], kind="stable")])
        _merge(replay.codes, self._columns, replay.entry, replay.rows, self.rows.astype(np.int64), new, version)
        slot_of = np.full(len(member) + 1, -1)
        slot_of[version] = np.arange(len(version))
        group, starts = self._groups(replay, version)
        x = np.zeros(len(version), np.int64) if self.range is None else replay.codes[self.range][version]
        return Layout(version, x, group, starts, slot_of[owner], count)

    def commit(self, layout: Layout, replay: Replay) -> None:
        """Take over what `replay` left, under the row numbers the store gives.

        Cost: O(n), nothing if no row came, went or moved.
        """
        alive = replay.current >= 0
        if len(alive) == replay.rows and alive.all() and not layout.fresh and not self._left(layout, replay):
            return
        slots = layout.slot[replay.current[alive]]
        occupant = np.full(len(layout.version), -1, np.int32)
        placed = np.flatnonzero(slots >= 0)
        occupant[slots[placed]] = placed
        self.rows = occupant[occupant >= 0]

    def follow(self, replay: Replay) -> None:
        """Take over what `replay` left, as `commit` does, for who needed no layout.

        Cost: O(n), 3 ns a row, and O(log n) for each row that came or moved; nothing if no row came, went or moved.
        """
        alive, entries = replay.current >= 0, np.arange(len(replay.current))
        touched = np.flatnonzero(alive & ((replay.current != entries) | (entries >= replay.rows)))
        moved = touched[self._moves(replay, touched)]
        if alive.all() and not len(moved):
            return
        number = np.cumsum(alive, dtype=np.int32) - np.int32(1)
        stays = alive[: replay.rows].copy()
        stays[moved[moved < replay.rows]] = False
        kept = self.rows[stays[self.rows]]
        versions = replay.current[moved]
        there = np.logical_and.reduce(replay.valid[self._columns[:, None], versions], axis=0)
        moved, versions = moved[there], versions[there]
        order = np.lexsort([number[moved], *replay.codes[self._columns[::-1, None], versions]])
        moved, versions = moved[order], versions[order]
        place, numbers = np.empty(len(moved), np.int64), number[kept]
        _insertions(replay.codes, self._columns, kept, numbers, versions, number[moved].astype(np.int64), place)
        self.rows = np.insert(numbers, place, number[moved])

    def bundles(self, layout: Layout, replay: Replay, width: int) -> I64:
        """Return the first group of each bundle: groups that agree in the first `width` columns (the end behind)."""
        heads = layout.version[layout.starts[:-1]]
        begins = np.zeros(len(heads), np.bool_)
        begins[:1] = True
        for column in self.equal[:width]:
            code = replay.codes[column][heads]
            begins[1:] |= code[1:] != code[:-1]
        return np.append(np.flatnonzero(begins), len(heads))

    def seek(
        self, layout: Layout, replay: Replay, wanted: Sequence[Sequence[int]] | I64, firsts: I64 | None = None
    ) -> I64:
        """Return the group number of each tuple (or row) of equality codes, -1 for groups without a slot.

        With `firsts` (what `bundles` returned), the bundle of each tuple, which may be shorter then.
        Cost: O(log n) each.
        """
        width = len(wanted[0]) if len(wanted) else 0
        out = np.empty(len(wanted), np.int64)
        starts = layout.starts if firsts is None else layout.starts[firsts]
        heads = layout.version[starts[:-1]]
        codes = np.array(wanted, np.int64, order="C").reshape(len(wanted), width)
        _seek(replay.codes, np.array(self.equal[:width], np.int64), heads, codes, out)
        return out

    def check(self, still: Replay) -> None:
        """Assert the invariants of the module's header. Cost: O(n log n)."""
        members = np.flatnonzero(self._members(still))
        assert np.array_equal(np.sort(self.rows), members), f"1: {self.rows}, members are {members}"
        keys = [(*still.codes[self._columns, row].tolist(), row) for row in self.rows.tolist()]
        assert keys == sorted(keys), f"2: not sorted: {keys}"
        layout = self.layout(still)
        inside = layout.group[1:] == layout.group[:-1]
        assert (np.diff(layout.group)[~inside] == 1).all(), f"3: groups {layout.group}"
        assert (layout.x[1:] >= layout.x[:-1])[inside].all(), f"3: x {layout.x} in groups {layout.group}"

    def _moves(self, replay: Replay, entries: I64) -> Bool:
        """Return which of some rows, whose versions changed, are new or have another key than before."""
        old, new = np.where(entries < replay.rows, entries, 0), replay.current[entries]
        columns = self._columns[:, None]
        codes, valid = replay.codes, replay.valid
        differ = (codes[columns, old] != codes[columns, new]) | (valid[columns, old] != valid[columns, new])
        return (entries >= replay.rows) | np.logical_or.reduce(differ, axis=0)

    @staticmethod
    def _left(layout: Layout, replay: Replay) -> bool:
        """Whether a row lost its slot by a NULL."""
        return bool(((layout.slot[replay.before] >= 0) & (layout.slot[replay.after] < 0)).any())

    def _members(self, replay: Replay) -> Bool:
        return np.logical_and.reduce(replay.valid[self._columns], axis=0)

    def _sorted(self, replay: Replay, versions: I64) -> I64:
        if not len(self._columns):
            return versions
        return versions[np.lexsort([replay.codes[column][versions] for column in self._columns[::-1]])]

    def _groups(self, replay: Replay, version: I64) -> tuple[I64, I64]:
        """Return the group number of each slot, and where groups start (with the end behind)."""
        begins = np.zeros(len(version), np.bool_)
        begins[:1] = True
        for column in self.equal:
            code = replay.codes[column][version]
            begins[1:] |= code[1:] != code[:-1]
        starts = np.append(np.flatnonzero(begins), len(version))
        return np.cumsum(begins) - 1, starts
