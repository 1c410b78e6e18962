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

What a message is about is two ranks (`_limits`): better is a rank < ref, and a candidate has ref < rank < cap.

    the row goes              ref = old, cap = ABSENT    heard by where it was; all that is worse can move up
    it comes, or is better    ref = new, cap = -1        heard by where it is now; nothing moves up
    it is worse               ref = old, cap = new       heard by where it was; what is better than now can move up

Of better rows the first K - base to each side are enough. While a walk has met b of them, K - base - b worse ones are
among the K best of what it has seen: it remembers these by rank, and looks for nothing worse than the last of them. One
that it gives up is worse than all that it finds from then on, so each side's candidates come in order by themselves.

The tree is that of a2b_tree.py, a heap of minima over a layout's slots, and holds all rows but the one that changes.
Ranks are unique (state/rank_order.py), so there are no ties. A message's bounds are closed and tight for K: beyond
lo_min (hi_max) there are K better rows, or another message's ranges.

Invariants (`check`): 1 nodes[i] = min of its two children; leaves beyond the slots are ABSENT. 2 Leaves are what
the owner says they are. 3 (asserted in tests/state/test_best_tree.py) for all ranges and each k, the messages of one
change are *exact, silent, single*.

    | operation, K = 10                | cost                      | 50,000 rows, one core |
    | -------------------------------- | ------------------------- | --------------------- |
    | a row comes                      | O(K log n)                | 0.5 us                |
    | a row goes                       | O(K log n), 2K candidates | 1.2 us                |
    | the best of all goes             | candidates O(K log(n/K))  | 10 us                 |
    | a change of x, 2 messages        |                           | 2.0 us                |
    | first k rows of a range          | O((k + log n) log k)      | 1.5 us                |

At worst each row is a candidate: a staircase that loses its lowest row, as for a minimum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from state.change_batch import I64
from state.kernel import kernel
from state.minima import ABSENT, check_minima, find_left, find_right, minima, set_leaf
from state.order_code import INT64_MAX, INT64_MIN
from state.ordering import Layout, first_at, run_at

OUT, IN, STAY = 1, 2, 3
"""The row leaves the ranges of a message, comes into them, or is in them before and after."""
FIELDS = 13
"""Columns of the heads' array, as `BestFound` has them."""

_SPARE = 5
"""Of how many candidates a slot there is room before a change: one message's, and up to four times another's while they
are brought in order."""

HEADS, BOUNDS, CANDS = 0, 1, 2
"""Where `used` says how many messages, bounds and candidates have been written."""

Pair = tuple[int, int]
_Change = tuple[int, int, int, int]
"""Cause, number of the group, old and new rank."""

# Arrays come one by one: where they came as members of a tuple, each call would count references to all of them, which
# takes longer than the search. `nodes` and `x` are the tree and its slots; `head`, `bounds` and `cands` are written to,
# at `used`; `worse` is room for K candidates.


@kernel
def _keep(worse: I64, count: int, x: int, rank: int) -> None:
    """Put a candidate in its place among `count` ones by rank."""
    i = count
    while i > 0 and worse[i - 1, 1] > rank:
        worse[i, 0], worse[i, 1] = worse[i - 1, 0], worse[i - 1, 1]
        i -= 1
    worse[i, 0], worse[i, 1] = x, rank


@kernel
def _push(nodes: I64, heap: I64, count: int, node: int) -> int:
    """Put a node on a heap by its least rank; return how many it has."""
    i = count
    while i > 0 and nodes[heap[(i - 1) >> 1]] > nodes[node]:
        heap[i] = heap[(i - 1) >> 1]
        i = (i - 1) >> 1
    heap[i] = node
    return count + 1


@kernel
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


@kernel
def _heap_size(size: int, most: int) -> int:
    """Return how many nodes wait at most: each row that is taken puts at most one a level on the heap."""
    levels = 2
    while size > 0:
        levels += 1
        size >>= 1
    return (most + 2) * levels


@kernel
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


@kernel
def _better_in(nodes: I64, core: Pair, ref: int, most: int) -> int:
    """Return how many rows of the slots `core` are better than `ref`, or `most` where there are so many."""
    size = len(nodes) >> 1
    count, slot = 0, core[0]
    while count < most and slot < core[1]:
        if nodes[size + slot] < ref:
            count += 1
            slot += 1
        elif slot + 1 == core[1]:
            break
        else:
            slot = find_right(nodes, size, slot + 1, ref - 1)
            if slot < 0:
                break
    return count


