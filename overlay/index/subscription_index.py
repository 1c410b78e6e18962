"""Which subscriptions does a message meet? All of a virtual edge's, by domain, group, hearer and range.

Problem. A message names a channel, a group ("exchange = NYSE") and a rectangle in the plane of ranges; everyone of that
group who hears the channel and whose point (lo, hi) is inside has a new answer. Most groups are small, a few may be
huge, many subscribers ask the very same, and a batch brings messages for thousands of groups, most of which nobody asks
about.

Idea. The points of those who hear the same channels, one *hearer*, in one group are a *bunch*, and which bunches a
message is for is looked up at once (`overlay/index/domain_groups.py`). All bunches share one table of distinct points
with the subscribers hanging on each (`overlay/index/point_store.py`). A bunch with few points is a chain, walked by
every message for it; beyond `small` points it becomes a k-d tree (`overlay/index/kd_tree.py`), and a chain again when
it has shrunk to a quarter. All chains are asked in one call, whatever the number of bunches; trees are asked one by
one, each with its messages.

    messages  b2 b7 b2 b1 b9        numbers of bunches, -1 where nobody is (dropped at once)
              │  │  │  │
              │  └──┼──┴──► chains of b1, b7: one compiled call
              └─────┴─────► tree of b2: one call for both messages
    pairs     (0, slot) (0, slot) (1, slot) (2, slot) ...        in the order of messages

Invariants (`check`), beside those of the parts: 1 a bunch is there if and only if somebody is in it; 2 a tree holds
exactly the points of its bunch, and is there only above `small` / 4 points; 3 what is in is found by its own point.
Cost: a chain costs 2 ns a point and message, trees as they say; 50 us a batch and 20 us a tree that is asked; insertion
1-3 us, removal 3 us. Memory: 12 bytes a subscription, 25-40 a distinct point, 28 a bunch, 250 a domain and group.
Source: Interface paper, section 2.4 (the subscription index of a server).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from overlay.index import domain_kernels
from overlay.index import index_kernels as kernels
from overlay.index.domain_groups import DomainGroups
from overlay.index.index_kernels import BUNCH, COUNT, HEAD, TREE
from overlay.index.kd_tree import LEAF, KdTree
from overlay.index.pair_buffer import Pairs, collect, in_order
from overlay.index.point_store import PointStore
from state.change_batch import I64

SMALL = 64
_NARROW = 2**16
"""Numbers below are sorted in O(n)."""


class SubscriptionIndex:
    """Slots by domain number, group, hearer number and (lo, hi). `small`, `leaf`: see the header; in tests tiny."""

    def __init__(self, small: int = SMALL, leaf: int = LEAF) -> None:
        self._small = small
        self._leaf = leaf
        self.clear()

    def clear(self) -> None:
        """Take everything out."""
        self._store = PointStore()
        self.groups = DomainGroups()
        self._trees: dict[int, KdTree] = {}
        self._size = 0
        self._pairs_a_message = 1.0

    def __len__(self) -> int:
        return self._size

    def __contains__(self, slot: int) -> bool:
        return self._store.bunch_of(slot) >= 0

    def slots(self) -> list[int]:
        """Return all slots that are in. Cost: O(slots)."""
        return (self._store.hung[:, BUNCH] >= 0).nonzero()[0].tolist()

    def point(self, slot: int) -> tuple[int, int]:
        """Return the point (lo, hi) of a slot that is in. Cost: O(slots on it)."""
        place = self._store.place_of(slot)
        tree = self._trees.get(self._store.bunch_of(slot))
        if tree is not None:
            return tree.point(place)
        lo, hi = self._store.xy[place].tolist()
        return lo, hi

    def insert(self, slots: I64, domains: I64, groups: Sequence[bytes], hearers: I64, lo: I64, hi: I64) -> None:
        """Put slots in, none of which is in; a hearer is always of the same domain.

        Cost: about 1 us each, amortised, and 10 us a call.
        """
        if not len(slots):
            return
        numbers, new = self.groups.enter(domains, groups, hearers)
        self._store.reserve(int(slots.max()) + 1, self.groups.size)
        self._store.bunches[new] = (-1, 0, -1)
        self._size += len(slots)
        columns = (np.ascontiguousarray(slots), np.ascontiguousarray(lo), np.ascontiguousarray(hi))
        self._into_chains(numbers, *columns)
        left = (self._store.hung[slots, BUNCH] < 0).nonzero()[0]
        for number, which in _by_number(numbers, left):
            self._trees[number].insert(which, *columns)

    def remove(self, slot: int) -> bool:
        """Take a slot out; return whether it was in. Cost: O(log points of its bunch)."""
        store = self._store
        number = store.bunch_of(slot)
        if number < 0:
            return False
        self._size -= 1
        tree = self._trees.get(number)
        place = store.unhang(slot, store.links[:, HEAD] if tree is None else tree.heads)
        if place < 0:
            return True
        if tree is None:
            store.drop(number, place)
        else:
            tree.remove(place)
            if len(tree) <= self._small // 4:
                self._to_chain(number, tree)
        if number not in self._trees and not store.bunches[number, COUNT]:
            self.groups.leave(number)
        return True

    def query(self, bunches: I64, lo_min: I64, lo_max: I64, hi_min: I64, hi_max: I64) -> Pairs:
        """Return the pairs (index of a message, slot it meets), in the order of messages.

        `bunches[i]` is the number of the bunch that message i is for, or -1; its rectangle is closed on all sides.
        """
        bounds = np.ascontiguousarray(np.stack([lo_min, lo_max, hi_min, hi_max]))
        heard = (bunches >= 0).nonzero()[0]
        if not len(heard):
            return in_order([])
        in_tree = self._store.bunches[bunches[heard], TREE] >= 0
        pieces = self._ask_chains(heard[~in_tree], np.ascontiguousarray(bunches), bounds)
        for number, which in _by_number(bunches, heard[in_tree]):
            pieces += self._trees[number].query(which, bounds, self._guess(len(which)))
        pairs = in_order(pieces)
        self._pairs_a_message = len(pairs[0]) / len(heard)
        return pairs

    def _into_chains(self, numbers: I64, slots: I64, lo: I64, hi: I64) -> None:
        """Hang what belongs to chains; a chain that would get too long becomes a tree, and is then left alone."""
        store = self._store
        which = (store.bunches[numbers, TREE] < 0).nonzero()[0]
        _, counts = np.unique(numbers[which], return_counts=True)
        store.reserve_points(int(np.minimum(counts, self._small).sum()))
        while True:  # `which`: what is still to be hung, in order
            which = which[store.bunches[numbers[which], TREE] < 0]
            shared = (store.xy, store.links, store.hung, store.bunches, store.free)
            done = kernels.chain_insert(which, numbers, slots, lo, hi, self._small, *shared)
            if done == len(which):
                return
            self._to_tree(int(numbers[which[done]]))
            which = which[done:]

    def _to_tree(self, number: int) -> None:
        """Move the points of a chain to a tree."""
        points = self._store.unchain(number)
        self._store.bunches[number, TREE] = number
        self._trees[number] = KdTree(self._store, number, points, self._leaf)

    def _to_chain(self, number: int, tree: KdTree) -> None:
        """Make what is left of a tree a chain; it may be empty, where `small` is tiny."""
        del self._trees[number]
        self._store.bunches[number, TREE] = -1
        if len(tree):
            self._store.rechain(number, tree.points)

    def _ask_chains(self, which: I64, bunches: I64, bounds: I64) -> list[Pairs]:
        store = self._store
        return collect(
            self._guess(len(which)),
            len(which),
            lambda start, out: kernels.chain_query(
                which, bunches, bounds, start, store.bunches, store.xy, store.links, store.hung, *out
            ),
        )

    def _guess(self, messages: int) -> int:
        return int(messages * (self._pairs_a_message + 1))

    def check(self) -> None:
        """Check the invariants of the module's header and of the parts. Raises AssertionError. Cost: O(n log n)."""
        slots = self.slots()
        assert len(slots) == self._size, f"1: {self._size} are counted, in are {slots}"
        numbers = self._store.hung[slots, BUNCH].astype(np.int64)
        self.groups.check(set(numbers.tolist()))
        for number, tree in self._trees.items():
            tree.check()
            assert len(tree) > self._small // 4, f"2: bunch {number} has a tree of {len(tree)} points"
            assert self._store.bunches[number, TREE] >= 0, f"2: bunch {number} has a tree, and says that it is a chain"
        self._store.check({number: tree.points for number, tree in self._trees.items()})
        lo, hi = np.array([self.point(slot) for slot in slots], np.int64).reshape(-1, 2).T
        message, slot = self.query(numbers, lo, lo, hi, hi)
        lost = set(enumerate(slots)) - set(zip(message.tolist(), slot.tolist(), strict=True))
        assert not lost, f"3: (number, slot) that are not found by their own points: {lost}"


