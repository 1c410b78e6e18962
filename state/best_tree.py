"""Best tree: which ranges a row change touches whose answer is their first k rows, and what moves up there.

Problem. Rows are points (x, rank) in groups; a subscription asks for the k least ranks with lo <= x <= hi in its group,
k <= K. Of a row that changes we must say, without knowing the subscriptions, which (lo, hi, k) see it, at which place,
and which row takes the place that it leaves.

Idea. As for a minimum (state/a2b_tree.py) a change splits the ranges in those that hold only the old x, only the new
one, and both: each gets a message of its own. A range sees the row iff fewer than k rows of it are better, and how many
are, hangs on few bounds: walk out from the row's x to both sides and note only the better rows.

           rank                                    a row at x goes; K = 3
              |            c2                        base  = 0, better rows at x itself
              |                 c1      c3           left  = l0         one better row to the left
         row  |               o                      right = r0 r1      two to the right
              |     l0                r0    r1       cand  = c1 c2 c3   worse rows that can move up, by rank
              +-----------------------------> x

    heard     iff base + #(left >= lo) + #(right <= hi) < k; that number is the row's place in the list
    moves up  a list of n rows loses place p: the candidate inside with number n - 1 - p (none: the list shrinks)

Why the candidates suffice: the walk takes each row that is among the K best of what it has seen. The q-th worse row in
a range has p + q - 1 better ones there; where that is less than K, fewer than K of them lie between it and x, so the
walk has taken it. Hence one message serves every range and every k, and whoever applies it compares no order.

A row that becomes worse within its range stays or falls: it is heard by where it was, and only rows better than where
it is now can move up. One that becomes better is heard by where it is now, and nothing moves up.

The tree is that of a2b_tree.py, a heap of minima over a layout's slots, and holds all rows but the one that changes.
Ranks are unique (state/rank_order.py), so there are no ties. A message's bounds are closed and tight for K: beyond
lo_min (hi_max) there are K better rows, or another message's ranges.

Invariants (`check`): 1 nodes[i] = min of its two children; leaves beyond the slots are ABSENT. 2 Leaves are what
the owner says they are. 3 (asserted in tests/state/test_best_tree.py) for all ranges and each k, the messages of one
change are *exact, silent, single*.

    | operation, K = 10                | cost                      | 50,000 rows, one core |
    | -------------------------------- | ------------------------- | --------------------- |
    | a row comes                      | O(K log n)                | 0.6 us                |
    | a row goes                       | O(K log n), 2K candidates | 1.0 us                |
    | the best of all goes             | candidates O(K log(n/K))  | 8 us                  |
    | a change of x, 2 messages        |                           | 3.4 us                |
    | first k rows of a range          | O((k + log n) log k)      | 2 us                  |

At worst each row is a candidate: a staircase that loses its lowest row, as for a minimum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

from state.a2b_tree import mend
from state.change_batch import I64
from state.order_code import INT64_MAX, INT64_MIN
from state.ordering import Layout

ABSENT = INT64_MAX
OUT, IN, STAY = 1, 2, 3
"""The row leaves the ranges of a message, comes into them, or is in them before and after."""
FIELDS = 13
"""Columns of the heads' array, as `BestFound` has them."""

_FIRST_OUTPUT = 256
_MANY = 64
"""So many candidates are sorted otherwise than by insertion."""

Pair = tuple[int, int]
_Out = tuple[I64, I64, I64]
_Scratch = tuple[I64, I64, I64, I64]
"""Room for K slots, twice for K ranks, and for a heap of nodes: made once, since a change takes less time than that."""


@numba.njit(cache=True)
def _put(nodes: I64, size: int, slot: int, rank: int) -> None:
    """Set a leaf and mend the minima above it (why also here: `ordering._first_at`)."""
    node = size + slot
    nodes[node] = rank
    node >>= 1
    while node > 0:
        low = min(nodes[2 * node], nodes[2 * node + 1])
        if nodes[node] == low:
            break
        nodes[node] = low
        node >>= 1


@numba.njit(cache=True)
def _find_right(nodes: I64, size: int, slot: int, limit: int) -> int:
    """Return the first slot >= `slot` with a rank <= limit, or -1."""
    node = size + slot
    if nodes[node] > limit:
        while True:
            while node & 1:
                node >>= 1
            if node == 0:
                return -1
            node += 1
            if nodes[node] <= limit:
                break
        while node < size:
            node *= 2
            if nodes[node] > limit:
                node += 1
    return node - size


