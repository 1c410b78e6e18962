"""The compiled loops of the tree of range sets; `range_set_tree.py` says what they mean.

All of them stand in this one file, because numba's cache does not see changes in another file's functions. They take
plain arrays, which their owner makes (writable but for what is asked, C-contiguous, of the types below); a attributes,
d = 2 a coordinates, L leaves of C places:

    hung    int32[e, 2]      entries: AFTER and BEFORE it on the same point; before the first stands ~place, OUT where
                             an entry is not in
    cnt     int32[2L]        points below a node; node 1 is the root, nodes L to 2L - 1 are the leaves
    box     int64[2L, 2d]    least and greatest of each coordinate of what is or was below; INT64_MAX and INT64_MIN
                             where nothing was
    along   int8[L]          the coordinate by which a node is split
    split   int64[L, d]      the first point of the right half
    leaf    int64[LC, d]     the points, leaf i at [iC, iC + cnt)
    head    int32[LC]        the first entry on the point at each place
    values  int64[v]         what is asked, lists end to end, each ascending
    starts  int64[q, a, 2]   where the list of each query and attribute begins and ends
"""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from state.change_batch import I32, I64
from state.order_code import INT64_MAX, INT64_MIN

I8 = npt.NDArray[np.int8]
AFTER, BEFORE = 0, 1
OUT = -(2**31)
STACK = 128
_ASKING = {"cache": True, "_nrt": False}
_ASKED = {"cache": True, "_nrt": False, "forceinline": True}
"""What a query runs allocates nothing, so it counts no references: these took a third of the time."""


@numba.njit(cache=True)
def _less(a: I64, i: int, b: I64, j: int, along: int) -> bool:
    """Whether point a[i] stands before b[j]: by the coordinate `along`, then by those after it, around."""
    d = a.shape[1]
    for k in range(d):
        c = along + k
        if c >= d:
            c -= d
        if a[i, c] != b[j, c]:
            return a[i, c] < b[j, c]
    return False


@numba.njit(cache=True)
def _same(a: I64, i: int, b: I64, j: int) -> bool:
    for c in range(a.shape[1]):  # noqa: SIM110, since numba compiles no generators here
        if a[i, c] != b[j, c]:
            return False
    return True


@numba.njit(cache=True)
def _copy(a: I64, i: int, b: I64, j: int) -> None:
    """Write point b[j] to a[i]."""
    for c in range(a.shape[1]):
        a[i, c] = b[j, c]


@numba.njit(cache=True)
def _select(points: I64, order: I64, start: int, end: int, k: int, along: int) -> None:
    """Move the point that belongs at `k` there, what stands before it to the left and after it to the right."""
    lo, hi = start, end - 1
    salt = 12345
    while lo < hi:
        salt = (salt * 1103515245 + 12345) & 0x7FFFFFFF
        pivot = order[lo + salt % (hi - lo + 1)]
        i, j = lo, hi
        while i <= j:
            while _less(points, order[i], points, pivot, along):
                i += 1
            while _less(points, pivot, points, order[j], along):
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if k <= j:
            hi = j
        elif k >= i:
            lo = i
        else:
            return


@numba.njit(cache=True)
def _write_box(box: I64, node: int, points: I64, order: I64, start: int, end: int) -> None:
    for c in range(points.shape[1]):
        box[node, 2 * c], box[node, 2 * c + 1] = INT64_MAX, INT64_MIN
        for i in range(start, end):
            value = points[order[i], c]
            box[node, 2 * c] = min(box[node, 2 * c], value)
            box[node, 2 * c + 1] = max(box[node, 2 * c + 1], value)


