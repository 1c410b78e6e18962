"""A2B-tree: which ranges a row change touches, and what their minimum becomes.

Problem. Rows are points (x, y) in groups; a subscription asks for the least y with lo <= x <= hi in its group.
Of a row that changes we must say, without knowing the subscriptions, exactly which (lo, hi) get which new answer.

Idea (Interface paper 2.4 and 3.1). A row matters as far as no other row is as low: that is its *Mar*. A row that
rises or goes exposes other rows: the *hull*, the staircase seen from x to both sides, each step within its own
*EMar*. All of it is repeated search: the nearest slot to one side of a slot whose y is at most a threshold.

             y                                       the row at x rises from y_o to y_n:
         y_n |                 o                       peak  = the least of y_n and what else is at x
             |           l0    :                       hull  = l0, l1 to the left, r0 to the right
             |                 :     r0                Mar   = (L, R): the nearest rows with y <= y_o
             |       l1        :                       messages, each for the ranges that hold x and the row:
         y_o |  L              *              R        peak in (l0, r0), l0 in (l1, r0), r0 in (l1, R), l1 in (L, R)
             +------------------------------- x

The paper keeps a dynamic B-tree on x whose entries carry the minimum below them, and a lower B-tree for each x.
Here the state is opened and written as a whole with every batch, so a batch lays all its slots out once
(`state/ordering.py`) and the tree is implicit: a heap of minima over the slots.

    nodes   [-, 2, 2, 5,  4, 2, 5, ABSENT]     nodes[i] = min(nodes[2i], nodes[2i + 1])
    slots               4  2  5  -             nodes[size + s] = y of the row now in slot s, ABSENT if none

No node splits, no shifting, no lower tier: equal x are neighbours, and a search that is bounds-checked against
the group's slots serves all groups with one tree. A change takes its row out (then the tree holds *all other
rows*, the P of the paper), emits its messages, and puts it back. MAX is MIN over ~y. A message is one closed
rectangle of (lo, hi): "beyond slot L" is lo >= x(L) + 1, which cannot overflow, and no bound is an end of int64.

A move of x and y at once (the paper omits it) splits the ranges in those that hold only the old x (a deletion,
clipped before the new x), only the new x (an insertion, clipped), and both (a change whose core is [x_o, x_n]).

ABSENT is INT64_MAX. It is a legal y, so a batch that holds it moves up into a code nobody uses
(`order_code.spare_top`), and the searches need one comparison and no flags.

Invariants (`check`): 1 nodes[i] = min of its two children; leaves beyond the slots are ABSENT. 2 Leaves are what
the owner says they are. 3 (asserted in tests/state/test_a2b_tree.py) the messages of one change are disjoint, not
empty, and each changes the answer of every range in it: *exact, silent, single*.

    | operation                        | cost                     | 50,000 rows, one core |
    | -------------------------------- | ------------------------ | --------------------- |
    | build                            | O(n)                     | 0.12 ms               |
    | a change of y                    | O(log n)                 | 0.2 to 0.3 us         |
    | a change of x, 4 messages        | O(log n)                 | 0.6 to 0.9 us         |
    | a change that exposes k rows     | O(k log n), k messages   | 1.3 us at k = 13      |
    | answer one range                 | O(log n)                 | 0.3 us                |

Where we leave the paper: FINDR mixes 0- and 1-based indexes and its < and <=; here thresholds are inclusive and
"strictly less" is y - 1. Ties are by the asymmetry of its footnote 2. Duplicate x: a walk can meet the higher of
two rows at one x first; the later one overwrites it, and a step at the bound's own x is dropped.
"""

from __future__ import annotations

import numpy as np

from state.change_batch import I64
from state.kernel import kernel
from state.minima import ABSENT, check_minima, find_left, find_right, minima, set_leaf
from state.order_code import INT64_MAX, INT64_MIN
from state.ordering import Layout, first_at, run_at

FIELDS = 7
"""Rows of the messages' array: cause, group, new, lo_min, lo_max, hi_min, hi_max."""