@numba.njit(cache=True)
def _find_left(nodes: I64, size: int, slot: int, limit: int) -> int:
    """Return the last slot <= `slot` with a rank <= limit, or -1."""
    node = size + slot
    if nodes[node] > limit:
        while True:
            while not node & 1:
                node >>= 1
            if node == 1:
                return -1
            node -= 1
            if nodes[node] <= limit:
                break
        while node < size:
            node = 2 * node + 1
            if nodes[node] > limit:
                node -= 1
    return node - size


@numba.njit(cache=True)
def _first_at(x: I64, begin: int, end: int, value: int) -> int:
    """Return the first slot of [begin, end) with x >= value, or `end`."""
    while begin < end:
        mid = (begin + end) // 2
        if x[mid] < value:
            begin = mid + 1
        else:
            end = mid
    return begin


@numba.njit(cache=True)
def _run(x: I64, slot: int, begin: int, end: int) -> Pair:
    """Return the slots [first, last + 1) of the group [begin, end) with the x of `slot`."""
    first, stop = slot, slot + 1
    if first > begin and x[first - 1] == x[slot]:
        first = _first_at(x, begin, first, x[slot])
    if stop < end and x[stop] == x[slot]:
        stop = end if x[end - 1] == x[slot] else _first_at(x, stop, end, x[slot] + 1)
    return first, stop


@numba.njit(cache=True)
def _keep_least(least: I64, count: int, rank: int) -> int:
    """Put `rank` among the least ones, sorted, of which `least` has room for so many; return how many there are."""
    if count == len(least):
        if rank >= least[count - 1]:
            return count
        count -= 1
    i = count
    while i > 0 and least[i - 1] > rank:
        least[i] = least[i - 1]
        i -= 1
    least[i] = rank
    return count + 1


@numba.njit(cache=True)
def _push(nodes: I64, heap: I64, count: int, node: int) -> int:
    """Put a node on a heap by its least rank; return how many it has."""
    i = count
    while i > 0 and nodes[heap[(i - 1) >> 1]] > nodes[node]:
        heap[i] = heap[(i - 1) >> 1]
        i = (i - 1) >> 1
    heap[i] = node
    return count + 1


@numba.njit(cache=True)
def _sift(nodes: I64, heap: I64, count: int, node: int) -> None:
    """Put `node` in the place of the root of a heap of `count` nodes."""
    i = 0
    while True:
        child = 2 * i + 1
        if child >= count:
            break
        if child + 1 < count and nodes[heap[child + 1]] < nodes[heap[child]]:
            child += 1
        if nodes[heap[child]] >= nodes[node]:
            break
        heap[i] = heap[child]
        i = child
    heap[i] = node


@numba.njit(cache=True)
def _best_of(nodes: I64, size: int, begin: int, end: int, limit: int, slots: I64, heap: I64) -> int:
    """Write the slots of the least ranks < limit in [begin, end), ascending by rank; return how many."""
    waiting = count = 0
    left, right = begin + size, end + size
    while left < right:
        if left & 1:
            if nodes[left] < limit:
                waiting = _push(nodes, heap, waiting, left)
            left += 1
        if right & 1:
            right -= 1
            if nodes[right] < limit:
                waiting = _push(nodes, heap, waiting, right)
        left >>= 1
        right >>= 1
    while waiting > 0 and count < len(slots):
        node = heap[0]
        waiting -= 1
        _sift(nodes, heap, waiting, heap[waiting])
        low = nodes[node]
        while node < size:
            node *= 2
            other = node + 1
            if nodes[node] != low:
                node, other = other, node
            if nodes[other] < limit:
                waiting = _push(nodes, heap, waiting, other)
        slots[count] = node - size
        count += 1
    return count


@numba.njit(cache=True)
def _room(out: I64, used: int, more: int) -> I64:
    """Return `out`, or a copy twice as long if `more` columns do not fit behind those used."""
    if used + more <= out.shape[1]:
        return out
    bigger = np.empty((out.shape[0], 2 * (used + more)), np.int64)
    bigger[:, :used] = out[:, :used]
    return bigger


