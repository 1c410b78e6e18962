"""The walk of a GROUP BY through a batch: groups as arrays, causes one after the other.

    order      of all versions, by (group; measure): one for each measure of MIN, MAX and LATEST, else one by group
    slot       a version's place in it; all orders hold the same versions, so a group has the same slots in each
    live       over the slots of an order a heap of how many rows are there now: finds the first or last of a group

A cause's changes are applied all together, then each group that it touched is looked at once, and told if it differs
from what was told last.

Only groups that the batch touches are summed up. Cost: O(n), 1 ns a row, and 10 ns a row of these groups and order;
O(log n) a change and order, 0.1 us.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from operators.batch_view import BatchView
from operators.views.live_slots import count_up, first_live, last_live, shift
from state.change_batch import I32, I64, Bool
from state.kernel import kernel
from state.rank_order import Ranks


class Measures(NamedTuple):
    """What a walk reads of versions.

    codes, valid: the replay's.  group: int64[versions], -1 where the batch does not touch it.
    spans: int64[2, groups], where the slots of each begin and end.
    counted: columns of which values are counted.  limbs, limb: a matrix, and which of its rows are summed up.
    version: int64[heaps, slots].  slot: int64[heaps, versions].  ordered: of each heap the column that a row must have.
    extreme: int64[3, extremes], heap, whether the last slot is wanted, column of the value.
    """

    codes: I64
    valid: Bool
    group: I64
    spans: I64
    counted: I64
    limbs: I64
    limb: I64
    version: I64
    slot: I64
    ordered: I64
    extreme: I64


class Groups(NamedTuple):
    """The groups as they are now. rows: int64[groups].  counts, sums: of each counted column, each limb.

    live: int32[heaps, nodes], how many rows stand at the slots of an order.
    """

    rows: I64
    counts: I64
    sums: I64
    live: I32


class Told(NamedTuple):
    """k answers of groups. version: int64[extremes, k], the row that has each, -1 for none."""

    cause: I64
    group: I64
    rows: I64
    counts: I64
    sums: I64
    version: I64


@kernel
def _is_alike(codes: I64, valid: Bool, columns: I64, one: int, other: int) -> bool:
    """Return whether two versions are of one group."""
    for k in range(len(columns)):
        c = columns[k]
        if codes[c, one] != codes[c, other] or valid[c, one] != valid[c, other]:
            return False
    return True


@kernel
def _find_groups(
    codes: I64, valid: Bool, columns: I64, version: I64, slot: I64, change: I64, group: I64, spans: I64
) -> int:
    """Number the groups that changes are about, as they come, give all their versions the number, and count them.

    version, slot: the versions of an order by `columns`.  change: int64[3, changes], cause, before, after.
    spans: int64[2, groups], where the slots of each begin and end.
    """
    count = 0
    for i in range(change.shape[1]):
        for side in range(1, 3):
            v = change[side, i]
            if v < 0 or group[v] >= 0:
                continue
            begin, end = slot[v], slot[v] + 1
            while begin > 0 and _is_alike(codes, valid, columns, version[begin - 1], v):
                begin -= 1
            while end < len(version) and _is_alike(codes, valid, columns, version[end], v):
                end += 1
            for s in range(begin, end):
                group[version[s]] = count
            spans[0, count], spans[1, count] = begin, end
            count += 1
    return count


@kernel
def _sum_up(of: Measures, groups: Groups, stored: int) -> None:
    """Add the stored rows to their groups, and build the heaps of their slots."""
    for v in range(stored):
        g = of.group[v]
        if g < 0:
            continue
        groups.rows[g] += 1
        for j in range(len(of.counted)):
            groups.counts[j, g] += of.valid[of.counted[j], v]
        for j in range(len(of.limb)):
            groups.sums[j, g] += of.limbs[of.limb[j], v]
    for o in range(len(of.ordered)):
        live = groups.live[o]
        size = len(live) // 2
        for v in range(stored):
            if of.group[v] >= 0 and of.valid[of.ordered[o], v]:
                live[size + of.slot[o, v]] = 1
        count_up(live)


@kernel
def _apply(of: Measures, groups: Groups, v: int, by: int) -> None:
    """Let a version come (1) or go (-1)."""
    g = of.group[v]
    groups.rows[g] += by
    for j in range(len(of.counted)):
        groups.counts[j, g] += by * of.valid[of.counted[j], v]
    for j in range(len(of.limb)):
        groups.sums[j, g] += by * of.limbs[of.limb[j], v]
    for o in range(len(of.ordered)):
        if of.valid[of.ordered[o], v]:
            shift(groups.live[o], of.slot[o, v], by)


@kernel
def _write(of: Measures, groups: Groups, g: int, out: Told, at: int) -> None:
    """Write what the answer of a group is now."""
    out.group[at], out.rows[at] = g, groups.rows[g]
    for j in range(len(of.counted)):
        out.counts[j, at] = groups.counts[j, g]
    for j in range(len(of.limb)):
        out.sums[j, at] = groups.sums[j, g]
    for j in range(of.extreme.shape[1]):
        live, begin, end = groups.live[of.extreme[0, j]], of.spans[0, g], of.spans[1, g]
        slot = last_live(live, begin, end) if of.extreme[1, j] else first_live(live, begin, end)
        out.version[j, at] = of.version[of.extreme[0, j], slot] if begin <= slot < end else -1


@kernel
def _differs(of: Measures, one: Told, i: int, other: Told, k: int, always: bool, number: bool) -> bool:
    """Return whether two answers of one group make different rows."""
    if not always:
        if (one.rows[i] > 0) != (other.rows[k] > 0):
            return True
        if one.rows[i] == 0:
            return False
    if number and one.rows[i] != other.rows[k]:
        return True
    for j in range(len(of.counted)):
        if one.counts[j, i] != other.counts[j, k]:
            return True
    for j in range(len(of.limb)):
        if one.sums[j, i] != other.sums[j, k]:
            return True
    for j in range(of.extreme.shape[1]):
        a, b, column = one.version[j, i], other.version[j, k], of.extreme[2, j]
        if a != b:
            if a < 0 or b < 0:
                return True
            if of.codes[column, a] != of.codes[column, b] or of.valid[column, a] != of.valid[column, b]:
                return True
    return False


@kernel
def _walk(
    of: Measures, groups: Groups, change: I64, last: Told, touched: I64, told: Told, always: bool, number: bool
) -> int:
    """Walk the causes; return how many answers are told.

    change: int64[3, changes], cause, before and after.  always: a group without rows has an answer.
    last: of each group what it was told to be, `cause` being -1 where it was not looked at yet.
    touched: room for as many groups as there are.  number: the number of rows is told.
    """
    count = i = 0
    while i < change.shape[1]:
        cause, many, begin = change[0, i], 0, i
        while i < change.shape[1] and change[0, i] == cause:
            for side in range(1, 3):
                v = change[side, i]
                if v >= 0 and last.cause[of.group[v]] != cause:
                    g = of.group[v]
                    if last.cause[g] < 0:
                        _write(of, groups, g, last, g)
                    last.cause[g] = cause
                    touched[many] = g
                    many += 1
            i += 1
        for k in range(begin, i):
            if change[1, k] >= 0:
                _apply(of, groups, change[1, k], -1)
            if change[2, k] >= 0:
                _apply(of, groups, change[2, k], 1)
        for t in range(many):
            g = touched[t]
            _write(of, groups, g, told, count)
            if _differs(of, last, g, told, count, always, number):
                told.cause[count] = cause
                count += 1
                _write(of, groups, g, last, g)
    return count


ENTRIES = (_find_groups, _sum_up, _walk)
"""The kernels that are called from Python."""


def touched_groups(view: BatchView, columns: Sequence[int], ranks: Ranks, change: I64) -> tuple[I64, I64]:
    """Return the group of each version of an order by `columns`, and where the slots of each group begin and end.

    Groups are numbered as changes touch them; versions of others have -1. Cost: O(rows of these groups), 5 ns each.
    """
    replay = view.replay
    group = np.full(replay.codes.shape[1], -1)
    spans = np.empty((2, min(2 * change.shape[1], len(ranks.version))), np.int64)
    by = np.array(columns, np.int64)
    count = _find_groups(replay.codes, replay.valid, by, ranks.version, ranks.rank, change, group, spans)
    return group, np.ascontiguousarray(spans[:, :count])


def walk(of: Measures, change: I64, stored: int, always: bool, number: bool, least: int) -> Told:
    """Return the answers that changes of `stored` rows make others, the first `least` in any case.

    always: a group without rows has an answer.  number: the number of rows is told.
    """
    counts, sums, extremes, groups = len(of.counted), len(of.limb), of.extreme.shape[1], of.spans.shape[1]
    nodes = 2 << max(of.version.shape[1] - 1, 0).bit_length()
    now = Groups(
        np.zeros(groups, np.int64),
        np.zeros((counts, groups), np.int64),
        np.zeros((sums, groups), np.int64),
        np.zeros((len(of.ordered), nodes), np.int32),
    )
    _sum_up(of, now, stored)
    last, told = _room(counts, sums, extremes, groups), _room(counts, sums, extremes, 2 * change.shape[1] + 1)
    last.cause[:] = -1
    count = _walk(of, now, change, last, np.empty(groups, np.int64), told, always, number)
    count = max(count, least)
    return Told._make(column[..., :count] for column in told)


def _room(counts: int, sums: int, extremes: int, answers: int) -> Told:
    cause, group, rows = (np.zeros(answers, np.int64) for _ in range(3))
    many = np.zeros((counts, answers), np.int64), np.zeros((sums, answers), np.int64)
    return Told(cause, group, rows, *many, np.full((extremes, answers), -1))
