"""The walks of a Fold through the rows of a batch: one for each aggregate, all rows one after the other.

    group     rows 0..m-1 -> numbers of groups, as they first come (an open hash table of versions)
    walk      by group what the aggregate is; after each row what its group's is then, and whether the row changed it

Nothing is ever taken away, so MIN and MAX need no order, and a batch costs nothing for groups that it does not meet.

Cost: 20 ns a row to find its group, 3 ns a row and aggregate, or limb of a sum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

from state.change_batch import I64, Bool

_MULTIPLIER = 0x9E3779B97F4A7C15
_ROTATE = 29
_HIGH = 20


@dataclass(frozen=True, slots=True)
class Measure:
    """What one aggregate reads, and what it is of each group so far.

    values: int64[width, rows], as numbers in order, or limbs, 0 where not valid: bool[rows].
    cells: int64[width, groups] and there: bool[groups], the same of groups, which walks bring up to date.
    """

    values: I64
    valid: Bool
    cells: I64
    there: Bool


@dataclass(frozen=True, slots=True)
class Walked:
    """What an aggregate is of its group after each row. values: int64[width, rows], 0 where not there: bool[rows]."""

    values: I64
    there: Bool

    def at(self, rows: I64) -> tuple[I64, Bool]:
        """Return both after some rows, ascending; after all of them nothing is copied."""
        if len(rows) == len(self.there):
            return self.values, self.there
        return self.values[:, rows], self.there[rows]


@numba.njit(cache=True)
def _number_groups(codes: I64, valid: Bool, by: I64, version: I64, table: I64, group: I64, first: I64) -> int:
    """Number the groups of versions, and note the place of the first one of each.

    table: -1 at each of its places, a power of two of them, at least twice as many as there are versions.
    """
    count, mask = 0, len(table) - 1
    for i in range(len(version)):
        v, mixed = version[i], np.uint64(0)
        for k in range(len(by)):
            mixed = (mixed ^ np.uint64(codes[by[k], v])) * np.uint64(_MULTIPLIER)
            mixed ^= mixed >> np.uint64(_ROTATE)
            mixed += np.uint64(valid[by[k], v])
        at = np.int64((mixed * np.uint64(_MULTIPLIER)) >> np.uint64(_HIGH)) & mask
        while table[at] >= 0:
            head, alike = version[first[table[at]]], True
            for k in range(len(by)):
                c = by[k]
                if codes[c, v] != codes[c, head] or valid[c, v] != valid[c, head]:
                    alike = False
                    break
            if alike:
                break
            at = (at + 1) & mask
        if table[at] < 0:
            table[at] = count
            first[count] = i
            count += 1
        group[i] = table[at]
    return count


@numba.njit(cache=True)
def _count(group: I64, valid: Bool, cell: I64, out: I64, changed: Bool) -> None:
    for i in range(len(group)):
        if valid[i]:
            cell[group[i]] += 1
            changed[i] = True
        out[i] = cell[group[i]]


@numba.njit(cache=True)
def _extreme(
    group: I64, x: I64, valid: Bool, least: bool, cell: I64, there: Bool, out: I64, out_there: Bool, changed: Bool
) -> None:
    for i in range(len(group)):
        g = group[i]
        if valid[i] and (not there[g] or (x[i] < cell[g] if least else x[i] > cell[g])):
            cell[g], there[g], changed[i] = x[i], True, True
        out[i], out_there[i] = cell[g], there[g]


@numba.njit(cache=True)
def _sum(
    group: I64, limbs: I64, valid: Bool, cells: I64, there: Bool, out: I64, out_there: Bool, changed: Bool
) -> None:
    for i in range(len(group)):
        g = group[i]
        if valid[i]:
            if not there[g]:
                there[g] = changed[i] = True
            for k in range(len(limbs)):
                if limbs[k, i] != 0:
                    cells[k, g] += limbs[k, i]
                    changed[i] = True
        for k in range(len(limbs)):
            out[k, i] = cells[k, g]
        out_there[i] = there[g]


@numba.njit(cache=True)
def _latest(
    group: I64, t: I64, timed: Bool, x: I64, valid: Bool, last: I64, begun: Bool, cell: I64, there: Bool, out: I64,
    out_there: Bool, changed: Bool,
) -> None:  # fmt: skip
    """Take the values of the greatest t, of equal ones the greatest, NULL being the least.

    last, begun: by group the greatest t so far, and whether there is one; these are brought up to date too.
    """
    for i in range(len(group)):
        g = group[i]
        if timed[i]:
            later = not begun[g] or t[i] > last[g]
            if not later and t[i] == last[g] and valid[i]:
                later = not there[g] or x[i] > cell[g]
            if later:
                if valid[i] != there[g] or x[i] != cell[g]:
                    changed[i] = True
                last[g], begun[g], cell[g], there[g] = t[i], True, x[i], valid[i]
        out[i], out_there[i] = cell[g], there[g]


ENTRIES = (_number_groups, _count, _extreme, _sum, _latest)
"""The kernels that are called from Python."""


def number_groups(codes: I64, valid: Bool, by: I64, version: I64) -> tuple[I64, I64]:
    """Return the group of each of some versions, and the place of the first version of each group."""
    group, first = np.empty(len(version), np.int64), np.empty(len(version), np.int64)
    table = np.full(2 << len(version).bit_length(), -1)
    count = _number_groups(codes, valid, by, version, table, group, first)
    return group, first[:count].copy()


def counted(of: Measure, group: I64, changed: Bool) -> Walked:
    """Count the values; `changed` is set where a row changes its group, as by all of these."""
    out = np.empty(len(group), np.int64)
    _count(group, of.valid, of.cells[0], out, changed)
    return Walked(out[None], np.ones(len(group), np.bool_))


def extreme(of: Measure, group: I64, least: bool, changed: Bool) -> Walked:
    """Find the least or greatest values."""
    out, there = np.empty(len(group), np.int64), np.empty(len(group), np.bool_)
    _extreme(group, of.values[0], of.valid, least, of.cells[0], of.there, out, there, changed)
    return Walked(out[None], there)


def summed(of: Measure, group: I64, changed: Bool) -> Walked:
    """Add up the values."""
    out, there = np.empty((len(of.values), len(group)), np.int64), np.empty(len(group), np.bool_)
    _sum(group, of.values, of.valid, of.cells, of.there, out, there, changed)
    return Walked(out, there)


def latest(of: Measure, by: Measure, group: I64, changed: Bool) -> Walked:
    """Find the values of the greatest `by`, of which the groups stand as they were before the batch."""
    out, there = np.empty(len(group), np.int64), np.empty(len(group), np.bool_)
    last, begun = by.cells[0].copy(), by.there.copy()
    _latest(
        group, by.values[0], by.valid, of.values[0], of.valid, last, begun, of.cells[0], of.there, out, there, changed
    )
    return Walked(out[None], there)