@numba.njit(cache=True)
def _walk(
    nodes: I64, size: int, x: I64, step: int, slot: int, seen: Pair, ref: int, cap: int, base: int, least: I64,
    count: int, out: _Out, used: I64,
) -> tuple[int, I64]:  # fmt: skip
    """Walk from `slot` to one side of the slots `seen`; note bounds, and where cap > ref candidates.

    least: the best ranks seen so far, `count` of them. Returns how many bounds, and the candidates' array.
    """
    _, bounds, cands = out
    most, better = len(least), base
    while better < most and seen[0] <= slot < seen[1]:
        limit = ref - 1
        if cap > ref:
            limit = cap - 1 if count < most else min(cap, least[count - 1]) - 1
        slot = _find_left(nodes, size, slot, limit) if step < 0 else _find_right(nodes, size, slot, limit)
        if not seen[0] <= slot < seen[1]:
            break
        rank = nodes[size + slot]
        if rank < ref:
            bounds[0, used[1]] = x[slot]
            used[1] += 1
            better += 1
        else:
            cands = _room(cands, used[2], 1)
            cands[0, used[2]], cands[1, used[2]] = x[slot], rank
            used[2] += 1
        if cap > ref:
            count = _keep_least(least, count, rank)
        slot += step
    return better - base, cands


@numba.njit(cache=True)
def _by_rank(cands: I64, begin: int, end: int) -> None:
    """Sort candidates by rank."""
    if end - begin > _MANY:
        order = np.argsort(cands[1, begin:end])
        for field in range(2):
            cands[field, begin:end] = cands[field, begin:end].copy()[order]
        return
    for i in range(begin + 1, end):
        x, rank, j = cands[0, i], cands[1, i], i
        while j > begin and cands[1, j - 1] > rank:
            cands[0, j], cands[1, j] = cands[0, j - 1], cands[1, j - 1]
            j -= 1
        cands[0, j], cands[1, j] = x, rank


@numba.njit(cache=True)
def _emit(
    nodes: I64, size: int, x: I64, core: Pair, seen: Pair, clip: Pair, about: tuple[int, int, int, int, int],
    ref: int, cap: int, scratch: _Scratch, out: _Out, used: I64,
) -> _Out:  # fmt: skip
    """Write one message, unless K rows of the core are better. `about`: cause, group, kind, old and new rank.

    Every range holds the slots `core`, and may hold any of `seen`. Candidates are looked for where cap > ref.
    """
    slots, least, other, heap = scratch
    most = len(slots)
    inside = _best_of(nodes, size, core[0], core[1], max(cap, ref), slots, heap)
    base = 0
    for i in range(inside):
        base += nodes[size + slots[i]] < ref
    if base >= most:
        return out
    head, bounds, cands = _room(out[0], used[0], 1), _room(out[1], used[1], 2 * most), _room(out[2], used[2], most)
    first_cand, count = used[2], 0
    for i in range(inside if cap > ref else 0):
        rank = nodes[size + slots[i]]
        count = _keep_least(least, count, rank)
        if i >= base:
            cands[0, used[2]], cands[1, used[2]] = x[slots[i]], rank
            used[2] += 1
    lo, hi = clip
    for i in range(count):
        other[i] = least[i]
    lefts, cands = _walk(
        nodes, size, x, -1, core[0] - 1, seen, ref, cap, base, least, count, (head, bounds, cands), used
    )
    if base + lefts == most:
        lo = max(lo, bounds[0, used[1] - 1] + 1)
    rights, cands = _walk(nodes, size, x, 1, core[1], seen, ref, cap, base, other, count, (head, bounds, cands), used)
    if base + rights == most:
        hi = min(hi, bounds[0, used[1] - 1] - 1)
    _by_rank(cands, first_cand, used[2])
    message = (
        about[0], about[1], about[2], lo, x[core[0]], x[core[1] - 1], hi, base, lefts, rights, used[2] - first_cand,
        about[3], about[4],
    )  # fmt: skip
    for field in range(FIELDS):
        head[field, used[0]] = message[field]
    used[0] += 1
    return head, bounds, cands


