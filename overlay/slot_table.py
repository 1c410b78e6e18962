"""Accepted subscriptions as columns: one slot each, a number that indexes, messages and states can share.

A subscription id has up to two slots: the *live* one (n >= 1, its snapshot was delivered) and a *waiting* one (n = 0),
which replaces it when its snapshot comes.

A slot's `era` is the last stretch of the log in which it followed its shard: an era ends where an epoch begins
or a part of the log is lost, and a slot joins the present one with a snapshot. Only slots of the present era
are *synced*: their value follows, and they stand in the index.

Invariants (`check`): 1 a slot is free, waiting or live, and the maps by id agree with the columns; 2 a waiting slot is
not synced and is newer than the live one of its id; 3 `awaiting` holds exactly the used slots that are not synced;
4 unknown values have code 0.
Cost: O(1) an operation; about 67 bytes of columns a slot, plus its id, SQL, group, and the text with which its changes
begin once there was one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from catalog.shape import Region, Shape
from overlay.delivery import change_head, json_text
from state.change_batch import I32, I64, Bool

NEVER = -1
_FIRST_CAPACITY = 64


class SlotTable:
    """The columns. `era` is the present one; `awaiting` maps the version of each unsynced slot to it."""

    def __init__(self) -> None:
        self.era = 0
        self.version: I64 = np.zeros(_FIRST_CAPACITY, np.int64)
        self.lo: I64 = np.zeros(_FIRST_CAPACITY, np.int64)
        self.hi: I64 = np.zeros(_FIRST_CAPACITY, np.int64)
        self.value: I64 = np.zeros(_FIRST_CAPACITY, np.int64)
        self.known: Bool = np.zeros(_FIRST_CAPACITY, np.bool_)
        self.n: I64 = np.zeros(_FIRST_CAPACITY, np.int64)
        self.eras: I64 = np.full(_FIRST_CAPACITY, NEVER, np.int64)
        self.shape: I32 = np.zeros(_FIRST_CAPACITY, np.int32)
        self.empty: Bool = np.zeros(_FIRST_CAPACITY, np.bool_)
        self.ids: list[bytes | None] = []
        self.heads: list[str] = []
        self.groups: list[bytes] = []
        self.sqls: list[str] = []
        self.costs: list[str] = []
        self.live: dict[bytes, int] = {}
        self.waiting: dict[bytes, int] = {}
        self.awaiting: dict[int, int] = {}
        self._free: list[int] = []

    def __len__(self) -> int:
        return len(self.ids) - len(self._free)

    def used(self) -> list[int]:
        """Return all slots in use. Cost: O(slots)."""
        return [slot for slot, key in enumerate(self.ids) if key is not None]

    def synced(self, slot: int) -> bool:
        """Whether the slot's value follows its shard now."""
        return bool(self.eras[slot] == self.era)

    def key(self, slot: int) -> bytes:
        """Return the subscription id of a slot in use."""
        key = self.ids[slot]
        assert key is not None, f"slot {slot} is free"
        return key

    def heads_for(self, slots: Iterable[int]) -> list[str]:
        """Return `heads`, in which every one of `slots` has its text: how its changes begin."""
        heads = self.heads
        for slot in slots:
            if not heads[slot]:
                heads[slot] = change_head(json_text(self.key(slot).decode()), int(self.version[slot]))
        return heads

    def region(self, slot: int, shape: Shape) -> Region:
        """Return the slot's region; `shape` is the one that its number stands for."""
        return Region(shape, self.groups[slot], int(self.lo[slot]), int(self.hi[slot]), bool(self.empty[slot]))

    def add(self, key: bytes, version: int, shape: int, region: Region, sql: str, cost: str) -> int:
        """Take in a waiting subscription and return its slot; the id must have no waiting one."""
        slot = self._free.pop() if self._free else self._grow(len(self.ids))
        self.fill(slot, key, version, shape, region, sql, cost)
        self.place(slot)
        return slot

    def fill(self, slot: int, key: bytes, version: int, shape: int, region: Region, sql: str, cost: str) -> None:
        """Write the columns of a new, waiting subscription."""
        self.ids[slot], self.groups[slot], self.sqls[slot], self.costs[slot] = key, region.group, sql, cost
        self.heads[slot] = ""
        self.version[slot], self.shape[slot] = version, shape
        self.lo[slot], self.hi[slot], self.empty[slot] = region.lo, region.hi, region.empty
        self.value[slot], self.known[slot], self.n[slot], self.eras[slot] = 0, False, 0, NEVER

    def place(self, slot: int) -> None:
        """Enter a slot into the maps, as its columns say."""
        key = self.key(slot)
        (self.live if self.n[slot] else self.waiting)[key] = slot
        if not self.synced(slot):
            self.awaiting[int(self.version[slot])] = slot

    def sync(self, slot: int, value: int, known: bool, n: int) -> None:
        """Write the answer of a snapshot: the slot is live and follows its shard from here."""
        key = self.key(slot)
        if self.waiting.get(key) == slot:
            del self.waiting[key]
        self.live[key] = slot
        self.awaiting.pop(int(self.version[slot]), None)
        self.value[slot], self.known[slot], self.n[slot], self.eras[slot] = value, known, n, self.era

    def free(self, slot: int) -> None:
        """Forget a subscription."""
        key = self.key(slot)
        for by_id in (self.live, self.waiting):
            if by_id.get(key) == slot:
                del by_id[key]
        self.awaiting.pop(int(self.version[slot]), None)
        self.ids[slot], self.groups[slot], self.sqls[slot], self.costs[slot] = None, b"", "", ""
        self.eras[slot] = NEVER
        self._free.append(slot)

    def next_era(self) -> None:
        """Begin a new era: every slot in use awaits a snapshot again. Cost: O(slots)."""
        self.era += 1
        self.awaiting = {int(self.version[slot]): slot for slot in self.used()}

    def of_shapes(self, shapes: Sequence[int]) -> list[int]:
        """Return the slots in use that have one of `shapes`, by version. Cost: O(slots)."""
        if not shapes:
            return []
        hit = np.isin(self.shape[: len(self.ids)], np.array(shapes, np.int32)).nonzero()[0].tolist()
        return sorted((slot for slot in hit if self.ids[slot] is not None), key=self.version.__getitem__)

    def reserve(self, slot: int) -> None:
        """Make room so that `slot` exists (free), for a table that is read back."""
        while len(self.ids) <= slot:
            self._free.append(self._grow(len(self.ids)))

    def settle(self) -> None:
        """Build the maps and the free list from the columns, for a table that is read back. Cost: O(slots)."""
        self.live, self.waiting, self.awaiting = {}, {}, {}
        self._free = [slot for slot in reversed(range(len(self.ids))) if self.ids[slot] is None]
        for slot in self.used():
            self.place(slot)

    def _grow(self, slot: int) -> int:
        self.ids.append(None)
        self.heads.append("")
        self.groups.append(b"")
        self.sqls.append("")
        self.costs.append("")
        if slot >= len(self.version):
            size = 2 * len(self.version)
            for name in ("version", "lo", "hi", "value", "known", "n", "eras", "shape", "empty"):
                column = getattr(self, name)
                wider = np.zeros(size, column.dtype)
                wider[: len(column)] = column
                setattr(self, name, wider)
        return slot

    def check(self) -> None:
        """Check the invariants of the module's header. Raises AssertionError. Cost: O(slots)."""
        used = self.used()
        live = {self.key(slot): slot for slot in used if self.n[slot]}
        waiting = {self.key(slot): slot for slot in used if not self.n[slot]}
        assert (live, waiting) == (self.live, self.waiting), (1, live, self.live, waiting, self.waiting)
        assert len(used) == len(live) + len(waiting) and len(used) + len(self._free) == len(self.ids), (1, used)
        for key, slot in waiting.items():
            older = live.get(key)
            assert older is None or self.version[older] < self.version[slot], (2, key, older, slot)
            assert not self.synced(slot), (2, key, slot)
        awaiting = {int(self.version[slot]): slot for slot in used if not self.synced(slot)}
        assert awaiting == self.awaiting, (3, awaiting, self.awaiting)
        assert not self.value[[slot for slot in used if not self.known[slot]]].any(), "4"