def warm() -> None:
    """Compile the kernels or load them from numba's cache, and refuse further specialisations of them.

    Whoever must not wait in the middle of a batch calls it first. Cost: seconds where no cache is, else 0.3 s.
    """
    index = SubscriptionIndex(small=2, leaf=2)
    slots = np.arange(9)
    hearers = np.minimum(slots, 1)
    index.insert(slots, np.zeros(9, np.int64), [b""] * 9, hearers, slots, slots)
    index.groups.heard(np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones((1, 2), np.bool_))
    index.query(hearers, slots, slots, slots, slots)
    for slot in range(9):
        index.remove(slot)
    for kernel in (*kernels.ENTRIES, *domain_kernels.ENTRIES):
        if hasattr(kernel, "disable_compile"):
            kernel.disable_compile()


def _by_number(numbers: I64, which: I64) -> list[tuple[int, I64]]:
    """Return each number with those of `which` that have it, in order."""
    if not len(which):
        return []
    asked = numbers[which]
    order = np.argsort(asked.astype(np.uint16) if asked.max() < _NARROW else asked, kind="stable")
    chosen = which[order]
    sorted_numbers = numbers[chosen]
    starts = np.flatnonzero(np.append(True, sorted_numbers[1:] != sorted_numbers[:-1]))
    parts = np.split(chosen, starts[1:])
    return [
        (int(number), np.ascontiguousarray(part)) for number, part in zip(sorted_numbers[starts], parts, strict=True)
    ]