@kernel
def _core_cands(nodes: I64, x: I64, core: Pair, base: int, cap: int, most: int, cands: I64, used: I64) -> None:
    """Write the candidates of the core: its `most` least ranks < cap but for the first `base`, which are better."""
    size = len(nodes) >> 1
    slots, heap = np.empty(most, np.int64), np.empty(_heap_size(size, most), np.int64)
    for i in range(base, _best_of(nodes, size, core[0], core[1], cap, slots, heap)):
        cands[used[CANDS], 0], cands[used[CANDS], 1] = x[slots[i]], nodes[size + slots[i]]
        used[CANDS] += 1


@kernel
def _walk_better(nodes: I64, x: I64, way: Pair, ref: int, wanted: int, bounds: I64, used: I64) -> int:
    """Walk the slots from way[0] on until before way[1], note bounds until they are `wanted`; return how many."""
    size, first, count = len(nodes) >> 1, used[BOUNDS], 0
    slot, stop = way
    left = stop < slot
    while count < wanted and slot != stop:
        slot = find_left(nodes, size, slot, ref - 1) if left else find_right(nodes, size, slot, ref - 1)
        if slot < 0 or (slot <= stop if left else slot >= stop):
            break
        bounds[first + count] = x[slot]
        count += 1
        slot += -1 if left else 1
    used[BOUNDS] = first + count
    return count


@kernel
def _walk(
    nodes: I64, x: I64, way: Pair, limits: Pair, wanted: int, inside: Pair, worse: I64, bounds: I64, cands: I64,
    used: I64,
) -> int:  # fmt: skip
    """Walk as `_walk_better` with limits = ref and cap, and note candidates too, the worst first.

    `inside` are the places of the core's, which are among those noted. `worse` has those by rank that are still among
    the K best of what was seen; one that is not is worse than all that are found from then on.
    """
    size, first, better, cand, kept = len(nodes) >> 1, used[BOUNDS], 0, used[CANDS], 0
    for i in range(inside[0], inside[1]):
        worse[kept, 0], worse[kept, 1] = cands[i, 0], cands[i, 1]
        kept += 1
    limit = worse[kept - 1, 1] - 1 if kept == wanted else limits[1] - 1
    slot, stop = way
    left = stop < slot
    while slot != stop:
        slot = find_left(nodes, size, slot, limit) if left else find_right(nodes, size, slot, limit)
        if slot < 0 or (slot <= stop if left else slot >= stop):
            break
        rank, full = nodes[size + slot], kept == wanted - better
        if full:
            kept -= 1
            cands[cand, 0], cands[cand, 1] = worse[kept, 0], worse[kept, 1]
            cand += 1
        if rank < limits[0]:
            bounds[first + better] = x[slot]
            better += 1
            if better == wanted:
                break
        else:
            _keep(worse, kept, x[slot], rank)
            kept += 1
        if kept == wanted - better:
            limit = worse[kept - 1, 1] - 1
        slot += -1 if left else 1
    for i in range(kept - 1, -1, -1):
        cands[cand, 0], cands[cand, 1] = worse[i, 0], worse[i, 1]
        cand += 1
    used[BOUNDS], used[CANDS] = first + better, cand
    return better


@kernel
def _by_rank(cands: I64, first: int, begin: int, middle: int, end: int) -> int:
    """Merge what two walks noted from `begin` and from `middle` on to one list by rank at `first`; return its end.

    Candidates of the core are in both, and come once. There is room for the list behind `end`.
    """
    left, right, put = middle - 1, end - 1, end
    while left >= begin or right >= middle:
        here, there = cands[left, 1] if left >= begin else ABSENT, cands[right, 1] if right >= middle else ABSENT
        best = left if here < there else right
        cands[put, 0], cands[put, 1] = cands[best, 0], cands[best, 1]
        put += 1
        left -= here <= there
        right -= there <= here
    for i in range(put - end):
        cands[first + i, 0], cands[first + i, 1] = cands[end + i, 0], cands[end + i, 1]
    return first + put - end


@kernel
def _limits(kind: int, old: int, new: int) -> Pair:
    """Return `ref` and `cap` of a message (see the module's header)."""
    if kind == OUT:
        return old, ABSENT
    if kind == IN:
        return new, -1
    return min(old, new), new if new > old else -1