@numba.njit(cache=True)
def _stay(
    nodes: I64, size: int, x: I64, core: Pair, group: Pair, number: int, cause: int, old: int, new: int,
    scratch: _Scratch, out: _Out, used: I64,
) -> _Out:  # fmt: skip
    """Write the message to the ranges that hold the row before and after."""
    ref, cap = min(old, new), new if new > old else -1
    about = (cause, number, STAY, old, new)
    return _emit(nodes, size, x, core, group, (INT64_MIN, INT64_MAX), about, ref, cap, scratch, out, used)


@numba.njit(cache=True)
def _alone(
    nodes: I64, size: int, x: I64, core: Pair, seen: Pair, clip: Pair, number: int, cause: int, old: int, new: int,
    scratch: _Scratch, out: _Out, used: I64,
) -> _Out:  # fmt: skip
    """Write the message to the ranges that hold the row only before (new = -1) or only after (old = -1)."""
    if new < 0:
        about, ref, cap = (cause, number, OUT, old, new), old, ABSENT
    else:
        about, ref, cap = (cause, number, IN, old, new), new, -1
    return _emit(nodes, size, x, core, seen, clip, about, ref, cap, scratch, out, used)


@numba.njit(cache=True)
def _move(
    nodes: I64, size: int, x: I64, slots: Pair, group: Pair, number: int, cause: int, old: int, new: int,
    scratch: _Scratch, out: _Out, used: I64,
) -> _Out:  # fmt: skip
    """Write the messages of a row that goes from one slot of its group to another."""
    here, there = _run(x, slots[0], group[0], group[1]), _run(x, slots[1], group[0], group[1])
    if x[slots[0]] == x[slots[1]]:
        return _stay(nodes, size, x, here, group, number, cause, old, new, scratch, out, used)
    if x[slots[0]] < x[slots[1]]:
        only_old, only_new, both = (group[0], there[0]), (here[1], group[1]), (here[0], there[1])
        clip_old, clip_new = (INT64_MIN, x[slots[1]] - 1), (x[slots[0]] + 1, INT64_MAX)
    else:
        only_old, only_new, both = (there[1], group[1]), (group[0], here[0]), (there[0], here[1])
        clip_old, clip_new = (x[slots[1]] + 1, INT64_MAX), (INT64_MIN, x[slots[0]] - 1)
    out = _alone(nodes, size, x, here, only_old, clip_old, number, cause, old, -1, scratch, out, used)
    out = _alone(nodes, size, x, there, only_new, clip_new, number, cause, -1, new, scratch, out, used)
    return _stay(nodes, size, x, both, group, number, cause, old, new, scratch, out, used)


@numba.njit(cache=True)
def _replay(
    nodes: I64, size: int, x: I64, group: I64, starts: I64, changes: I64, scratch: _Scratch, out: _Out, used: I64
) -> _Out:
    """Run changes in order; `changes` is int64[5, m]: cause, old slot and rank, new slot and rank, -1 where not there.

    used: how many heads, bounds and candidates `out` has.
    """
    everything = (INT64_MIN, INT64_MAX)
    for i in range(changes.shape[1]):
        cause, here, old, there, new = changes[0, i], changes[1, i], changes[2, i], changes[3, i], changes[4, i]
        if here >= 0:
            _put(nodes, size, here, ABSENT)
        if here >= 0 and there >= 0 and group[here] == group[there]:
            number = group[here]
            bounds = (starts[number], starts[number + 1])
            out = _move(nodes, size, x, (here, there), bounds, number, cause, old, new, scratch, out, used)
        else:
            if here >= 0:
                bounds = (starts[group[here]], starts[group[here] + 1])
                core = _run(x, here, bounds[0], bounds[1])
                out = _alone(nodes, size, x, core, bounds, everything, group[here], cause, old, -1, scratch, out, used)
            if there >= 0:
                bounds = (starts[group[there]], starts[group[there] + 1])
                core = _run(x, there, bounds[0], bounds[1])
                out = _alone(nodes, size, x, core, bounds, everything, group[there], cause, -1, new, scratch, out, used)
        if there >= 0:
            _put(nodes, size, there, new)
    return out


