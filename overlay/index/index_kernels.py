"""The compiled loops of the subscription index; `kd_tree.py` and `subscription_index.py` say what they mean.

All of them stand in this one file, because numba's cache does not see changes in another file's functions. They take
plain arrays, which their owners make (writable, C-contiguous, of the types below), never lists or objects:

    hung    int32[s, 3]    slots: AFTER and BEFORE it on the same point, BUNCH (-1: not in); before the first on a point
                           stands ~place: where the point is, in its tree or among the points of chains
    bunches int32[g, 3]    bunches: FIRST point of the chain, COUNT of its points, TREE (-1: none, a chain)
    xy      int64[p, 2]    points of chains: (lo, hi)
    links   int32[p, 3]    points of chains: HEAD first slot, NEXT and PREV point; a free one has the next free as NEXT
    free    int64[2]       first free point of chains (-1: none), and how many there are
    cnt     int32[2L]      tree: points below a node; node 1 is the root, nodes L to 2L - 1 are the leaves
    box     int64[2L, 4]   tree: least and greatest lo, least and greatest hi of what is or was below
    split   int64[L, 2]    tree: the first point of the right half
    leaf    int64[2, LC]   tree: lo and hi of the points, leaf i at [iC, iC + cnt)
    head    int32[LC]      tree: the first slot on the point at each place
    bounds  int64[4, m]    messages: lo_min, lo_max, hi_min, hi_max
"""

from __future__ import annotations

import numba
import numpy as np

from state.change_batch import I32, I64

HEAD, NEXT, PREV = 0, 1, 2
AFTER, BEFORE, BUNCH = 0, 1, 2
FIRST, COUNT, TREE = 0, 1, 2
_STACK = 256


@numba.njit(cache=True)
def _less(dim: int, ax: int, ay: int, bx: int, by: int) -> bool:
    """Whether point a stands before b: by lo, then hi where `dim` is 0; by hi, then lo where it is 1."""
    if dim == 0:
        return ax < bx or (ax == bx and ay < by)
    return ay < by or (ay == by and ax < bx)


@numba.njit(cache=True)
def _select(tx: I64, ty: I64, tp: I32, start: int, end: int, k: int, dim: int) -> None:
    """Move the point that belongs at `k` there, what stands before it to the left and after it to the right."""
    lo, hi = start, end - 1
    salt = 12345
    while lo < hi:
        salt = (salt * 1103515245 + 12345) & 0x7FFFFFFF
        pivot = lo + salt % (hi - lo + 1)
        px, py = tx[pivot], ty[pivot]
        i, j = lo, hi
        while i <= j:
            while _less(dim, tx[i], ty[i], px, py):
                i += 1
            while _less(dim, px, py, tx[j], ty[j]):
                j -= 1
            if i <= j:
                tx[i], tx[j] = tx[j], tx[i]
                ty[i], ty[j] = ty[j], ty[i]
                tp[i], tp[j] = tp[j], tp[i]
                i += 1
                j -= 1
        if k <= j:
            hi = j
        elif k >= i:
            lo = i
        else:
            return


@numba.njit(cache=True)
def _write_box(box: I64, node: int, tx: I64, ty: I64, start: int, end: int) -> None:
    for i in range(start, end):
        if i == start:
            box[node, 0] = box[node, 1] = tx[i]
            box[node, 2] = box[node, 3] = ty[i]
        else:
            box[node, 0] = min(box[node, 0], tx[i])
            box[node, 1] = max(box[node, 1], tx[i])
            box[node, 2] = min(box[node, 2], ty[i])
            box[node, 3] = max(box[node, 3], ty[i])


@numba.njit(cache=True)
def build(
    root: int,
    dim: int,
    tx: I64,
    ty: I64,
    tp: I32,
    n: int,
    cnt: I32,
    box: I64,
    split: I64,
    leaf: I64,
    head: I32,
    hung: I32,
) -> None:
    """Lay n points, (tx, ty) with first slots tp, out below `root`, whose splits begin with `dim`. O(n log n)."""
    leaves = len(split)
    capacity = len(head) // leaves
    stack = np.empty((_STACK, 4), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = root, 0, n, dim
    depth = 1
    while depth > 0:
        depth -= 1
        node, start, end, along = stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3]
        cnt[node] = end - start
        _write_box(box, node, tx, ty, start, end)
        if node >= leaves:
            place = (node - leaves) * capacity
            for i in range(start, end):
                leaf[0, place], leaf[1, place], head[place] = tx[i], ty[i], tp[i]
                hung[tp[i], BEFORE] = ~place
                place += 1
            continue
        middle = start + (end - start) // 2
        if start < end:
            _select(tx, ty, tp, start, end, middle, along)
            split[node, 0], split[node, 1] = tx[middle], ty[middle]
        for child in range(2):
            stack[depth, 0] = 2 * node + child
            stack[depth, 1] = middle if child else start
            stack[depth, 2] = end if child else middle
            stack[depth, 3] = 1 - along
            depth += 1


