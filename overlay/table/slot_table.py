"""Accepted subscriptions as columns: one slot each, a number that indexes, messages and states can share.

A subscription id has up to two slots: the *live* one (n >= 1, its snapshot was delivered) and a *waiting* one (n = 0),
which replaces it when its snapshot comes.

A slot's `era` is the last stretch of the log in which it followed its shard: an era ends where an epoch begins
or a part of the log is lost, and a slot joins the present one with a snapshot. Only slots of the present era
are *synced*: their value follows, and they stand in the index. All others await a snapshot. Those that are final
(`finals`) do neither: they keep their value.

No slot has a Python object of its own: ids and literals lie in arenas, and what many share (groups, templates, terms)
is there once, by number. Ids are found through an open-addressing table.

Invariants (`check`), beside those of the parts: 1 an id has at most one live and one waiting slot; 2 a waiting slot is
not synced and is newer than the live one of its id; 3 free slots are known as such; 4 unknown values have code 0;
5 what is shared is counted.
Cost: 58 bytes of numbers a slot (8 more where any expires), 18-24 for where its texts are, and the bytes of id and
literals; on average 6 % more as room to grow. Everything comes in bulk: 0.5 us a slot and 30 us a call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from overlay.arena.growable_column import widened
from overlay.arena.key_interner import NumberedKeys
from overlay.arena.text_arena import cut
from overlay.delivery.delivery import change_heads, json_names
from overlay.table.accepted_batch import AcceptedBatch
from overlay.table.expiry_column import ExpiryColumn
from overlay.table.final_column import FinalColumn
from overlay.table.slot_filters import SlotFilters
from overlay.table.slot_terms import SlotTerms
from overlay.table.slot_texts import SlotTexts
from state.change_batch import I32, I64, Bool

NEVER = -1
NONE = -1
_COLUMNS = (
    "version", "lo", "hi", "value", "known", "n", "eras", "shape", "empty", "group",
)  # fmt: skip


class Standing(NamedTuple):
    """The slots of an id."""

    live: int | None
    waiting: int | None


class SlotTable:
    """The columns, and what has columns of its own: `texts`, `terms`, `expiry`, `finals`, `filters`.

    `era` is the present one.
    `lo` and `hi` are 0 where bounds are bytes: those are in `overlay/answers/answer_table.py`.
    """

    def __init__(self) -> None:
        self.era = 0
        self.version: I64 = np.zeros(0, np.int64)
        self.lo: I64 = np.zeros(0, np.int64)
        self.hi: I64 = np.zeros(0, np.int64)
        self.value: I64 = np.zeros(0, np.int64)
        self.known: Bool = np.zeros(0, np.bool_)
        self.n: I64 = np.zeros(0, np.int64)
        self.eras: I32 = np.zeros(0, np.int32)
        self.shape: I32 = np.zeros(0, np.int32)
        self.empty: Bool = np.zeros(0, np.bool_)
        self.group: I32 = np.zeros(0, np.int32)
        self.texts = SlotTexts()
        self.groups = NumberedKeys()
        self.terms = SlotTerms()
        self.expiry = ExpiryColumn()
        self.finals = FinalColumn()
        self.filters = SlotFilters()
        self._size = 0
        self._free: list[int] = []

    def __len__(self) -> int:
        return self._size - len(self._free)

    # -- who is there ---------------------------------------------------------------------------------------------

    def used(self) -> I64:
        """Return all slots in use, ascending. Cost: O(slots) in numpy."""
        return self._used().nonzero()[0]

    def is_used(self, slots: I64) -> Bool:
        """Whether each of `slots` is in use."""
        return self.texts.lengths[slots] > 0

    def count(self) -> tuple[int, int]:
        """Return how many slots are live and how many are waiting. Cost: O(slots) in numpy."""
        live = int(np.count_nonzero(self._used() & (self.n[: self._size] > 0)))
        return live, len(self) - live

    def find(self, key: bytes) -> Standing:
        """Return the slots of an id. Cost: 5 us."""
        found = [slot for slot in self.texts.find_one(key) if slot >= 0]
        live = next((slot for slot in found if self.n[slot]), None)
        return Standing(live, next((slot for slot in found if slot != live), None))

    def find_all(self, keys: Sequence[bytes]) -> tuple[I64, I64]:
        """Return the live and the waiting slot of each id, NONE where there is none. Cost: 0.1 us each."""
        found = self.texts.find(keys)
        live = (found >= 0) & (self.n[found] > 0) if self._size else found >= 0
        waiting = (found >= 0) & ~live
        return np.where(live, found, NONE).max(axis=1), np.where(waiting, found, NONE).max(axis=1)

    def synced(self, slot: int) -> bool:
        """Whether the slot's value follows its shard now."""
        return bool(self.eras[slot] == self.era)

    def awaiting(self) -> I64:
        """Return the slots in use that await a snapshot, by version; none that are final. Cost: O(slots) in numpy."""
        slots = (self._used() & (self.eras[: self._size] != self.era)).nonzero()[0]
        slots = slots[~self.finals.told(slots)]
        return slots[np.argsort(self.version[slots], kind="stable")]

    def awaiting_slots(self, versions: I64) -> I64:
        """Return the slot that awaits the snapshot of each version, NONE where there is none.

        Cost: O(slots) in numpy, and O(log n) each.
        """
        slots = self.awaiting()
        if not len(slots):
            return np.full(len(versions), NONE)
        known = self.version[slots]
        at = np.minimum(np.searchsorted(known, versions), len(known) - 1)
        return np.where(known[at] == versions, slots[at], NONE)

    def of_shapes(self, shapes: Sequence[int]) -> I64:
        """Return the slots in use that have one of `shapes`, by version. Cost: O(slots) in numpy."""
        slots = self.with_shapes(shapes)
        return slots[np.argsort(self.version[slots], kind="stable")]

    def with_shapes(self, shapes: Sequence[int]) -> I64:
        """Return the slots in use that have one of `shapes`, ascending. Cost: O(slots) in numpy."""
        if not shapes:
            return np.zeros(0, np.int64)
        return (self._used() & np.isin(self.shape[: self._size], np.array(shapes, np.int32))).nonzero()[0]

    # -- what they are --------------------------------------------------------------------------------------------

    def key(self, slot: int) -> bytes:
        """Return the subscription id of a slot in use."""
        return self.texts.id(slot)

    def keys(self, slots: I64) -> list[bytes]:
        """Return the ids of slots in use. Cost: 0.1 us each."""
        return self.texts.texts(slots)

    def sql(self, slot: int) -> str:
        """Return a subscription's statement, as its user wrote it. Cost: 3 us."""
        return self.texts.statement(slot)

    def json_sqls(self, slots: I64) -> list[str]:
        """Return the statements of slots as JSON texts. Cost: 0.5 us each where all are plain ASCII, else 1 us."""
        return json_names(cut(*self.texts.flat_statements(slots)))

    def flat_ids(self, slots: I64) -> tuple[bytes, I64]:
        """Return the ids of slots, end to end, and their sizes. Cost: 20 ns each."""
        return self.texts.flat_ids(slots)

    def groups_of(self, slots: I64) -> list[bytes]:
        """Return the groups of slots. Cost: 0.1 us each."""
        return self.groups.keys(self.group[slots].astype(np.int64))

    def group_sizes(self, slots: I64) -> I64:
        """Return how long the groups of slots are."""
        return self.groups.size(self.group[slots].astype(np.int64))

    def change_heads(self, slots: I64) -> tuple[list[bytes], list[str]]:
        """Return the ids of slots, and how their changes begin. Cost: 0.3 us each."""
        return change_heads(*self.texts.flat_ids(slots), self.version[slots].tolist())

    # -- coming and going -----------------------------------------------------------------------------------------

    def add(self, accepted: AcceptedBatch, shapes: I64) -> I64:
        """Take in waiting subscriptions, each with the number of its shape, and return their slots.

        None of the ids may have a waiting one.
        """
        slots = self._take_free(len(accepted))
        self.texts.put(slots, accepted.keys, accepted.templates, accepted.template, accepted.literals)
        self.group[slots] = self.groups.enter(accepted.groups, accepted.group)
        self.terms.put(slots, accepted.terms, accepted.term)
        self.version[slots], self.shape[slots] = accepted.versions, shapes
        self.lo[slots], self.hi[slots], self.empty[slots] = accepted.lo, accepted.hi, accepted.empty
        self.value[slots], self.known[slots], self.n[slots], self.eras[slots] = 0, False, 0, NEVER
        if accepted.constants:
            self.filters.put(slots[list(accepted.constants)], list(accepted.constants.values()))
        return slots

    def sync(self, slots: I64, value: I64, known: Bool, n: I64) -> None:
        """Write the answers of snapshots: the slots are live and follow their shards from here.

        None of their ids may have another live slot.
        """
        self.value[slots], self.known[slots], self.n[slots], self.eras[slots] = value, known, n, self.era

    def free(self, slots: I64) -> None:
        """Forget subscriptions, all of which are in use."""
        self._release(slots)
        self.texts.free(slots)
        self._free += slots.tolist()

    def next_era(self) -> None:
        """Begin a new era: every slot in use awaits a snapshot again. Cost: O(1)."""
        self.era += 1

    def _take_free(self, count: int) -> I64:
        reused = [self._free.pop() for _ in range(min(count, len(self._free)))]
        fresh = range(self._size, self._size + count - len(reused))
        self._reserve(self._size + len(fresh))
        return np.array([*reused, *fresh], np.int64)

    def _reserve(self, slots: int) -> None:
        for name in _COLUMNS:
            setattr(self, name, widened(getattr(self, name), slots))
        self.terms.reserve(slots)
        self.expiry.reserve(slots)
        self.finals.reserve(slots)
        self.filters.reserve(slots)
        self.texts.reserve(slots)
        self._size = max(self._size, slots)

    def _release(self, slots: I64) -> None:
        """Give back what slots share with others."""
        self.groups.leave(self.group[slots].astype(np.int64))
        self.terms.leave(slots)
        self.expiry.forget(slots)
        self.finals.forget(slots)
        self.filters.leave(slots)
        self.eras[slots] = NEVER

    def _used(self) -> Bool:
        return self.texts.used(self._size)

    # -- reading back ---------------------------------------------------------------------------------------------

    def replace(self, slots: I64, fields: dict[str, npt.NDArray[Any]], expires: I64) -> None:
        """Take slots of a table that is read back, whatever they were before; `fields` are columns of theirs.

        Groups, terms and texts are to be written behind it, and `rebuild` is to follow the last call.
        """
        self._reserve(max(self._size, int(slots.max(initial=-1)) + 1))
        self._clear(slots)
        for name, values in fields.items():
            getattr(self, name)[slots] = values
        self.expiry.set(slots, expires)

    def put_freed(self, slots: I64) -> None:
        """Free slots of a table that is read back, whether they are in use or not."""
        self._reserve(max(self._size, int(slots.max(initial=-1)) + 1))
        self._clear(slots)

    def rebuild(self) -> None:
        """Build the table of ids and the free list, for a table that is read back. Cost: 0.1 us a slot."""
        self.texts.rebuild(self.used())
        self._free = (~self._used()).nonzero()[0][::-1].tolist()

    def _clear(self, slots: I64) -> None:
        """Forget those of `slots` that are in use, while ids cannot be found."""
        slots = slots[self.is_used(slots)]
        self._release(slots)
        self.texts.clear(slots)

    def check(self) -> None:
        """Check the invariants of the module's header. Raises AssertionError. Cost: O(slots)."""
        used = self.used()
        self.texts.check(used)
        self.groups.check(self.group[used].astype(np.int64))
        self.terms.check(used)
        self.filters.check(used)
        self.finals.check()
        by_standing = {
            (key, bool(self.n[slot])): slot for key, slot in zip(self.keys(used), used.tolist(), strict=True)
        }
        assert len(by_standing) == len(used), (1, by_standing)
        for (key, is_live), slot in by_standing.items():
            if not is_live:
                older = by_standing.get((key, True))
                assert older is None or self.version[older] < self.version[slot], (2, key, older, slot)
                assert not self.synced(slot), (2, key, slot)
        assert sorted(self._free + used.tolist()) == list(range(self._size)), (3, self._free, used)
        assert not self.value[used][~self.known[used]].any(), "4"