_FIRST_OUTPUT = 1024

Pair = tuple[int, int]


@kernel
def _least(nodes: I64, size: int, begin: int, end: int) -> int:
    """Return the least y of the slots [begin, end)."""
    low = ABSENT
    left, right = begin + size, end + size
    while left < right:
        if left & 1:
            low = min(low, nodes[left])
            left += 1
        if right & 1:
            right -= 1
            low = min(low, nodes[right])
        left >>= 1
        right >>= 1
    return low


@kernel
def _walk_left(nodes: I64, size: int, x: I64, slot: int, stop: int, peak: int, floor: int, hull: I64) -> Pair:
    """Collect the left hull from `slot` down to `stop`: ever lower y, down to above `floor`.

    Returns the number of steps, and the slot that bounds them (y <= floor) or -1.
    """
    count = 0
    low = peak
    while slot >= stop:
        slot = find_left(nodes, size, slot, low - 1)
        if slot < stop:
            break
        low = nodes[size + slot]
        again = count > 0 and x[hull[count - 1]] == x[slot]
        if low <= floor:
            return (count - 1 if again else count), slot
        if not again:
            count += 1
        hull[count - 1] = slot
        slot -= 1
    return count, -1


@kernel
def _walk_right(nodes: I64, size: int, x: I64, slot: int, stop: int, peak: int, floor: int, hull: I64) -> Pair:
    """Collect the right hull from `slot` up to before `stop`; mirrors `_walk_left`."""
    count = 0
    low = peak
    while slot < stop:
        slot = find_right(nodes, size, slot, low - 1)
        if slot < 0 or slot >= stop:
            break
        low = nodes[size + slot]
        again = count > 0 and x[hull[count - 1]] == x[slot]
        if low <= floor:
            return (count - 1 if again else count), slot
        if not again:
            count += 1
        hull[count - 1] = slot
        slot += 1
    return count, -1


@kernel
def _message(
    out: I64, count: int, cause: int, group: int, new: int, lo_min: int, lo_max: int, hi_min: int, hi_max: int
) -> None:
    """Write one message at `count`."""
    out[0, count] = cause
    out[1, count] = group
    out[2, count] = new
    out[3, count] = lo_min
    out[4, count] = lo_max
    out[5, count] = hi_min
    out[6, count] = hi_max


@kernel
def _room(out: I64, count: int, more: int) -> I64:
    """Return `out`, or a copy twice as long if `more` messages do not fit behind `count`."""
    if count + more <= out.shape[1]:
        return out
    bigger = np.empty((FIELDS, 2 * (count + more)), np.int64)
    for field in range(FIELDS):
        for i in range(count):
            bigger[field, i] = out[field, i]
    return bigger


@kernel
def _expose(
    nodes: I64, size: int, x: I64, left: I64, lefts: int, right: I64, rights: int, span: tuple[int, int, int, int],
    peak: int, cause: int, group: int, out: I64, count: int,
) -> tuple[I64, int]:  # fmt: skip
    """Write a hull's messages: the peak, then each step with its EMar. span = lo_min, lo_max, hi_min, hi_max."""
    out = _room(out, count, lefts + rights + 1)
    lo_min, a, b, hi_max = span
    inner_lo = x[left[0]] + 1 if lefts else lo_min
    inner_hi = x[right[0]] - 1 if rights else hi_max
    _message(out, count, cause, group, peak, inner_lo, a, b, inner_hi)
    count += 1
    j = 0
    for i in range(lefts):
        y = nodes[size + left[i]]
        while j < rights and nodes[size + right[j]] >= y:
            j += 1
        lo = x[left[i + 1]] + 1 if i + 1 < lefts else lo_min
        hi = x[right[j]] - 1 if j < rights else hi_max
        _message(out, count, cause, group, y, lo, x[left[i]], b, hi)
        count += 1
    i = 0
    for j in range(rights):
        y = nodes[size + right[j]]
        while i < lefts and nodes[size + left[i]] > y:
            i += 1
        lo = x[left[i]] + 1 if i < lefts else lo_min
        hi = x[right[j + 1]] - 1 if j + 1 < rights else hi_max
        _message(out, count, cause, group, y, lo, a, x[right[j]], hi)
        count += 1
    return out, count