@numba.njit(cache=True)
def _first(
    nodes: I64, size: int, x: I64, starts: I64, places: I64, most: I64, slots: I64, count: I64, heap: I64
) -> int:
    """Write the slots of the first `most[i]` rows of each place (group, lo, hi), one after the other, and how many."""
    total = 0
    for i in range(len(most)):
        count[i] = 0
        group, lo, hi = places[0, i], places[1, i], places[2, i]
        if group < 0 or lo > hi:
            continue
        begin, end = starts[group], starts[group + 1]
        first = _first_at(x, begin, end, lo)
        stop = end if hi >= x[end - 1] else _first_at(x, first, end, hi + 1)
        if first < stop:
            count[i] = _best_of(nodes, size, first, stop, ABSENT, slots[total : total + most[i]], heap)
        total += count[i]
    return total


ENTRIES = (_replay, _first)
"""The kernels that are called from Python; the others are compiled into them."""


@dataclass(frozen=True, slots=True)
class BestFound:
    """n messages in causal order: int64[n] each, but for the lists, which stand in this order too.

    cause, group, kind.  lo_min, lo_max, hi_min, hi_max: closed rectangle of ranges.  base: better rows that all hold.
    lefts, rights: how many of `bounds` are its own: the x of better rows to the left, nearest first, then to the right.
    cands: how many of `cand_x` and `cand` are.  old, new: ranks of the row, -1 where it is not in the ranges.
    cand: ranks of the candidates, ascending in each message.
    """

    head: I64
    bounds: I64
    cand_x: I64
    cand: I64


class BestTree:
    """The tree of minima over a layout's slots, for one order."""

    __slots__ = ("_layout", "_nodes", "_size")

    def __init__(self, layout: Layout, leaves: I64) -> None:
        """Build over `layout`; `leaves` is the rank in each slot, ABSENT where there is no row. Cost: O(n)."""
        self._layout = layout
        self._size = 1 << max(len(leaves) - 1, 0).bit_length()
        self._nodes = np.full(2 * self._size, ABSENT)
        self._nodes[self._size : self._size + len(leaves)] = leaves
        mend(self._nodes)

    def replay(self, changes: I64, most: int) -> BestFound:
        """Run changes through the tree, in order; return their messages for all k <= most.

        changes: int64[5, m], of each its cause, old slot, old rank, new slot, new rank; -1 and -1 where there is none.
        Cost: see the module's header.
        """
        layout, used = self._layout, np.zeros(3, np.int64)
        room = max(_FIRST_OUTPUT, 2 * changes.shape[1])
        out = np.empty((FIELDS, room), np.int64), np.empty((1, room), np.int64), np.empty((2, room), np.int64)
        changes = np.ascontiguousarray(changes)
        head, bounds, cands = _replay(
            self._nodes, self._size, layout.x, layout.group, layout.starts, changes, self._scratch(most), out, used
        )
        return BestFound(head[:, : used[0]], bounds[0, : used[1]], cands[0, : used[2]], cands[1, : used[2]])

    def first(self, group: I64, lo: I64, hi: I64, most: I64) -> tuple[I64, I64]:
        """Return the slots of the first most[i] rows with lo <= x <= hi in each group (number, or -1), and how many.

        They stand one after the other, best first. Cost: O((k + log n) log k) each.
        """
        slots, count = np.empty(int(most.sum()), np.int64), np.empty(len(group), np.int64)
        places = np.stack([group, lo, hi])
        total = _first(
            self._nodes,
            self._size,
            self._layout.x,
            self._layout.starts,
            places,
            most,
            slots,
            count,
            self._scratch(int(most.max(initial=1)))[3],
        )
        return slots[:total], count

    def check(self, leaves: I64) -> None:
        """Assert the invariants of the module's header; `leaves` is what the owner says stands in them. Cost: O(n)."""
        size, nodes, mended = self._size, self._nodes, self._nodes.copy()
        assert (nodes[size + len(leaves) :] == ABSENT).all(), f"1: rows beyond the slots in {nodes[size:]}"
        mend(mended)
        assert np.array_equal(nodes[1:], mended[1:]), f"1: minima {nodes}, should be {mended}"
        assert np.array_equal(nodes[size : size + len(leaves)], leaves), f"2: {nodes[size:]}, owner says {leaves}"

    def _scratch(self, most: int) -> _Scratch:
        """Return room for the kernels; a heap grows by at most one node a level with each that is taken from it."""
        levels = self._size.bit_length() + 1
        slots, least, other = np.empty((3, most), np.int64)
        return slots, least, other, np.empty((most + 2) * levels, np.int64)
