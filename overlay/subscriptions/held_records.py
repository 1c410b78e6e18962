"""Subscription records that are held back: by version, by id, and what came and went since one last asked.

Some wait for a cell of the tables that they join. Those who give the final word on records pass them over.

Invariants (`check`): 1 both maps hold the same records; 2 what came is there; 3 each waits for a cell, or for the final
word; cells are counted.
Cost: 4 us to put a record and 1 us to drop it, however many are held.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from sortedcontainers import SortedDict, SortedSet


class Held(NamedTuple):
    """A record that waits; `version` is its offset."""

    version: int
    key: bytes
    value: bytes


class HeldRecords:
    """A set of records with different versions; an id may have several."""

    def __init__(self) -> None:
        self._records: SortedDict = SortedDict()
        self._versions: dict[bytes, set[int]] = {}
        self._open: SortedSet = SortedSet()
        self._cells: dict[int, tuple[str, ...]] = {}
        self._wanted: Counter[tuple[str, ...]] = Counter()
        self._came: set[int] = set()
        self._went: set[int] = set()

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Held]:
        """Give the records by version, as they are now: they may be put and dropped meanwhile."""
        return iter([*self._records.values()])

    @property
    def through(self) -> int | None:
        """The newest version that waits for the final word; None where there is none."""
        return self._open[-1] if self._open else None

    @property
    def cells(self) -> set[tuple[str, ...]]:
        """The tables whose cells are waited for. Cost: O(cells)."""
        return set(self._wanted)

    def oldest(self, through: int | None, most: int | None) -> list[Held]:
        """Return the records that wait for the final word, up to a version, no more than `most`, in order; None: all.

        Cost: O(records returned).
        """
        versions = islice(self._open.irange(maximum=through), most)
        return [self._records[version] for version in versions]

    def put(self, record: Held, cell: tuple[str, ...] | None = None) -> None:
        """Hold a record until there is a cell of some tables, or for the final word.

        One that is held already is left as it is, but for what it waits for.
        """
        version = record.version
        if version not in self._records:
            self._records[version] = record
            self._versions.setdefault(record.key, set()).add(version)
            self._came.add(version)
        else:
            self._no_wait(version)
        if cell is None:
            self._open.add(version)
        else:
            self._cells[version] = cell
            self._wanted[cell] += 1

    def _no_wait(self, version: int) -> None:
        """Forget what a record waits for."""
        cell = self._cells.pop(version, None)
        if cell is None:
            self._open.remove(version)
            return
        self._wanted[cell] -= 1
        if not self._wanted[cell]:
            del self._wanted[cell]

    def drop(self, version: int) -> None:
        """Hold a record no longer, if it is held."""
        record = self._records.pop(version, None)
        if record is None:
            return
        self._no_wait(version)
        versions = self._versions[record.key]
        versions.remove(version)
        if not versions:
            del self._versions[record.key]
        if version in self._came:
            self._came.remove(version)
        else:
            self._went.add(version)

    def forget(self, key: bytes, through: int) -> list[Held]:
        """Drop what is held of an id up to a version, and return it in order."""
        old = sorted(version for version in self._versions.get(key, ()) if version <= through)
        records = [self._records[version] for version in old]
        for version in old:
            self.drop(version)
        return records

    def newest(self, key: bytes) -> int | None:
        """Return the newest version that is held of an id."""
        return max(self._versions.get(key, ()), default=None)

    def changes(self) -> tuple[list[int], list[Held]]:
        """Return the versions that went and the records that came since the last call, by version.

        Cost: O(changes log changes).
        """
        went, came = sorted(self._went), [self._records[version] for version in sorted(self._came)]
        self._went, self._came = set(), set()
        return went, came

    def check(self) -> None:
        """Check the invariants of the module's header. Raises AssertionError. Cost: O(n)."""
        by_key = {(key, version) for key, versions in self._versions.items() for version in versions}
        assert by_key == {(held.key, held.version) for held in self._records.values()}, (1, by_key)
        assert all(self._versions.values()), (1, self._versions)
        assert self._came <= self._records.keys(), (2, self._came)
        assert sorted([*self._open, *self._cells]) == [*self._records], (3, self._open, self._cells)
        assert self._wanted == Counter(self._cells.values()) and all(self._wanted.values()), (3, self._wanted)