@numba.njit(cache=True)
def _in_need(box: I64, node: int, points: I64, order: I64, start: int, end: int) -> int:
    """Return the coordinate to split by: of the attribute whose ranges are shortest against what the node spans.

    In floats, since the width of an open range does not fit an int64.
    """
    best, along = -1.0, 0
    for a in range(points.shape[1] // 2):
        b = 4 * a
        if box[node, b] == box[node, b + 1] and box[node, b + 2] == box[node, b + 3]:
            continue
        total = 0.0
        for i in range(start, end):
            total += max(float(points[order[i], 2 * a + 1]) - float(points[order[i], 2 * a]), 0.0)
        need = max(float(box[node, b + 3]) - float(box[node, b]), 0.0) / (total / (end - start) + 1.0)
        if need > best:
            lows = float(box[node, b + 1]) - float(box[node, b])
            best, along = need, 2 * a + (lows < float(box[node, b + 3]) - float(box[node, b + 2]))
    return along


@numba.njit(cache=True)
def build(
    root: int, points: I64, heads: I32, n: int, cnt: I32, box: I64, along: I8, split: I64, leaf: I64, head: I32,
    hung: I32,
) -> None:  # fmt: skip
    """Lay n points with their first entries out below `root`. O(n log n)."""
    leaves = len(split)
    capacity = len(head) // leaves
    order = np.arange(n)
    stack = np.empty((STACK, 3), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2] = root, 0, n
    depth = 1
    while depth > 0:
        depth -= 1
        node, start, end = stack[depth, 0], stack[depth, 1], stack[depth, 2]
        cnt[node] = end - start
        _write_box(box, node, points, order, start, end)
        if node >= leaves:
            place = (node - leaves) * capacity
            for i in range(start, end):
                _copy(leaf, place, points, order[i])
                head[place] = heads[order[i]]
                hung[head[place], BEFORE] = ~place
                place += 1
            continue
        middle = start + (end - start) // 2
        along[node] = 0
        if start < end:
            along[node] = _in_need(box, node, points, order, start, end)
            _select(points, order, start, end, middle, along[node])
            _copy(split, node, points, order[middle])
        for child in range(2):
            stack[depth, 0] = 2 * node + child
            stack[depth, 1] = middle if child else start
            stack[depth, 2] = end if child else middle
            depth += 1


@numba.njit(cache=True)
def _widen(cnt: I32, box: I64, node: int, points: I64, i: int) -> None:
    """Count one point more at `node` and above, and widen the boxes."""
    while node >= 1:
        for c in range(points.shape[1]):
            value = points[i, c]
            box[node, 2 * c] = min(box[node, 2 * c], value)
            box[node, 2 * c + 1] = max(box[node, 2 * c + 1], value)
        cnt[node] += 1
        node >>= 1


@numba.njit(cache=True)
def _make_room(
    node: int, entry: int, points: I64, i: int, cnt: I32, box: I64, along: I8, split: I64, leaf: I64, head: I32,
    hung: I32,
) -> bool:  # fmt: skip
    """Lay the lowest ancestor of leaf `node` that is not too full out anew, with point i for `entry`.

    False: all are too full, and nothing was done.
    """
    leaves = len(split)
    capacity = len(head) // leaves
    height, tall = 0, 0
    while (1 << tall) < leaves:
        tall += 1
    while node > 1:
        node >>= 1
        height += 1
        if cnt[node] + 1 <= (capacity << height) * (1.0 - 0.2 * height / tall):
            break
    else:
        return False
    all_points, heads = np.empty((cnt[node] + 1, points.shape[1]), np.int64), np.empty(cnt[node] + 1, np.int32)
    _copy(all_points, 0, points, i)
    heads[0] = entry
    n = np.int64(1)  # for a literal 1 numba would compile `build` again
    for below in range(node << height, (node + 1) << height):
        place = (below - leaves) * capacity
        for k in range(place, place + cnt[below]):
            _copy(all_points, n, leaf, k)
            heads[n] = head[k]
            n += 1
    build(node, all_points, heads, n, cnt, box, along, split, leaf, head, hung)
    _widen(cnt, box, node >> 1, points, i)
    return True


@numba.njit(cache=True)
def insert(
    begin: int, entries: I64, points: I64, cnt: I32, box: I64, along: I8, split: I64, leaf: I64, head: I32, hung: I32
) -> int:
    """Hang entries from `begin` on on their points, O(log n) amortised each.

    Stops at the first one for which even the root is too full; returns how many are done.
    """
    leaves = len(split)
    capacity = len(head) // leaves
    for i in range(begin, len(entries)):
        entry = entries[i]
        node = np.int64(1)
        while node < leaves:
            node = 2 * node + (0 if _less(points, i, split, node, along[node]) else 1)
        place = (node - leaves) * capacity
        end = place + cnt[node]
        while place < end and not _same(points, i, leaf, place):
            place += 1
        hung[entry, AFTER] = -1
        if place < end:
            hung[entry, AFTER], hung[entry, BEFORE] = head[place], ~place
            hung[head[place], BEFORE] = entry
            head[place] = entry
        elif cnt[node] < capacity:
            _copy(leaf, place, points, i)
            head[place], hung[entry, BEFORE] = entry, ~place
            _widen(cnt, box, node, points, i)
        elif not _make_room(node, entry, points, i, cnt, box, along, split, leaf, head, hung):
            return i
    return len(entries)


@numba.njit(cache=True)
def _drop(place: int, cnt: I32, leaf: I64, head: I32, hung: I32, leaves: int) -> None:
    """Take the point at `place` out: the leaf's last point takes its place. O(depth)."""
    capacity = len(head) // leaves
    node = leaves + place // capacity
    last = (node - leaves) * capacity + cnt[node] - 1
    if place != last:
        _copy(leaf, place, leaf, last)
        head[place] = head[last]
        hung[head[place], BEFORE] = ~place
    while node >= 1:
        cnt[node] -= 1
        node >>= 1


@numba.njit(cache=True)
def remove(entries: I64, cnt: I32, leaf: I64, head: I32, hung: I32, leaves: int) -> int:
    """Take entries that are in off their points; return how many points went with them. O(depth) each."""
    dropped = 0
    for i in range(len(entries)):
        entry = entries[i]
        after, before = hung[entry, AFTER], hung[entry, BEFORE]
        hung[entry, AFTER], hung[entry, BEFORE] = -1, OUT
        if after >= 0:
            hung[after, BEFORE] = before
        if before >= 0:
            hung[before, AFTER] = after
        elif after >= 0:
            head[~before] = after
        else:
            _drop(~before, cnt, leaf, head, hung, leaves)
            dropped += 1
    return dropped


@numba.njit(**_ASKED)
def _first(values: I64, start: int, end: int, low: int) -> int:
    """Return where the first value >= low stands in [start, end) of `values`, `end` if none does."""
    while start < end:
        middle = (start + end) >> 1
        if values[middle] < low:
            start = middle + 1
        else:
            end = middle
    return start


@numba.njit(**_ASKED)
def _judge(values: I64, starts: I64, q: int, box: I64, node: int) -> int:
    """Return whether a query meets nothing of a node (0), maybe something (1), or all that it has (2)."""
    answer = 2
    for a in range(starts.shape[1]):
        start, end, b = starts[q, a, 0], starts[q, a, 1], 4 * a
        least, greatest = box[node, b], box[node, b + 3]
        if end - start == 1:
            value = values[start]
            if value < least or value > greatest:
                return 0
            if value < box[node, b + 1] or value > box[node, b + 2]:
                answer = 1
            continue
        at = _first(values, start, end, least)
        if at == end or values[at] > greatest:
            return 0
        if answer == 2:
            at = _first(values, at, end, box[node, b + 1])
            if at == end or values[at] > box[node, b + 2]:
                answer = 1
    return answer


@numba.njit(**_ASKED)
def _holds(values: I64, starts: I64, q: int, leaf: I64, place: int) -> bool:
    """Whether a point's ranges hold a value of each list of a query."""
    for a in range(starts.shape[1]):
        start, end = starts[q, a, 0], starts[q, a, 1]
        at = start if end - start == 1 else _first(values, start, end, leaf[place, 2 * a])
        if at == end or values[at] < leaf[place, 2 * a] or values[at] > leaf[place, 2 * a + 1]:
            return False
    return True


@numba.njit(**_ASKING)
def query(
    begin: int, values: I64, starts: I64, cnt: I32, box: I64, leaf: I64, head: I32, leaves: int, hung: I32, stack: I64,
    out_query: I64, out_entry: I32, out_place: I32,
) -> tuple[int, int]:  # fmt: skip
    """Find who is met by the queries from `begin` on. `stack`: int64[STACK], for its use.

    Returns (next, count): the first `count` entries of `out` are what the queries before `next` meet; it is less than
    the number of queries where `out` had no room for all of one.
    """
    capacity = len(head) // leaves
    count = 0
    for q in range(begin, len(starts)):
        first_of = count
        stack[0], depth = 1, 1
        for a in range(starts.shape[1]):
            if starts[q, a, 0] >= starts[q, a, 1]:
                depth = 0
        while depth > 0:
            depth -= 1
            node = stack[depth]
            answer = _judge(values, starts, q, box, node)
            if answer == 0:
                continue
            if answer == 1 and node < leaves:
                stack[depth], stack[depth + 1] = 2 * node + 1, 2 * node
                depth += 2
                continue
            first, last = node, node + 1
            while first < leaves:
                first, last = 2 * first, 2 * last
            for below in range(first, last):
                base = (below - leaves) * capacity
                for place in range(base, base + cnt[below]):
                    if answer == 2 or _holds(values, starts, q, leaf, place):
                        entry = head[place]
                        while entry >= 0:
                            if count == len(out_entry):
                                return q, first_of
                            out_query[count], out_entry[count], out_place[count] = q, entry, place
                            count += 1
                            entry = hung[entry, AFTER]
    return len(starts), count


ENTRIES = (build, insert, remove, query)
"""The kernels that are called from Python."""
