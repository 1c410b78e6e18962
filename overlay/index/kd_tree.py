"""A dynamic set of points (lo, hi) in the plane of ranges, asked by rectangles: which points are inside?

Problem. A reformulated message says "every subscription with lo in [a, b] and hi in [c, d] has a new answer". There may
be a million subscriptions, thousands of messages a second, and new subscriptions all the time.
Naive: compare all, O(n) a message, 2 ms at a million (measured with numpy masks).

Idea. A k-d tree without pointers: nodes are numbered as in a heap, leaf i owns the C places from iC on, and a
leaf has slack, a third of its places, so that most insertions write one place. A full leaf makes its lowest not too
full ancestor lay its points out anew, in its own places; only where even the root is too full the whole tree is, with
more room.

              1  split (lo, hi) = (4, 9)           points before the split go left: ordered by lo, then hi
            /   \\                                  at even depths, by hi, then lo at odd ones
           2     3     box: extent of all below    so all ties are broken, and equal coordinates split evenly
          / \\   / \\
         4   5 6   7   leaves: [p p p . ] [p p . . ] [p . . . ] [p p p p]

A query skips nodes without points or with a box apart from the rectangle, reports whole nodes whose box is
inside it, and compares the points of the leaves that remain.

Invariants (`check`): 1 cnt of a node is the sum of its children's, and a leaf has at most C points; 2 a point lies in
all boxes above it; 3 the first slot on a point knows its place; 4 a point stands on its side of every split above it.
Cost, measured at a million points: query 0.4 us plus 6 ns a result (an edge of a flat rectangle costs up to 50 us),
insertion 0.8 to 1.7 us amortised, removal 0.2 us, memory 20 bytes a place, 1.25 to 1.5 places a point.
Source: Interface paper, section 2.4, asks for any index of the (lo, hi) points; this is the one that was fastest and
smallest of five that were measured. Deviation from the textbook: splits are whole points compared
lexicographically, so that thousands of points with one `lo` still split; and boxes are extents, which shrink only
when a node is laid out anew. A tree is laid out anew when more points were removed since than are left.
"""

from __future__ import annotations

import numpy as np

from overlay.arena.growable_column import zeros
from overlay.index import index_kernels as kernels
from overlay.index.pair_buffer import Pairs, collect
from overlay.index.point_store import Points, PointStore
from state.change_batch import I32, I64

LEAF = 64


class KdTree:
    """The points of bunch `bunch`, whose slots hang in `store`, in leaves of up to `capacity` places."""

    def __init__(self, store: PointStore, bunch: int, points: Points, capacity: int = LEAF) -> None:
        self._store = store
        self._bunch = bunch
        self._capacity = capacity
        self._lay_out(points)

    def __len__(self) -> int:
        return int(self._cnt[1])

    @property
    def _width(self) -> int:
        """How many places each leaf has."""
        return len(self.heads) // len(self._split)

    @property
    def points(self) -> Points:
        """The points, leaf by leaf. Cost: O(n)."""
        filled = self._filled()
        return Points(self._leaf[0, filled], self._leaf[1, filled], self.heads[filled])

    def point(self, place: int) -> tuple[int, int]:
        """Return the point (lo, hi) at a place."""
        return int(self._leaf[0, place]), int(self._leaf[1, place])

    def insert(self, which: I64, slots: I64, lo: I64, hi: I64) -> None:
        """Hang the subscriptions `which` (indexes into the other columns) on their points, new ones where needed.

        The store has room for the slots. Cost: O(log n) amortised each.
        """
        while True:
            tree = (self._cnt, self._box, self._split, self._leaf, self.heads)
            done = kernels.tree_insert(which, self._bunch, slots, lo, hi, *tree, self._store.hung)
            which = which[done:]
            if not len(which):
                return
            self._lay_out(self.points, room=len(self) + 1)

    def remove(self, place: int) -> None:
        """Take the point at `place` out, on which nothing hangs. Cost: O(log n), and O(n log n) once in n removals."""
        kernels.tree_remove(place, self._cnt, self._leaf, self.heads, self._store.hung, len(self._split))
        self._removed += 1
        if self._removed > max(len(self), self._capacity):
            self._lay_out(self.points)

    def query(self, which: I64, bounds: I64, room: int) -> list[Pairs]:
        """Return pairs (message, slot) of the messages `which` (indexes into the columns of `bounds`), in order.

        `room` is a guess of how many there are. Cost: O(log n + found) a message for rectangles that are not thin.
        """
        tree = (self._cnt, self._box, self._leaf, self.heads, len(self._split), self._store.hung)
        return collect(room, len(which), lambda start, out: kernels.tree_query(which, bounds, start, *tree, *out))

    def check(self) -> None:
        """Check the invariants of the module's header. Raises AssertionError. Cost: O(n log n)."""
        leaves = len(self._split)
        for node in range(1, leaves):
            assert self._cnt[node] == self._cnt[2 * node] + self._cnt[2 * node + 1], (1, node, self._cnt)
        assert self._cnt[leaves:].max() <= self._width <= self._capacity, (1, self._cnt)
        for place in self._filled().tolist():
            first = int(self.heads[place])
            assert self._store.place_of(first) == place, (3, first, place)
            self._check_path(leaves + place // self._width, *self.point(place))

    def _check_path(self, node: int, x: int, y: int) -> None:
        while node >= 1:
            x0, x1, y0, y1 = self._box[node].tolist()
            assert x0 <= x <= x1 and y0 <= y <= y1, (2, node, x, y, self._box[node])
            if node > 1:
                sx, sy = self._split[node >> 1].tolist()
                by_lo = (node >> 1).bit_length() % 2 == 1
                left = (x, y) < (sx, sy) if by_lo else (y, x) < (sy, sx)
                assert left == (node % 2 == 0), (4, node, x, y, sx, sy)
            node >>= 1

    def _filled(self) -> I64:
        """Return the places that hold points."""
        leaves = self._cnt[len(self._split) :]
        full = np.arange(self._width) < leaves[:, None]
        return full.ravel().nonzero()[0]

    def _lay_out(self, points: Points, room: int = 0) -> None:
        """Build the tree of `points`, whose columns are used up, with half as much slack again and room for `room`."""
        n = len(points.head)
        places = (3 * max(n, room) + 1) // 2
        leaves = 1
        while leaves * self._capacity < places:
            leaves *= 2
        width = self._capacity if leaves == 1 else -(-places // leaves)
        self._cnt: I32 = np.zeros(2 * leaves, np.int32)
        self._box: I64 = zeros((2 * leaves, 4), np.int64)
        self._split: I64 = np.zeros((leaves, 2), np.int64)
        self._leaf: I64 = zeros((2, leaves * width), np.int64)
        self.heads: I32 = zeros(leaves * width, np.int32)
        self._removed = 0
        tree = (self._cnt, self._box, self._split, self._leaf, self.heads)
        kernels.build(1, 0, *points, n, *tree, self._store.hung)