@numba.njit(cache=True)
def _widen(cnt: I32, box: I64, node: int, x: int, y: int) -> None:
    """Count one point more at `node` and above, and widen the boxes."""
    while node >= 1:
        if cnt[node] == 0:
            box[node, 0] = box[node, 1] = x
            box[node, 2] = box[node, 3] = y
        else:
            box[node, 0] = min(box[node, 0], x)
            box[node, 1] = max(box[node, 1], x)
            box[node, 2] = min(box[node, 2], y)
            box[node, 3] = max(box[node, 3], y)
        cnt[node] += 1
        node >>= 1


@numba.njit(cache=True)
def _make_room(
    node: int, slot: int, x: int, y: int, cnt: I32, box: I64, split: I64, leaf: I64, head: I32, hung: I32
) -> bool:
    """Lay the lowest ancestor of leaf `node` that is not too full out anew, with a point for `slot`.

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
    n = cnt[node] + 1
    tx, ty, tp = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int32)
    tx[0], ty[0], tp[0] = x, y, slot
    n = np.int64(1)  # for a literal 1 numba would compile `build` again
    for below in range(node << height, (node + 1) << height):
        place = (below - leaves) * capacity
        for i in range(place, place + cnt[below]):
            tx[n], ty[n], tp[n] = leaf[0, i], leaf[1, i], head[i]
            n += 1
    build(node, (tall - height) & 1, tx, ty, tp, n, cnt, box, split, leaf, head, hung)
    _widen(cnt, box, node >> 1, x, y)
    return True


@numba.njit(cache=True)
def _hang(slot: int, bunch: int, first: int, place: int, hung: I32) -> None:
    """Hang a slot on the point at `place`, before `first` (-1: it is alone)."""
    hung[slot, AFTER], hung[slot, BEFORE], hung[slot, BUNCH] = first, ~place, bunch
    if first >= 0:
        hung[first, BEFORE] = slot


@numba.njit(cache=True)
def _new_point(bunch: int, x: int, y: int, xy: I64, links: I32, bunches: I32, free: I64) -> int:
    """Begin the chain of a bunch with (x, y), at a free point; the caller has made sure that there is one."""
    point = free[0]
    free[0] = links[point, NEXT]
    free[1] -= 1
    xy[point, 0], xy[point, 1] = x, y
    first = bunches[bunch, FIRST]
    links[point, HEAD], links[point, NEXT], links[point, PREV] = -1, first, -1
    if first >= 0:
        links[first, PREV] = point
    bunches[bunch, FIRST] = point
    bunches[bunch, COUNT] += 1
    return point


@numba.njit(cache=True)
def chain_insert(
    which: I64,
    number: I64,
    slots: I64,
    lo: I64,
    hi: I64,
    small: int,
    xy: I64,
    links: I32,
    hung: I32,
    bunches: I32,
    free: I64,
) -> int:
    """Hang the chosen subscriptions on the chains of their bunches, O(points of the bunch) each.

    Stops at the first one whose bunch has `small` points already and would get another; returns how many are done.
    """
    for w in range(len(which)):
        i = which[w]
        bunch = number[i]
        point = bunches[bunch, FIRST]
        while point >= 0 and (xy[point, 0] != lo[i] or xy[point, 1] != hi[i]):
            point = links[point, NEXT]
        if point < 0:
            if bunches[bunch, COUNT] >= small:
                return w
            point = _new_point(bunch, lo[i], hi[i], xy, links, bunches, free)
        _hang(slots[i], bunch, links[point, HEAD], point, hung)
        links[point, HEAD] = slots[i]
    return len(which)


@numba.njit(cache=True)
def tree_insert(
    which: I64,
    bunch: int,
    slots: I64,
    lo: I64,
    hi: I64,
    cnt: I32,
    box: I64,
    split: I64,
    leaf: I64,
    head: I32,
    hung: I32,
) -> int:
    """Hang the chosen subscriptions, all of one bunch, on the points of its tree, O(log n) amortised each.

    Stops at the first one for which even the root is too full; returns how many are done.
    """
    leaves = len(split)
    capacity = len(head) // leaves
    for w in range(len(which)):
        i = which[w]
        x, y, slot = lo[i], hi[i], slots[i]
        node, dim = 1, 0
        while node < leaves:
            node = 2 * node + (0 if _less(dim, x, y, split[node, 0], split[node, 1]) else 1)
            dim = 1 - dim
        base = (node - leaves) * capacity
        end = base + cnt[node]
        place = base
        while place < end and (leaf[0, place] != x or leaf[1, place] != y):
            place += 1
        if place < end:
            _hang(slot, bunch, head[place], place, hung)
            head[place] = slot
        elif cnt[node] < capacity:
            leaf[0, place], leaf[1, place], head[place] = x, y, slot
            _hang(slot, bunch, -1, place, hung)
            _widen(cnt, box, node, x, y)
        elif _make_room(node, slot, x, y, cnt, box, split, leaf, head, hung):
            hung[slot, AFTER], hung[slot, BUNCH] = -1, bunch
        else:
            return w
    return len(which)


@numba.njit(cache=True)
def tree_remove(place: int, cnt: I32, leaf: I64, head: I32, hung: I32, leaves: int) -> None:
    """Take the point at `place` out: the leaf's last point takes its place. O(depth)."""
    capacity = len(head) // leaves
    node = leaves + place // capacity
    last = (node - leaves) * capacity + cnt[node] - 1
    if place != last:
        leaf[0, place], leaf[1, place], head[place] = leaf[0, last], leaf[1, last], head[last]
        hung[head[place], BEFORE] = ~place
    while node >= 1:
        cnt[node] -= 1
        node >>= 1