@kernel
def _emit(
    nodes: I64, x: I64, core: Pair, seen: Pair, clip: Pair, kind: int, change: _Change, worse: I64, head: I64,
    bounds: I64, cands: I64, used: I64,
) -> None:  # fmt: skip
    """Write one message, unless K rows of the core are better.

    Every range of it holds the slots `core`, may hold any of `seen`, and lies within `clip`.
    """
    cause, group, old, new = change
    ref, cap = _limits(kind, old, new)
    base = _better_in(nodes, core, ref, len(worse))
    wanted = len(worse) - base
    if wanted == 0:
        return
    first, to_left, to_right = used[CANDS], (core[0] - 1, seen[0] - 1), (core[1], seen[1])
    if cap > ref:
        if core[1] - core[0] > 1:  # else it holds the row alone, which is not in the tree
            _core_cands(nodes, x, core, base, cap, len(worse), cands, used)
        inside = (first, used[CANDS])
        lefts = _walk(nodes, x, to_left, (ref, cap), wanted, inside, worse, bounds, cands, used)
        middle = used[CANDS]
        rights = _walk(nodes, x, to_right, (ref, cap), wanted, inside, worse, bounds, cands, used)
        used[CANDS] = _by_rank(cands, first, inside[1], middle, used[CANDS])
    else:
        lefts = _walk_better(nodes, x, to_left, ref, wanted, bounds, used)
        rights = _walk_better(nodes, x, to_right, ref, wanted, bounds, used)
    lo = max(clip[0], bounds[used[BOUNDS] - rights - 1] + 1) if lefts == wanted else clip[0]
    hi = min(clip[1], bounds[used[BOUNDS] - 1] - 1) if rights == wanted else clip[1]
    at, cand_count = used[HEADS], used[CANDS] - first
    head[at, 0], head[at, 1], head[at, 2] = cause, group, kind
    head[at, 3], head[at, 4], head[at, 5], head[at, 6] = lo, x[core[0]], x[core[1] - 1], hi
    head[at, 7], head[at, 8], head[at, 9], head[at, 10] = base, lefts, rights, cand_count
    head[at, 11], head[at, 12] = -1 if kind == IN else old, -1 if kind == OUT else new
    used[HEADS] = at + 1


@kernel
def _move(
    nodes: I64, x: I64, slots: Pair, group: Pair, change: _Change, worse: I64, head: I64, bounds: I64, cands: I64,
    used: I64,
) -> None:  # fmt: skip
    """Write the messages of a row that goes from one slot of its group to another."""
    everything = (INT64_MIN, INT64_MAX)
    here, there = run_at(x, slots[0], group[0], group[1]), run_at(x, slots[1], group[0], group[1])
    if x[slots[0]] == x[slots[1]]:
        _emit(nodes, x, here, group, everything, STAY, change, worse, head, bounds, cands, used)
        return
    if x[slots[0]] < x[slots[1]]:
        only_old, only_new, both = (group[0], there[0]), (here[1], group[1]), (here[0], there[1])
        clip_old, clip_new = (INT64_MIN, x[slots[1]] - 1), (x[slots[0]] + 1, INT64_MAX)
    else:
        only_old, only_new, both = (there[1], group[1]), (group[0], here[0]), (there[0], here[1])
        clip_old, clip_new = (x[slots[1]] + 1, INT64_MAX), (INT64_MIN, x[slots[0]] - 1)
    _emit(nodes, x, here, only_old, clip_old, OUT, change, worse, head, bounds, cands, used)
    _emit(nodes, x, there, only_new, clip_new, IN, change, worse, head, bounds, cands, used)
    _emit(nodes, x, both, group, everything, STAY, change, worse, head, bounds, cands, used)


