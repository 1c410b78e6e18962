"""Distinct points (lo, hi) of all groups, and the subscriptions' slots that hang on each.

Popular questions are asked by many: the index holds each distinct point once, so a thousand subscribers of one range
cost a query no more than their own names.

    group ──► point (1, 3) ──► slot 7 ──► slot 2        a small group is a chain of points,
          └─► point (2, 9) ──► slot 4                   a large one a tree (`overlay/kd_tree.py`)

Invariants (`check`): 1 every slot that is in hangs on exactly one point, and the links back agree; 2 no point is
without a slot; 3 points of one group are distinct, and counted; 4 free points are chained, and counted.
Cost: 12 bytes a slot, 32 a point, and up to an eighth more as room to grow.
"""

from __future__ import annotations

import numpy as np

from overlay.column import widened
from overlay.index_kernels import AFTER, BEFORE, COUNT, FIRST, GROUP, HEAD, NEXT, POINT, PREV, TREE
from state.change_batch import I32, I64


class PointStore:
    """The arrays that the kernels work on; the names are explained in `overlay/index_kernels.py`."""

    def __init__(self) -> None:
        self.xy: I64 = np.zeros((0, 2), np.int64)
        self.links: I32 = np.zeros((0, 4), np.int32)
        self.hung: I32 = np.full((0, 3), -1, np.int32)
        self.groups: I32 = np.full((0, 3), -1, np.int32)
        self.free: I64 = np.array([-1, 0], np.int64)

    def reserve(self, slots: int, points: int, groups: int) -> None:
        """Make room for slot numbers below `slots`, `points` new points and group numbers below `groups`."""
        if slots > len(self.hung):
            self.hung = widened(self.hung, slots, -1)
        if groups > len(self.groups):
            self.groups = widened(self.groups, groups, -1)
        first, free = self.free.tolist()
        if free < points:
            before = len(self.xy)
            self.xy = widened(self.xy, before + points - free)
            self.links = widened(self.links, len(self.xy), -1)
            self.links[before:, NEXT] = np.arange(before + 1, len(self.xy) + 1)
            self.links[-1, NEXT] = first
            self.free[:] = before, free + len(self.xy) - before

    def point_of(self, slot: int) -> int:
        """Return the point that `slot` hangs on, -1 if it is not in."""
        return int(self.hung[slot, POINT]) if slot < len(self.hung) else -1

    def unhang(self, slot: int) -> int:
        """Take a slot that is in off its point; return the point if nothing hangs on it any more, else -1."""
        after, before, point = self.hung[slot].tolist()
        if before >= 0:
            self.hung[before, AFTER] = after
        else:
            self.links[point, HEAD] = after
        if after >= 0:
            self.hung[after, BEFORE] = before
        self.hung[slot] = -1
        return point if before < 0 and after < 0 else -1

    def drop(self, point: int) -> None:
        """Free a point on which nothing hangs, and take it out of its group's chain if it is in one."""
        _, after, before, group = self.links[point].tolist()
        if self.groups[group, TREE] < 0:
            if before >= 0:
                self.links[before, NEXT] = after
            else:
                self.groups[group, FIRST] = after
            if after >= 0:
                self.links[after, PREV] = before
        self.groups[group, COUNT] -= 1
        self.links[point, NEXT] = self.free[0]
        self.free[:] = point, self.free[1] + 1

    def chain(self, group: int) -> list[int]:
        """Return the points of a group that is a chain."""
        points = []
        point = int(self.groups[group, FIRST])
        while point >= 0:
            points.append(point)
            point = int(self.links[point, NEXT])
        return points

    def unchain(self, group: int) -> I32:
        """Take a group's points out of its chain and return them."""
        points = np.array(self.chain(group), np.int32)
        self.links[points, NEXT] = self.links[points, PREV] = -1
        self.groups[group, FIRST] = -1
        return points

    def rechain(self, group: int, points: I32) -> None:
        """Make points of a group (at least one) its chain."""
        self.links[points[:-1], NEXT], self.links[points[1:], PREV] = points[1:], points[:-1]
        self.links[points[-1], NEXT] = self.links[points[0], PREV] = -1
        self.groups[group, FIRST] = points[0]

    def slots_of(self, point: int) -> list[int]:
        """Return the slots that hang on a point."""
        slots = []
        slot = int(self.links[point, HEAD])
        while slot >= 0:
            slots.append(slot)
            slot = int(self.hung[slot, AFTER])
        return slots

    def check(self) -> None:
        """Check the invariants of the module's header. Raises AssertionError. Cost: O(slots + points)."""
        free: set[int] = set()
        point, count = self.free.tolist()
        while point >= 0 and point not in free:
            free.add(point)
            point = int(self.links[point, NEXT])
        used = [point for point in range(len(self.xy)) if point not in free]
        assert len(free) == count and point < 0, (4, free)
        found: dict[int, int] = {}
        for point in used:
            slots = self.slots_of(point)
            assert slots, (2, point)
            assert [int(s) for s in self.hung[slots, BEFORE]] == [-1, *slots[:-1]], (1, point, slots)
            found |= dict.fromkeys(slots, point)
        hung = {slot: int(point) for slot, point in enumerate(self.hung[:, POINT]) if point >= 0}
        assert found == hung, (1, found, hung)
        seen = {(int(self.links[point, GROUP]), *self.xy[point].tolist()) for point in used}
        assert len(seen) == len(used), (3, seen)
        counts = np.bincount(self.links[used, GROUP], minlength=len(self.groups)) if used else 0
        assert (np.maximum(self.groups[:, COUNT], 0) == counts).all(), (3, self.groups, counts)
