"""Distinct points (lo, hi) of all bunches, and the subscriptions' slots that hang on each.

Popular questions are asked by many: the index holds each distinct point once, so a thousand subscribers of one range
cost a query no more than their own names.

    bunch ──► point (1, 3) ──► slot 7 ──► slot 2        a small bunch is a chain of points, which stand here,
          └─► point (2, 9) ──► slot 4                   a large one a tree, where they stand (`index/kd_tree.py`)

A point has no number that holds: its first slot knows its place, and the place its first slot. So a point that is laid
out elsewhere costs one write, and one in a tree is stored there alone.

Invariants (`check`): 1 every slot that is in hangs on exactly one point, and the links back agree; 2 no point is
without a slot; 3 points of one bunch are distinct, and those of chains counted; 4 free points are chained, and counted.
Cost: 12 bytes a slot, 28 a point of a chain, and up to an eighth more as room to grow.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlay.arena.growable_column import widened
from overlay.index.index_kernels import AFTER, BEFORE, BUNCH, COUNT, FIRST, HEAD, NEXT, PREV
from state.change_batch import I32, I64


class Points(NamedTuple):
    """Points as columns: where they are, and the first slot on each."""

    lo: I64
    hi: I64
    head: I32


class PointStore:
    """The arrays that the kernels work on; the names are explained in `overlay/index/index_kernels.py`."""

    def __init__(self) -> None:
        self.xy: I64 = np.zeros((0, 2), np.int64)
        self.links: I32 = np.zeros((0, 3), np.int32)
        self.hung: I32 = np.full((0, 3), -1, np.int32)
        self.bunches: I32 = np.full((0, 3), -1, np.int32)
        self.free: I64 = np.array([-1, 0], np.int64)

    def reserve(self, slots: int, bunches: int) -> None:
        """Make room for slot numbers below `slots` and bunch numbers below `bunches`."""
        if slots > len(self.hung):
            self.hung = widened(self.hung, slots, -1)
        if bunches > len(self.bunches):
            self.bunches = widened(self.bunches, bunches, -1)

    def reserve_points(self, points: int) -> None:
        """Make room for so many new points of chains."""
        first, free = self.free.tolist()
        if free < points:
            before = len(self.xy)
            self.xy = widened(self.xy, before + points - free)
            self.links = widened(self.links, len(self.xy), -1)
            self.links[before:, NEXT] = np.arange(before + 1, len(self.xy) + 1)
            self.links[-1, NEXT] = first
            self.free[:] = before, free + len(self.xy) - before

    def bunch_of(self, slot: int) -> int:
        """Return the bunch that `slot` is in, -1 if it is not in."""
        return int(self.hung[slot, BUNCH]) if slot < len(self.hung) else -1

    def place_of(self, slot: int) -> int:
        """Return where the point of a slot that is in stands. Cost: O(slots on it)."""
        while (before := int(self.hung[slot, BEFORE])) >= 0:
            slot = before
        return ~before

    def unhang(self, slot: int, heads: I32) -> int:
        """Take a slot that is in off its point; return the place of the point if nothing hangs there now, else -1.

        `heads` has the first slot of each place where its bunch's points stand.
        """
        after, before, _ = self.hung[slot].tolist()
        self.hung[slot] = -1
        if after >= 0:
            self.hung[after, BEFORE] = before
        if before >= 0:
            self.hung[before, AFTER] = after
        elif after >= 0:
            heads[~before] = after
        else:
            return ~before
        return -1

    def drop(self, bunch: int, point: int) -> None:
        """Take a point on which nothing hangs out of its bunch's chain, and free it."""
        _, after, before = self.links[point].tolist()
        if before >= 0:
            self.links[before, NEXT] = after
        else:
            self.bunches[bunch, FIRST] = after
        if after >= 0:
            self.links[after, PREV] = before
        self.bunches[bunch, COUNT] -= 1
        self._free(point)

    def chain(self, bunch: int) -> list[int]:
        """Return the points of a bunch that is a chain."""
        points = []
        point = int(self.bunches[bunch, FIRST])
        while point >= 0:
            points.append(point)
            point = int(self.links[point, NEXT])
        return points

    def unchain(self, bunch: int) -> Points:
        """Free the points of a bunch's chain, and return them; where their slots say that they are is void."""
        chain = self.chain(bunch)
        lo, hi = self.xy[chain].T.copy()
        points = Points(lo, hi, self.links[chain, HEAD])
        for point in chain:
            self._free(point)
        self.bunches[bunch, FIRST], self.bunches[bunch, COUNT] = -1, 0
        return points

    def rechain(self, bunch: int, points: Points) -> None:
        """Make points (at least one) the chain of a bunch that has none."""
        self.reserve_points(len(points.head))
        chain = [self._take() for _ in range(len(points.head))]
        self.xy[chain, 0], self.xy[chain, 1], self.links[chain, HEAD] = points
        self.links[chain, NEXT], self.links[chain, PREV] = [*chain[1:], -1], [-1, *chain[:-1]]
        self.hung[points.head, BEFORE] = ~np.array(chain, np.int32)
        self.bunches[bunch, FIRST], self.bunches[bunch, COUNT] = chain[0], len(chain)

    def slots_from(self, head: int) -> list[int]:
        """Return the slots that hang on the point with this first slot."""
        slots = []
        while head >= 0:
            slots.append(head)
            head = int(self.hung[head, AFTER])
        return slots

    def _take(self) -> int:
        point = int(self.free[0])
        self.free[:] = self.links[point, NEXT], self.free[1] - 1
        return point

    def _free(self, point: int) -> None:
        self.links[point, NEXT] = self.free[0]
        self.free[:] = point, self.free[1] + 1

    def check(self, trees: dict[int, Points]) -> None:
        """Check the invariants of the module's header; `trees` has the points of bunches that are no chains, by place.

        Raises AssertionError. Cost: O(slots + points).
        """
        free: set[int] = set()
        point, count = self.free.tolist()
        while point >= 0 and point not in free:
            free.add(point)
            point = int(self.links[point, NEXT])
        assert len(free) == count and point < 0, (4, free)
        found: dict[int, int] = {}
        chained: list[int] = []
        for bunch in range(len(self.bunches)):
            chain = self.chain(bunch)
            assert len(chain) == max(int(self.bunches[bunch, COUNT]), 0), (3, bunch, chain)
            chained += chain
            heads = trees[bunch].head if bunch in trees else self.links[chain, HEAD]
            places = (~self.hung[heads, BEFORE]).tolist()
            assert bunch in trees or places == chain, (1, bunch, places, chain)
            xy = np.stack(trees[bunch][:2], axis=1) if bunch in trees else self.xy[chain]
            assert len({tuple(at) for at in xy.tolist()}) == len(heads), (3, bunch, xy)
            for head, place in zip(heads.tolist(), places, strict=True):
                slots = self.slots_from(head)
                assert slots, (2, bunch)
                assert self.hung[slots, BEFORE].tolist() == [~place, *slots[:-1]], (1, place, slots)
                found |= dict.fromkeys(slots, bunch)
        assert sorted([*chained, *free]) == list(range(len(self.xy))), (4, chained, free)
        hung = {slot: int(bunch) for slot, bunch in enumerate(self.hung[:, BUNCH]) if bunch >= 0}
        assert found == hung, (1, found, hung)
