"""Which bunches of the index a message is for: all that its domain and group name, whatever their SELECT lists.

Problem. The index keeps the points of each *hearer* in a group apart, in *bunches*, so that a message about MAX(price)
passes over those who ask MIN(price). A hearer is all shapes that hear the same channels: the first three rows and the
first five. A message names a channel and a group; a hundred SELECT lists over one domain (relation, equalities, range
attribute) may be a hundred hearers, most of which have the channel. To look up each one's bunch took 1 us each.

Idea. A message is looked up once, by (domain, group). What stands there, a *domain group*, is a chain of bunches, one
for each hearer that is there, walked by a compiled loop that takes those who hear the channel.

    (t by k range x, NYSE) ──► 4: MIN(price) ──► 7: MIN(price), COUNT(*) ──► 2: COUNT(*)
    message (min price) ──────────►│──────────────────►│

Invariants (`check`): 1 a domain group is there if and only if it has members; 2 its members have different hearers,
know it as their owner, and their links back agree; 3 free numbers are known as such.
Cost: 0.4 us to look a (domain, group) up, then 5 ns a member and channel; 250 bytes a domain group, 16 a member.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from overlay.arena.growable_column import widened
from overlay.index import domain_kernels as kernels
from overlay.index.domain_kernels import HEARER, NEXT, OWNER, PREV
from state.change_batch import I32, I64, Bool


class Heard(NamedTuple):
    """Who hears: of each thing asked how many bunches, and these one after the other."""

    counts: I64
    bunches: I64


class DomainGroups:
    """Numbers of the index's bunches by domain, group and hearer. Numbers are small and are used again."""

    def __init__(self) -> None:
        self._owners: dict[tuple[int, bytes], int] = {}
        self._keys: list[tuple[int, bytes] | None] = []
        self._free_owners: list[int] = []
        self._first: I32 = np.full(0, -1, np.int32)
        self._members: I32 = np.full((0, 4), -1, np.int32)
        self._free: list[int] = []
        self._size = 0

    @property
    def size(self) -> int:
        """All numbers of bunches are below it."""
        return self._size

    def owner(self, domain: int, group: bytes) -> int:
        """Return the number of a domain group, -1 where nobody is in it; it holds until `enter` or `leave`."""
        return self._owners.get((domain, group), -1)

    def number(self, domain: int, group: bytes, hearer: int) -> int:
        """Return the number of a hearer's bunch, -1 where nobody is in it; it holds until `enter` or `leave`."""
        owner = self.owner(domain, group)
        return int(self._find(np.array([owner]), np.array([hearer]))[0]) if owner >= 0 else -1

    def heard(self, owners: I64, channels: I64, hears: Bool) -> Heard:
        """Return the bunches in each of `owners` (-1: none) who hear the channel beside it.

        `hears[channel, hearer]` says who hears what. Cost: 5 ns a member.
        """
        counts = np.empty(len(owners), np.int64)
        asked = (owners, channels, hears, self._first, self._members)
        kernels.count_heard(*asked, counts)
        bunches = np.empty(int(counts.sum()), np.int64)
        kernels.list_heard(*asked, bunches)
        return Heard(counts, bunches)

    def enter(self, domains: I64, groups: Sequence[bytes], hearers: I64) -> tuple[I64, I64]:
        """Return the numbers of hearers' bunches, and those among them that were not there before, each once.

        Cost: 0.3 us each.
        """
        owners = np.array([self._owner(key) for key in zip(domains.tolist(), groups, strict=True)], np.int64)
        self._first = widened(self._first, len(self._keys), -1)
        numbers = self._find(owners, hearers)
        missing = (numbers < 0).nonzero()[0]
        if not len(missing):
            return numbers, missing
        pairs = owners[missing] << 32 | hearers[missing]
        distinct, place = np.unique(pairs, return_inverse=True)
        made = self._take(len(distinct))
        kernels.link(made, distinct >> 32, distinct & 0xFFFF_FFFF, self._first, self._members)
        numbers[missing] = made[place]
        return numbers, made

    def leave(self, number: int) -> None:
        """Forget a bunch that nobody is in any more."""
        after, before, _, owner = self._members[number].tolist()
        assert owner >= 0, f"bunch {number} was left twice"
        if after >= 0:
            self._members[after, PREV] = before
        if before >= 0:
            self._members[before, NEXT] = after
        else:
            self._first[owner] = after
        self._members[number] = -1
        self._free.append(number)
        if self._first[owner] < 0:
            key = self._keys[owner]
            assert key is not None, f"domain group {owner} was left twice"
            del self._owners[key]
            self._keys[owner] = None
            self._free_owners.append(owner)

    def _owner(self, key: tuple[int, bytes]) -> int:
        owner = self._owners.get(key, -1)
        if owner < 0:
            owner = self._free_owners.pop() if self._free_owners else len(self._keys)
            if owner == len(self._keys):
                self._keys.append(None)
            self._owners[key], self._keys[owner] = owner, key
        return owner

    def _find(self, owners: I64, hearers: I64) -> I64:
        found = np.empty(len(owners), np.int64)
        kernels.find(owners, np.ascontiguousarray(hearers), self._first, self._members, found)
        return found

    def _take(self, count: int) -> I64:
        reused = [self._free.pop() for _ in range(min(count, len(self._free)))]
        fresh = range(self._size, self._size + count - len(reused))
        self._size += len(fresh)
        self._members = widened(self._members, self._size, -1)
        return np.array([*reused, *fresh], np.int64)

    def check(self, used: Iterable[int]) -> None:
        """Check the invariants of the module's header; `used` are the bunches that somebody is in.

        Raises AssertionError. Cost: O(bunches).
        """
        chained: list[int] = []
        for key, owner in self._owners.items():
            assert self._keys[owner] == key, (1, key, owner)
            before, member, mine = -1, int(self._first[owner]), list[int]()
            while member >= 0:
                assert self._members[member, [PREV, OWNER]].tolist() == [before, owner], (2, key, member)
                mine.append(member)
                before, member = member, int(self._members[member, NEXT])
            assert mine and len(set(self._members[mine, HEARER].tolist())) == len(mine), (2, key, mine)
            chained += mine
        assert sorted(chained) == sorted(used), (1, chained)
        assert sorted([*chained, *self._free]) == list(range(self._size)), (3, chained, self._free)
        assert sorted([*self._owners.values(), *self._free_owners]) == list(range(len(self._keys))), (3, self._owners)