@numba.njit(cache=True)
def chain_query(
    which: I64,
    number: I64,
    bounds: I64,
    start: int,
    bunches: I32,
    xy: I64,
    links: I32,
    hung: I32,
    out_message: I64,
    out_slot: I32,
) -> tuple[int, int]:
    """Find who is met by the chosen messages from `start` on, among the chains of their bunches.

    Returns (next, count): the first `count` entries of `out` are the pairs of messages before `next`; it is less than
    the number of messages where `out` had no room for all pairs of one.
    """
    count = 0
    for w in range(start, len(which)):
        i = which[w]
        begin = count
        point = bunches[number[i], FIRST]
        while point >= 0:
            x, y = xy[point, 0], xy[point, 1]
            if bounds[0, i] <= x <= bounds[1, i] and bounds[2, i] <= y <= bounds[3, i]:
                slot = links[point, HEAD]
                while slot >= 0:
                    if count == len(out_slot):
                        return w, begin
                    out_message[count], out_slot[count] = i, slot
                    count += 1
                    slot = hung[slot, AFTER]
            point = links[point, NEXT]
    return len(which), count


@numba.njit(cache=True)
def tree_query(
    which: I64,
    bounds: I64,
    start: int,
    cnt: I32,
    box: I64,
    leaf: I64,
    head: I32,
    leaves: int,
    hung: I32,
    out_message: I64,
    out_slot: I32,
) -> tuple[int, int]:
    """Find who is met by the chosen messages from `start` on, in one tree. Returns as `chain_query`."""
    capacity = len(head) // leaves
    stack = np.empty(_STACK, np.int64)
    count = 0
    for w in range(start, len(which)):
        i = which[w]
        begin = count
        x0, x1, y0, y1 = bounds[0, i], bounds[1, i], bounds[2, i], bounds[3, i]
        stack[0] = 1
        depth = 1
        while depth > 0:
            depth -= 1
            node = stack[depth]
            if cnt[node] == 0 or box[node, 0] > x1 or box[node, 1] < x0 or box[node, 2] > y1 or box[node, 3] < y0:
                continue
            inside = x0 <= box[node, 0] and box[node, 1] <= x1 and y0 <= box[node, 2] and box[node, 3] <= y1
            if node < leaves and not inside:
                stack[depth], stack[depth + 1] = 2 * node + 1, 2 * node
                depth += 2
                continue
            first, end = node, node + 1
            while first < leaves:
                first, end = 2 * first, 2 * end
            for below in range(first, end):
                base = (below - leaves) * capacity
                for place in range(base, base + cnt[below]):
                    x, y = leaf[0, place], leaf[1, place]
                    if inside or (x0 <= x <= x1 and y0 <= y <= y1):
                        slot = head[place]
                        while slot >= 0:
                            if count == len(out_slot):
                                return w, begin
                            out_message[count], out_slot[count] = i, slot
                            count += 1
                            slot = hung[slot, AFTER]
    return len(which), count


ENTRIES = (build, chain_insert, tree_insert, tree_remove, chain_query, tree_query)