@kernel
def _emit(
    nodes: I64, size: int, x: I64, hulls: I64, core: Pair, limits: Pair, edges: Pair, y_old: int, y_new: int,
    cause: int, group: int, out: I64, count: int,
) -> tuple[I64, int]:  # fmt: skip
    """Write what a change from y_old to y_new at the slots `core` means to the ranges that hold all of them.

    core = first and end slot.  limits = first and end slot of what may be seen.  edges = lo_min and hi_max where
    nothing bounds a range inside the limits.  The tree holds all other rows. Returns (out, count).
    """
    others = _least(nodes, size, core[0], core[1])
    if y_new == y_old or others <= min(y_old, y_new):
        return out, count
    peak = min(others, y_new)
    falls = y_new < y_old
    floor = y_new if falls else y_old
    reach = floor + 1 if falls else peak
    left, right = hulls[0], hulls[1]
    lefts, bound_l = _walk_left(nodes, size, x, core[0] - 1, limits[0], reach, floor, left)
    rights, bound_r = _walk_right(nodes, size, x, core[1], limits[1], reach, floor, right)
    lo_min = x[bound_l] + 1 if bound_l >= 0 else edges[0]
    hi_max = x[bound_r] - 1 if bound_r >= 0 else edges[1]
    span = (lo_min, x[core[0]], x[core[1] - 1], hi_max)
    return _expose(nodes, size, x, left, lefts, right, rights, span, peak, cause, group, out, count)


@kernel
def _stay(
    nodes: I64, size: int, x: I64, hulls: I64, slot: int, ys: Pair, starts: I64, g: int, whole: Pair,
    cause: int, out: I64, count: int,
) -> tuple[I64, int]:  # fmt: skip
    """Write the messages of a row that comes, goes or changes y at one x of group g: y ys[0] to ys[1]."""
    limits = (starts[g], starts[g + 1])
    core = run_at(x, slot, limits[0], limits[1])
    return _emit(nodes, size, x, hulls, core, limits, whole, ys[0], ys[1], cause, g, out, count)


@kernel
def _move(
    nodes: I64, size: int, x: I64, hulls: I64, slots: Pair, ys: Pair, limits: Pair, whole: Pair, cause: int,
    group: int, out: I64, count: int,
) -> tuple[I64, int]:  # fmt: skip
    """Write the messages of a row that moves within its group: from slots[0], y ys[0] to slots[1], y ys[1]."""
    forward = x[slots[0]] < x[slots[1]]
    left, right = (slots[0], slots[1]) if forward else (slots[1], slots[0])
    left_run = run_at(x, left, limits[0], limits[1])
    right_run = run_at(x, right, limits[0], limits[1])
    gone, come = (ys[0], ABSENT), (ABSENT, ys[1])
    at_left, at_right = (gone, come) if forward else (come, gone)
    for region in range(3):
        core, seen, edges, y = left_run, (limits[0], right_run[0]), (whole[0], x[right] - 1), at_left
        if region == 1:
            core, seen, edges, y = right_run, (left_run[1], limits[1]), (x[left] + 1, whole[1]), at_right
        elif region == 2:
            core, seen, edges, y = (left_run[0], right_run[1]), limits, whole, ys
        out, count = _emit(nodes, size, x, hulls, core, seen, edges, y[0], y[1], cause, group, out, count)
    return out, count


