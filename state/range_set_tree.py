"""A dynamic set of boxes, one range an attribute, asked by lists of values: which hold one of each list?

Problem. A change of a row of a join has a value of its own, and its partners have many. Who is concerned holds the own
value in the range over its table, and *some* partner's in the range over theirs. There may be a million subscriptions.
Naive: compare all. Asking once a partner meets the same subscription again with each of them.

Idea. A subscription is a point of the coordinates lo and hi of each attribute, in a k-d tree laid out as that of ranges
(`overlay/index/kd_tree.py`): nodes are numbered as in a heap, leaf i owns the C places from iC on and has slack, a full
leaf makes its lowest not too full ancestor lay its points out anew. A query has one ascending list an attribute:

      lo      least .. greatest            node, one attribute
      hi               least .. greatest

      skipped      no value of the list lies in [least lo, greatest hi]      in some attribute
      taken whole  some value lies in [greatest lo, least hi]                in every one
      else         its halves are looked at; in a leaf, each point

so each node costs a search in each list, however many partners there are.

A node is split *by need*: by the attribute whose ranges are shortest against what the node spans, as a split by ranges
that reach across the node anyway tells nothing apart; then by lo or hi, whichever differs more. By turns instead, it
takes 20 times as long where one range is wide and the other narrow. An equality is a range of one value: it is split
first, so one tree holds many small groups as well as a large one.

Points are distinct, and entries hang on them: a thousand of one kind cost a query no more than their own numbers.

Invariants (`check`): 1 cnt of a node is the sum of its children's, and a leaf has at most C points; 2 a point lies in
all boxes above it; 3 every entry that is in hangs on one point, and the links back agree; 4 a point stands on its side
of every split above it; 5 points are distinct.
Cost, of two ranges and 5 partners, 2 hits: 3 us a query of 100,000 points, 6 us of a million, a third less where they
are sorted. Insertion O(log n) amortised, 1 to 2 us; removal O(log n), 0.3 us; memory 75 bytes a point of two attributes
with its entry, of which up to a half is slack.
Source: as the tree of ranges; splits by need are our own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from state import range_set_kernels as kernels
from state.change_batch import I32, I64, Bool
from state.range_set_kernels import AFTER, BEFORE, OUT
from state.read_only import read_only

LEAF = 32
_LEAST_ROOM = 1_024
_GROWTH = 8
"""How many more points than there are a tree is laid out for at most: those that are there say where to split."""


class Met(NamedTuple):
    """query: int64[h], ascending.  entry: int32[h], who is met.  point: int64[h, 2 a], lo and hi an attribute."""

    query: I64
    entry: I32
    point: I64


class RangeSetTree:
    """Entries, numbers from 0 on, at points of `attributes` ranges; leaves have up to `capacity` places."""

    def __init__(self, attributes: int, capacity: int = LEAF) -> None:
        self._attributes = attributes
        self._capacity = capacity
        self._hung: I32 = np.empty((0, 2), np.int32)
        self._size = 0
        self._met_a_query = 1.0
        self._lay_out(np.empty((0, 2 * attributes), np.int64), np.empty(0, np.int32), 0)

    def __len__(self) -> int:
        """How many entries are in."""
        return self._size

    @property
    def nbytes(self) -> int:
        """Bytes of everything."""
        return sum(array.nbytes for array in (*self._tree, self._along, self._split, self._hung))

    def has(self, entries: I64) -> Bool:
        """Whether each of `entries` is in."""
        known = entries < len(self._hung)
        there = np.zeros(len(entries), np.bool_)
        there[known] = self._hung[entries[known], BEFORE] != OUT
        return there

    def insert(self, entries: I64, points: I64) -> None:
        """Put entries in, none of which is in. `points`: int64[n, 2 a], lo and hi of each attribute, both included.

        Cost: O(log n) amortised each.
        """
        if not len(entries):
            return
        self._reserve(int(entries.max()) + 1)
        entries, points = np.array(entries, np.int64), np.array(points, np.int64, order="C")
        self._size += len(entries)
        done = 0
        while True:
            cnt, box, leaf, head = self._tree
            done = kernels.insert(done, entries, points, cnt, box, self._along, self._split, leaf, head, self._hung)
            if done == len(entries):
                return
            points_in, heads = self._points()
            self._lay_out(points_in, heads, room=min(len(entries) - done, _GROWTH * len(heads)) + 1)

    def remove(self, entries: I64) -> None:
        """Take entries out, all of which are in. Cost: O(log n) each, and O(n log n) once in n removals."""
        cnt, _, leaf, head = self._tree
        entries = np.array(entries, np.int64)
        self._removed += kernels.remove(entries, cnt, leaf, head, self._hung, len(self._split))
        self._size -= len(entries)
        if self._removed > max(int(cnt[1]), self._capacity):
            self._lay_out(*self._points(), room=0)

    def query(self, values: I64, starts: I64) -> Met:
        """Return whom each query meets, in the order of queries.

        values: lists end to end, each ascending.  starts: int64[q, a, 2], from where to where in `values` the list of
        each query and attribute stands; one that is empty meets nobody. Cost: see the module's header.
        """
        cnt, box, leaf, head = self._tree
        values, starts, stack = read_only(values), read_only(starts), np.empty(kernels.STACK, np.int64)
        pieces, begin, room = [], 0, int(len(starts) * (self._met_a_query + 1)) + _LEAST_ROOM
        while begin < len(starts):
            out = np.empty(room, np.int64), np.empty(room, np.int32), np.empty(room, np.int32)
            begin, count = kernels.query(
                begin, values, starts, cnt, box, leaf, head, len(self._split), self._hung, stack, *out
            )
            pieces.append(Met(out[0][:count], out[1][:count], leaf[out[2][:count]]))
            room *= 2
        if not pieces:
            return Met(np.empty(0, np.int64), np.empty(0, np.int32), leaf[:0])
        met = pieces[0] if len(pieces) == 1 else Met(*map(np.concatenate, zip(*pieces, strict=True)))
        self._met_a_query = len(met.query) / len(starts)
        return met

    @property
    def _tree(self) -> tuple[I32, I64, I64, I32]:
        return self._cnt, self._box, self._leaf, self._head

    def _points(self) -> tuple[I64, I32]:
        """Return the points and the first entry on each. Cost: O(n)."""
        filled = self._filled()
        return self._leaf[filled], self._head[filled]

    def _filled(self) -> I64:
        """Return the places that hold points."""
        leaves = self._cnt[len(self._split) :]
        full = np.arange(len(self._head) // len(self._split)) < leaves[:, None]
        return full.ravel().nonzero()[0]

    def _reserve(self, entries: int) -> None:
        if entries > len(self._hung):
            wider = np.empty((max(entries, len(self._hung) * 9 // 8), 2), np.int32)
            wider[: len(self._hung)] = self._hung
            wider[len(self._hung) :] = -1, OUT
            self._hung = wider

    def _lay_out(self, points: I64, heads: I32, room: int) -> None:
        """Build the tree of `points`, with half as much slack again, and room for so many more."""
        n, d = len(points), 2 * self._attributes
        places = (3 * (n + room) + 1) // 2
        leaves = 1
        while leaves * self._capacity < places:
            leaves *= 2
        width = self._capacity if leaves == 1 else -(-places // leaves)
        self._cnt: I32 = np.zeros(2 * leaves, np.int32)
        self._box: I64 = np.zeros((2 * leaves, 2 * d), np.int64)
        self._along = np.zeros(leaves, np.int8)
        self._split: I64 = np.zeros((leaves, d), np.int64)
        self._leaf: I64 = np.zeros((leaves * width, d), np.int64)
        self._head: I32 = np.zeros(leaves * width, np.int32)
        self._removed = 0
        cnt, box, leaf, head = self._tree
        kernels.build(1, points, heads, n, cnt, box, self._along, self._split, leaf, head, self._hung)

    def check(self) -> None:
        """Check the invariants of the module's header. Raises AssertionError. Cost: O(n log n)."""
        leaves, width = len(self._split), len(self._head) // len(self._split)
        for node in range(1, leaves):
            assert self._cnt[node] == self._cnt[2 * node] + self._cnt[2 * node + 1], (1, node, self._cnt)
        assert self._cnt[leaves:].max() <= width <= self._capacity, (1, self._cnt)
        filled = self._filled()
        hanging = 0
        for place in filled.tolist():
            entry, before = int(self._head[place]), ~place
            while entry >= 0:
                assert self._hung[entry, BEFORE] == before, (3, place, entry, before)
                entry, before, hanging = int(self._hung[entry, AFTER]), entry, hanging + 1
            self._check_path(leaves + place // width, self._leaf[place].tolist())
        assert hanging == len(self) == int((self._hung[:, BEFORE] != OUT).sum()), (3, hanging, len(self))
        assert len({tuple(point) for point in self._leaf[filled].tolist()}) == len(filled), (5, self._leaf[filled])

    def _check_path(self, node: int, point: list[int]) -> None:
        while node >= 1:
            least, greatest = self._box[node, ::2].tolist(), self._box[node, 1::2].tolist()
            inside = all(a <= v <= b for a, v, b in zip(least, point, greatest, strict=True))
            assert inside, (2, node, point, self._box[node])
            if node > 1:
                along, split = int(self._along[node >> 1]), self._split[node >> 1].tolist()
                left = point[along:] + point[:along] < split[along:] + split[:along]
                assert left == (node % 2 == 0), (4, node, point, split)
            node >>= 1


def warm() -> None:
    """Compile the kernels or load them from numba's cache, and refuse further specialisations of them.

    Cost: seconds where no cache is, else 0.2 s.
    """
    tree = RangeSetTree(1, 2)
    entries = np.arange(9)
    tree.insert(entries, np.stack([entries, entries], axis=1))
    tree.query(entries, np.array([[[0, 2]]]))
    tree.remove(entries)
    for kernel in kernels.ENTRIES:
        if hasattr(kernel, "disable_compile"):
            kernel.disable_compile()
