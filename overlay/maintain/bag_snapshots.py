"""Answers of shards to filters that show rows: what is told of them, and the count and digest that they leave.

    reply     to one that waits            to one that is live
    Rows      snapshot, all rows added     resync: the same, or all of them in place of what was told
    Digest    snapshot "none"              resync: the same, or that the rows are to be looked up (SNAPSHOT NONE)
    Same      (is not answered so)         resync: the same

The same: the digest of what was told is that of the rows; then `n` stays as it was. Rows are told by text, in parts
where they are long. Under NOTIFY TRANSITIONS and ENTER digests are over the key alone.
Cost: 2 us a row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from operators.reply import Digest, Refused, Reply, Rows, Same, decode_row
from overlay.answers.shape_table import ShapeEntry
from overlay.delivery.bag_delivery import BAG_SAME, bag_snapshot, bag_snapshot_none, bag_whole, bag_whole_look
from overlay.delivery.delivery import Position
from overlay.delivery.long_delivery import added_in_parts
from overlay.maintain.projections import Projector
from overlay.subscriptions.bag_looks import LookedRows, LookRefused, Outcome
from overlay.subscriptions.subscription_store import SubscriptionStore
from state import row_digest

Make = Callable[[str], bytes]
"""Makes a delivery of its body."""


class BagAnswer(NamedTuple):
    """A reply as it is told: `digest` of the rows, None where it is what is held; and their texts, if they came."""

    digest: row_digest.Digest | None
    rows: list[str] | None


class BagSnapshots:
    """Reads replies, writes what is told of them, and keeps the digests of slots."""

    def __init__(self, store: SubscriptionStore, projector: Projector) -> None:
        self._store = store
        self._projector = projector

    def read(self, slot: int, reply: Reply) -> BagAnswer | None:
        """Return what a reply says to a bag's slot, None where it is no answer to it."""
        is_live = bool(self._store.slots.n[slot])
        if isinstance(reply, Rows):
            return self._rows(self._store.shape_of(slot), self._keyed(slot), reply)
        if isinstance(reply, Digest):
            return BagAnswer(row_digest.Digest(reply.count, reply.low, reply.high), None)
        return BagAnswer(None, None) if isinstance(reply, Same) and is_live else None

    def started(self, slot: int, answer: BagAnswer, make: Make) -> list[bytes]:
        """Return the records that say that a waiting slot is live."""
        key = self._key(slot)
        if answer.rows is None:
            return [make(bag_snapshot_none(key))]
        return added_in_parts(lambda rows: make(bag_snapshot(rows, key)), answer.rows)

    def resynced(self, slot: int, answer: BagAnswer, make: Make) -> list[bytes]:
        """Return the records that say to a live slot what holds now."""
        if not self.differs(slot, answer):
            return [make(BAG_SAME)]
        key = self._key(slot)
        if answer.rows is None:
            return [make(bag_whole_look(key))]
        return added_in_parts(lambda rows: make(bag_whole(rows, key)), answer.rows)

    def differs(self, slot: int, answer: BagAnswer) -> bool:
        """Whether the rows are others than those that were told."""
        return answer.digest is not None and answer.digest != self._store.slots.filters.digest(slot)

    def keep(self, answers: Mapping[int, BagAnswer], n: Sequence[int]) -> None:
        """Let slots follow from these answers on, with counters `n`."""
        filters, slots = self._store.slots.filters, np.array(list(answers), np.int64)
        nothing = np.zeros(len(slots), np.int64)
        digests = [filters.digest(slot) if answer.digest is None else answer.digest for slot, answer in answers.items()]
        count = np.array([digest.count for digest in digests], np.int64)
        lanes = (np.array([getattr(digest, lane) for digest in digests], np.uint64) for lane in ("low", "high"))
        if len(slots):
            filters.start(slots, count, *lanes)
            self._store.sync(slots, nothing, nothing > 0, np.array(n, np.int64))

    def looked(self, slot: int, reply: Reply, at: Position) -> Outcome:
        """Return what a reply to a look at a slot says; None where that is nothing."""
        table = self._store.slots
        if isinstance(reply, Refused):
            return LookRefused(reply.code, reply.message)
        answer = self.read(slot, reply) if isinstance(reply, Rows) else None
        if answer is None or answer.rows is None:
            return None
        version, n = int(table.version[slot]), int(table.n[slot])
        return LookedRows(version, n, at, table.sql(slot), answer.rows, self._key(slot))

    def _rows(self, entry: ShapeEntry, keyed: bool, reply: Rows) -> BagAnswer | None:
        """Return rows as texts, in their order, and their digest; None where they are not all, or of other columns."""
        if not reply.last:
            return None
        try:
            rows = [decode_row(row) for row in reply.rows]
        except msgspec.DecodeError:
            return None
        if any(len(row) != len(entry.types) for row in rows):
            return None
        if not rows:
            return BagAnswer(row_digest.Digest(), [])
        digest = row_digest.Digest.of(*self._projector.hashed(entry, keyed, rows))
        return BagAnswer(digest, sorted(entry.rows.of_values(rows)))

    def _keyed(self, slot: int) -> bool:
        return self._store.slots.terms.of(slot).by_key

    def _key(self, slot: int) -> tuple[int, ...]:
        return self._store.shape_of(slot).keys if self._keyed(slot) else ()