@kernel
def _replay(
    nodes: I64, size: int, x: I64, group: I64, starts: I64, cause: I64, slot_old: I64, y_old: I64, slot_new: I64,
    y_new: I64, whole: Pair, out: I64, count: int,
) -> tuple[I64, int]:  # fmt: skip
    """Run changes through the tree in order; return the messages and how many there are.

    A slot of -1 is a row that is not there (y ABSENT). whole = INT64_MIN and INT64_MAX, the edges of no bound.
    `whole` and `count` are arguments because numba would compile everything again for literals; so `absent`.
    """
    hulls = np.empty((2, len(x)), np.int64)
    absent = whole[1]
    for i in range(len(cause)):
        old, new = slot_old[i], slot_new[i]
        if old >= 0:
            set_leaf(nodes, size, old, absent)
        if old >= 0 and new >= 0 and old != new and group[old] == group[new]:
            g = group[old]
            limits = (starts[g], starts[g + 1])
            ys = (y_old[i], y_new[i])
            out, count = _move(nodes, size, x, hulls, (old, new), ys, limits, whole, cause[i], g, out, count)
        elif old == new:
            ys = (y_old[i], y_new[i])
            out, count = _stay(nodes, size, x, hulls, old, ys, starts, group[old], whole, cause[i], out, count)
        else:
            if old >= 0:
                ys = (y_old[i], absent)
                out, count = _stay(nodes, size, x, hulls, old, ys, starts, group[old], whole, cause[i], out, count)
            if new >= 0:
                ys = (absent, y_new[i])
                out, count = _stay(nodes, size, x, hulls, new, ys, starts, group[new], whole, cause[i], out, count)
        if new >= 0:
            set_leaf(nodes, size, new, y_new[i])
    return out, count


@kernel
def _answer(nodes: I64, size: int, x: I64, starts: I64, group: I64, lo: I64, hi: I64, out: I64) -> None:
    """Write the least y with lo <= x <= hi in each group asked for (-1: a group that has no slot)."""
    for i in range(len(group)):
        out[i] = ABSENT
        if group[i] >= 0 and lo[i] <= hi[i]:
            begin, end = starts[group[i]], starts[group[i] + 1]
            first = first_at(x, begin, end, lo[i])
            stop = end if hi[i] >= x[end - 1] else first_at(x, first, end, hi[i] + 1)
            out[i] = _least(nodes, size, first, stop)


ENTRIES = (_replay, _answer)
"""The kernels that are called from Python; the others are compiled into them."""


class A2BTree:
    """The tree of minima over a layout's slots, for one measure and one direction (MAX: give it ~y)."""

    __slots__ = ("_layout", "_nodes", "_size")

    def __init__(self, layout: Layout, leaves: I64) -> None:
        """Build over `layout`; `leaves` is y a slot, ABSENT where none. Cost: O(n)."""
        self._layout = layout
        self._nodes = minima(leaves)
        self._size = len(self._nodes) // 2

    def replay(self, cause: I64, slot_old: I64, y_old: I64, slot_new: I64, y_new: I64) -> I64:
        """Run changes through the tree, in order; return their k messages, int64[FIELDS, k], causally ordered.

        Each goes from y_old in slot_old to y_new in slot_new; a side that is not there has slot -1 and y ABSENT.
        `new` is ABSENT for "no row left in the range". Cost: see the module's header.
        """
        layout = self._layout
        out = np.empty((FIELDS, max(_FIRST_OUTPUT, 2 * len(cause))), np.int64)
        whole = (INT64_MIN, INT64_MAX)
        messages, count = _replay(
            self._nodes, self._size, layout.x, layout.group, layout.starts, cause, slot_old, y_old, slot_new, y_new,
            whole, out, 0,
        )  # fmt: skip
        return messages[:, :count]

    def answers(self, group: I64, lo: I64, hi: I64) -> I64:
        """Return the least y with lo <= x <= hi in each group (number, or -1), ABSENT if there is no row.

        Cost: O(log n) each.
        """
        out = np.empty(len(group), np.int64)
        _answer(self._nodes, self._size, self._layout.x, self._layout.starts, group, lo, hi, out)
        return out

    def check(self, leaves: I64) -> None:
        """Assert the invariants of the module's header; `leaves` is what the owner says stands in them. Cost: O(n)."""
        check_minima(self._nodes, leaves)
