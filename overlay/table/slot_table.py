"""Accepted subscriptions as columns: one slot each, a number that indexes, messages and states can share.

A subscription id has up to two slots: the *live* one (n >= 1, its snapshot was delivered) and a *waiting* one (n = 0),
which replaces it when its snapshot comes.

A slot's `era` is the last stretch of the log in which it followed its shard: an era ends where an epoch begins
or a part of the log is lost, and a slot joins the present one with a snapshot. Only slots of the present era
are *synced*: their value follows, and they stand in the index. All others await a snapshot.

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
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from catalog.query.shape import Region, Shape
from catalog.sql.notify import FORMS, Notify
from overlay.arena.growable_column import widened
from overlay.arena.interner import Interned
from overlay.arena.key_interner import NumberedKeys
from overlay.arena.text_arena import cut
from overlay.delivery.delivery import json_names
from overlay.table.accepted_batch import AcceptedBatch
from overlay.table.change_heads import change_heads
from overlay.table.slot_rows import ROW, Slots, StoredTerms, Terms
from overlay.table.slot_texts import SlotTexts
from state.change_batch import I32, I64, Bool
from state.order_code import INT64_MAX

NEVER = -1
NONE = -1
_COLUMNS = (
    "version", "lo", "hi", "value", "known", "n", "eras", "shape", "empty", "group", "term",
)  # fmt: skip
_STORED = {"eras": "era"} | {name: name for name in _COLUMNS if name not in ("eras", "group", "term")}


class Standing(NamedTuple):
    """The slots of an id."""

    live: int | None
    waiting: int | None


class SlotTable:
    """The columns. `era` is the present one. There is a column of expiry only once a subscription has any.

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
        self._expires: I64 = np.zeros(0, np.int64)
        self.group: I32 = np.zeros(0, np.int32)
        self.term: I32 = np.zeros(0, np.int32)
        self._texts = SlotTexts()
        self._groups = NumberedKeys()
        self._terms: Interned[Terms] = Interned()
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
        return self._texts.lengths[slots] > 0

    def count(self) -> tuple[int, int]:
        """Return how many slots are live and how many are waiting. Cost: O(slots) in numpy."""
        live = int(np.count_nonzero(self._used() & (self.n[: self._size] > 0)))
        return live, len(self) - live

    def find(self, key: bytes) -> Standing:
        """Return the slots of an id. Cost: 5 us."""
        found = [slot for slot in self._texts.find_one(key) if slot >= 0]
        live = next((slot for slot in found if self.n[slot]), None)
        return Standing(live, next((slot for slot in found if slot != live), None))

    def find_all(self, keys: Sequence[bytes]) -> tuple[I64, I64]:
        """Return the live and the waiting slot of each id, NONE where there is none. Cost: 0.1 us each."""
        found = self._texts.find(keys)
        live = (found >= 0) & (self.n[found] > 0) if self._size else found >= 0
        waiting = (found >= 0) & ~live
        return np.where(live, found, NONE).max(axis=1), np.where(waiting, found, NONE).max(axis=1)

    def synced(self, slot: int) -> bool:
        """Whether the slot's value follows its shard now."""
        return bool(self.eras[slot] == self.era)

    def awaiting(self) -> I64:
        """Return the slots in use that await a snapshot, by version. Cost: O(slots) in numpy."""
        slots = (self._used() & (self.eras[: self._size] != self.era)).nonzero()[0]
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

    def expires(self, slots: I64) -> I64:
        """Return when slots are over, in seconds since 1970, INT64_MAX for never."""
        if not len(self._expires):
            return np.full(len(slots), INT64_MAX)
        return self._expires[slots]

    def expired(self, now: int) -> I64:
        """Return the slots in use with `expires` up to `now`, by when that was. Cost: O(slots) in numpy."""
        slots = np.arange(min(self._size, len(self._expires)))
        slots = slots[self.is_used(slots) & (self._expires[slots] <= now)]
        return slots[np.lexsort((self.version[slots], self._expires[slots]))]

    def next_expiry(self, now: int) -> int:
        """Return the least `expires` of a slot in use that is above `now`. Cost: O(slots) in numpy."""
        slots = np.arange(min(self._size, len(self._expires)))
        later = self._expires[slots[self.is_used(slots) & (self._expires[slots] > now)]]
        return int(later.min(initial=INT64_MAX))

    # -- what they are --------------------------------------------------------------------------------------------

    def key(self, slot: int) -> bytes:
        """Return the subscription id of a slot in use."""
        return self._texts.id(slot)

    def keys(self, slots: I64) -> list[bytes]:
        """Return the ids of slots in use. Cost: 0.1 us each."""
        return self._texts.texts(slots)

    def sql(self, slot: int) -> str:
        """Return a subscription's statement, as its user wrote it. Cost: 3 us."""
        return self._texts.statement(slot)

    def json_sqls(self, slots: I64) -> list[str]:
        """Return the statements of slots as JSON texts. Cost: 0.5 us each where all are plain ASCII, else 1 us."""
        return json_names(cut(*self._texts.flat_statements(slots)))

    def cost(self, slot: int) -> str:
        """Return a subscription's class of cost."""
        return self._terms.value(int(self.term[slot])).cost

    def notify(self, slot: int) -> Notify:
        """Return which changes a subscription is told."""
        return self._terms.value(int(self.term[slot])).notify

    def forms(self, slots: I64) -> npt.NDArray[np.int8]:
        """Return in which of `catalog.sql.notify.FORMS` each of `slots` has its deliveries. Cost: 20 ns each."""
        numbers, place = np.unique(self.term[slots], return_inverse=True)
        return np.array([FORMS.index(self._terms.value(one).deliver) for one in numbers.tolist()], np.int8)[place]

    def flat_ids(self, slots: I64) -> tuple[bytes, I64]:
        """Return the ids of slots, end to end, and their sizes. Cost: 20 ns each."""
        return self._texts.flat_ids(slots)

    def terms(self, number: int) -> Terms:
        """Return the terms of a number that stands in column `term`."""
        return self._terms.value(number)

    def groups_of(self, slots: I64) -> list[bytes]:
        """Return the groups of slots. Cost: 0.1 us each."""
        return self._groups.keys(self.group[slots].astype(np.int64))

    def group_sizes(self, slots: I64) -> I64:
        """Return how long the groups of slots are."""
        return self._groups.size(self.group[slots].astype(np.int64))

    def region(self, slot: int, shape: Shape) -> Region:
        """Return the slot's region; `shape` is the one that its number stands for."""
        group = self._groups.key(int(self.group[slot]))
        return Region(shape, group, int(self.lo[slot]), int(self.hi[slot]), bool(self.empty[slot]))

    def change_heads(self, slots: I64) -> tuple[list[bytes], list[str]]:
        """Return the ids of slots, and how their changes begin. Cost: 0.3 us each."""
        return change_heads(*self._texts.flat_ids(slots), self.version[slots].tolist())

    # -- coming and going -----------------------------------------------------------------------------------------

    def add(self, accepted: AcceptedBatch, shapes: I64) -> I64:
        """Take in waiting subscriptions, each with the number of its shape, and return their slots.

        None of the ids may have a waiting one.
        """
        slots = self._take_free(len(accepted))
        self._texts.put(slots, accepted.keys, accepted.templates, accepted.template, accepted.literals)
        self.group[slots] = self._groups.enter(accepted.groups, accepted.group)
        times = np.bincount(accepted.term, minlength=len(accepted.terms)).tolist()
        terms = [self._terms.enter(*one) for one in zip(accepted.terms, times, strict=True)]
        self.term[slots] = np.array(terms, np.int32)[accepted.term]
        self.version[slots], self.shape[slots] = accepted.versions, shapes
        self.lo[slots], self.hi[slots], self.empty[slots] = accepted.lo, accepted.hi, accepted.empty
        self.value[slots], self.known[slots], self.n[slots], self.eras[slots] = 0, False, 0, NEVER
        self.set_expires(slots, INT64_MAX)
        return slots

    def sync(self, slots: I64, value: I64, known: Bool, n: I64) -> None:
        """Write the answers of snapshots: the slots are live and follow their shards from here.

        None of their ids may have another live slot.
        """
        self.value[slots], self.known[slots], self.n[slots], self.eras[slots] = value, known, n, self.era

    def free(self, slots: I64) -> None:
        """Forget subscriptions, all of which are in use."""
        self._release(slots)
        self._texts.free(slots)
        self.eras[slots] = NEVER
        self._free += slots.tolist()

    def set_expires(self, slots: I64, when: I64 | int) -> None:
        """Write when slots are over, in seconds since 1970 (what is negative: `overlay/subscriptions/expiry.py`)."""
        if not len(self._expires):
            if np.all(np.equal(when, INT64_MAX)):
                return
            self._expires = np.full(len(self.version), INT64_MAX)
        self._expires[slots] = when

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
        if len(self._expires):
            self._expires = widened(self._expires, len(self.version))
        self._texts.reserve(slots)
        self._size = max(self._size, slots)

    def _release(self, slots: I64) -> None:
        """Give back what slots share with others."""
        self._groups.leave(self.group[slots].astype(np.int64))
        self._terms.leave(self.term[slots].tolist())

    def _used(self) -> Bool:
        return self._texts.used(self._size)

    # -- how they are stored --------------------------------------------------------------------------------------

    def stored(self, slots: I64) -> Slots:
        """Return slots in use as they are stored. Cost: 0.3 us each."""
        rows = np.zeros(len(slots), ROW)
        for name, stored in _STORED.items():
            rows[stored] = getattr(self, name)[slots]
        rows["slot"], rows["expires"] = slots, self.expires(slots)
        groups, rows["group"] = np.unique(self.group[slots], return_inverse=True)
        terms, rows["term"] = np.unique(self.term[slots], return_inverse=True)
        ids, literals, templates, rows["template"] = self._texts.stored(slots)
        (keys, rows["key_size"]), (flat, rows["literals_size"]) = ids, literals
        return Slots(
            rows.tobytes(),
            keys,
            flat,
            self._groups.keys(groups.astype(np.int64)),
            [StoredTerms.of(self._terms.value(number)) for number in terms.tolist()],
            templates,
        )

    def put_stored(self, slots: Slots) -> None:
        """Take in stored slots, over what they were before; after the last ones call `rebuild`. Cost: 1 us each."""
        rows = slots.table
        if not len(rows):
            return
        at = rows["slot"].astype(np.int64)
        self._reserve(max(self._size, int(at.max()) + 1))
        replaced = at[self.is_used(at)]
        self._release(replaced)
        self._texts.clear(replaced)
        for name, stored in _STORED.items():
            getattr(self, name)[at] = rows[stored]
        self.set_expires(at, rows["expires"])
        ids, literals = (rows[name].astype(np.int64) for name in ("key_size", "literals_size"))
        self._texts.put_stored(
            at, (slots.keys, ids), (slots.literals, literals), slots.templates, rows["template"].astype(np.int64)
        )
        self.group[at] = self._groups.enter(slots.groups, rows["group"].astype(np.int64))
        places = rows["term"].astype(np.int64)
        times = np.bincount(places, minlength=len(slots.terms)).tolist()
        terms = [self._terms.enter(stored.terms, count) for stored, count in zip(slots.terms, times, strict=True)]
        self.term[at] = np.array(terms, np.int32)[places]

    def put_freed(self, slots: I64) -> None:
        """Free slots of a table that is read back, whether they are in use or not."""
        self._reserve(max(self._size, int(slots.max(initial=-1)) + 1))
        slots = slots[self.is_used(slots)]
        self._release(slots)
        self._texts.clear(slots)
        self.eras[slots] = NEVER

    def rebuild(self) -> None:
        """Build the table of ids and the free list, for a table that is read back. Cost: 0.1 us a slot."""
        self._texts.rebuild(self.used())
        self._free = (~self._used()).nonzero()[0][::-1].tolist()

    def check(self) -> None:
        """Check the invariants of the module's header. Raises AssertionError. Cost: O(slots)."""
        used = self.used()
        self._texts.check(used)
        self._groups.check(self.group[used].astype(np.int64))
        self._terms.check(self.term[used].tolist())
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