@kernel
def _replay(
    nodes: I64, x: I64, group: I64, starts: I64, changes: I64, begin: int, most: int, head: I64, bounds: I64,
    cands: I64, used: I64,
) -> int:  # fmt: skip
    """Run changes in order from number `begin` on, until room may run out; return how many are done by then.

    changes: int64[5, m]: cause, old slot and rank, new slot and rank, -1 where not there. One change says at worst
    three messages; two of them have candidates (`_SPARE`).
    """
    size, everything, worse = len(nodes) >> 1, (INT64_MIN, INT64_MAX), np.empty((most, 2), np.int64)
    heads, ends, last = len(head) - 3, len(bounds) - 6 * most, len(cands) - _SPARE * len(x)
    for i in range(begin, changes.shape[1]):
        if used[HEADS] > heads or used[BOUNDS] > ends or used[CANDS] > last:
            return i
        cause, here, old, there, new = changes[0, i], changes[1, i], changes[2, i], changes[3, i], changes[4, i]
        if here >= 0:
            set_leaf(nodes, size, here, ABSENT)
        if here >= 0 and there >= 0 and group[here] == group[there]:
            g = group[here]
            own = (starts[g], starts[g + 1])
            _move(nodes, x, (here, there), own, (cause, g, old, new), worse, head, bounds, cands, used)
        else:
            for slot, kind in ((here, OUT), (there, IN)):
                if slot >= 0:
                    g = group[slot]
                    own, about = (starts[g], starts[g + 1]), (cause, g, old, new)
                    core = run_at(x, slot, own[0], own[1])
                    _emit(nodes, x, core, own, everything, kind, about, worse, head, bounds, cands, used)
        if there >= 0:
            set_leaf(nodes, size, there, new)
    return changes.shape[1]


@kernel
def _first(nodes: I64, x: I64, starts: I64, places: I64, most: I64, slots: I64, count: I64) -> int:
    """Write the slots of the first `most[i]` rows of each place (group, lo, hi), one after the other, and how many."""
    size, total = len(nodes) >> 1, 0
    heap = np.empty(_heap_size(size, most.max() if len(most) else 0), np.int64)
    for i in range(len(most)):
        count[i] = 0
        group, lo, hi = places[0, i], places[1, i], places[2, i]
        if group < 0 or lo > hi:
            continue
        begin, end = starts[group], starts[group + 1]
        first = first_at(x, begin, end, lo)
        stop = end if hi >= x[end - 1] else first_at(x, first, end, hi + 1)
        if first < stop:
            count[i] = _best_of(nodes, size, first, stop, ABSENT, slots[total : total + most[i]], heap)
        total += count[i]
    return total


ENTRIES = (_replay, _first)
"""The kernels that are called from Python; the others are compiled into them."""


def _grown(array: I64, used: int) -> I64:
    """Return a copy of what is used, with twice the room."""
    bigger = np.empty((2 * len(array), *array.shape[1:]), np.int64)
    bigger[:used] = array[:used]
    return bigger


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
        self._nodes = minima(leaves)
        self._size = len(self._nodes) // 2

    def replay(self, changes: I64, most: int) -> BestFound:
        """Run changes through the tree, in order; return their messages for all k <= most.

        changes: int64[5, m], of each its cause, old slot, old rank, new slot, new rank; -1 and -1 where there is none.
        Cost: see the module's header.
        """
        layout, used, done = self._layout, np.zeros(3, np.int64), 0
        changes, out = np.ascontiguousarray(changes), self._room(changes.shape[1], most)
        while done < changes.shape[1]:
            done = _replay(self._nodes, layout.x, layout.group, layout.starts, changes, done, most, *out, used)
            if done < changes.shape[1]:
                out = [_grown(array, count) for array, count in zip(out, used.tolist(), strict=True)]
        head, bounds, cands = (array[:count] for array, count in zip(out, used.tolist(), strict=True))
        return BestFound(head.T, bounds, cands[:, 0], cands[:, 1])

    def first(self, group: I64, lo: I64, hi: I64, most: I64) -> tuple[I64, I64]:
        """Return the slots of the first most[i] rows with lo <= x <= hi in each group (number, or -1), and how many.

        They stand one after the other, best first. Cost: O((k + log n) log k) each.
        """
        slots, count = np.empty(int(most.sum()), np.int64), np.empty(len(group), np.int64)
        places = np.stack([group, lo, hi])
        total = _first(self._nodes, self._layout.x, self._layout.starts, places, most, slots, count)
        return slots[:total], count

    def check(self, leaves: I64) -> None:
        """Assert the invariants of the module's header; `leaves` is what the owner says stands in them. Cost: O(n)."""
        check_minima(self._nodes, leaves)

    def _room(self, changes: int, most: int) -> list[I64]:
        """Return arrays for the heads, bounds and candidates of so many changes, if they say what is usual.

        What one change says at worst is room too, as the kernel makes none; pages that are not used take no memory.
        """
        heads, cands = 2 * changes + 3, 2 * most * changes + _SPARE * len(self._layout.x)
        return [
            np.empty((heads, FIELDS), np.int64),
            np.empty(2 * most * heads, np.int64),
            np.empty((cands, 2), np.int64),
        ]
