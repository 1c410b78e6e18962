"""Answers of shards to filters that show rows: what is told of them, and the count and digest that they leave.

    reply     to one that waits            to one that is live
    Rows      snapshot, all rows added     resync: the same, or all of them in place of what was told
    Digest    snapshot "none"              resync: the same, or that the rows are to be looked up (SNAPSHOT NONE)
    Same      (is not answered so)         resync: the same; no answer where it is about what was told before

The same: the digest of what was told is that of the rows; then `n` stays as it was. Rows are told by text, in parts
where they are long. Under NOTIFY TRANSITIONS and ENTER digests are over the key alone.
Cost: 4 us a slot, 0.3 us a row of it; 3 us each different row.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from operators.reply import Digest, Refused, Reply, Rows, Same, decode_rows
from overlay.delivery.bag_delivery import BAG_SAME, bag_snapshot, bag_snapshot_none, bag_whole, bag_whole_look
from overlay.delivery.delivery import Position
from overlay.delivery.long_delivery import added_in_parts
from overlay.maintain.projections import Projector
from overlay.subscriptions.bag_looks import LookedRows, LookRefused, Outcome
from overlay.subscriptions.subscription_store import SubscriptionStore
from overlay.table.slot_filters import U64
from state import row_digest
from state.change_batch import I64

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

    def read_all(self, replies: Mapping[int, Reply]) -> dict[int, BagAnswer]:
        """Return what replies say to slots of bags, in their order, without those that are no answer to their slot."""
        answers: dict[int, BagAnswer | None] = {}
        by_list: dict[Hashable, dict[int, Rows]] = {}
        alike: dict[tuple[int, bool], dict[int, Rows]] = {}
        for (slot, reply), kind in zip(replies.items(), self._kinds(list(replies)), strict=True):
            answers[slot] = None
            if isinstance(reply, Rows):
                mine = alike.get(kind)
                if mine is None:
                    entry = self._store.shape_of(slot)
                    shown = entry.shown_list, entry.types, entry.keys if kind[1] else ()
                    mine = alike[kind] = by_list.setdefault(shown, {})
                mine[slot] = reply
            elif isinstance(reply, Digest):
                answers[slot] = BagAnswer(row_digest.Digest(reply.count, reply.low, reply.high), None)
            elif isinstance(reply, Same) and bool(self._store.slots.n[slot]):
                asked = row_digest.Digest(reply.count, reply.low, reply.high)
                if asked == self._store.slots.filters.digest(slot):
                    answers[slot] = BagAnswer(None, None)
        for mine in by_list.values():
            answers |= self._rows(mine)
        return {slot: answer for slot, answer in answers.items() if answer is not None}

    def started(self, answer: BagAnswer, key: tuple[int, ...], make: Make) -> list[bytes]:
        """Return the records that say that a waiting slot is live; `key` as `keys_of` gives it."""
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
        answer = self.read_all({slot: reply}).get(slot) if isinstance(reply, Rows) else None
        if answer is None or answer.rows is None:
            return None
        version, n = int(table.version[slot]), int(table.n[slot])
        return LookedRows(version, n, at, table.sql(slot), answer.rows, self._key(slot))

    def _rows(self, replies: Mapping[int, Rows]) -> dict[int, BagAnswer]:
        """Return rows of slots with one SELECT list as texts, in their order, and their digests.

        A slot has none where the rows are not all, or of other columns. Each different row is read and written once.
        """
        first = next(iter(replies))
        entry, keyed = self._store.shape_of(first), self._keyed(first)
        which = {slot: reply.rows for slot, reply in replies.items() if reply.last}
        rows = list(chain.from_iterable(which.values()))
        if not rows:
            return {slot: BagAnswer(row_digest.Digest(), []) for slot in which}
        places = {row: place for place, row in enumerate(dict.fromkeys(rows))}
        values = decode_rows(list(places), len(entry.types))
        read = [row for row in values if row is not None]
        if len(read) < len(values):
            sound = {row for row, one in zip(places, values, strict=True) if one is not None}
            left = {slot: reply for slot, reply in replies.items() if sound.issuperset(reply.rows)}
            return self._rows(left) if left else {}
        ends = np.cumsum([0, *map(len, which.values())])
        place = np.fromiter(map(places.__getitem__, rows), np.int64, len(rows))
        texts, lanes = entry.rows.of_values(read), self._projector.hashed(entry, keyed, read)
        sums = [_sums(lane[place], ends) for lane in lanes]
        digests = zip(np.diff(ends).tolist(), *sums, strict=True)
        ordered = _ordered(texts, place, ends)
        bounds = pairwise(ends.tolist())
        return {
            slot: BagAnswer(row_digest.Digest(*digest), ordered[start:end])
            for slot, digest, (start, end) in zip(which, digests, bounds, strict=True)
        }

    def keys_of(self, slots: Sequence[int]) -> list[tuple[int, ...]]:
        """Return where the primary key stands in the rows of each slot, () for those whose rows do not go by it."""
        kinds = self._kinds(slots)
        keys = {kind: self._store.shapes[kind[0]].keys if kind[1] else () for kind in set(kinds)}
        return [keys[kind] for kind in kinds]

    def _kinds(self, slots: Sequence[int]) -> list[tuple[int, bool]]:
        """Return the shape of each slot by number, and whether its rows go by the primary key."""
        table, which = self._store.slots, np.array(slots, np.int64)
        return list(zip(table.shape[which].tolist(), table.terms.by_key(which).tolist(), strict=True))

    def _keyed(self, slot: int) -> bool:
        return self._store.slots.terms.of(slot).by_key

    def _key(self, slot: int) -> tuple[int, ...]:
        return self._store.shape_of(slot).keys if self._keyed(slot) else ()


def _sums(lane: U64, ends: I64) -> list[int]:
    """Return the sums, modulo 2**64, of the numbers from each end to the next."""
    totals = np.zeros(len(lane) + 1, np.uint64)
    np.cumsum(lane, out=totals[1:])
    sums: list[int] = (totals[ends[1:]] - totals[ends[:-1]]).tolist()
    return sums


def _ordered(texts: Sequence[str], place: I64, ends: I64) -> list[str]:
    """Return the texts at `place`, sorted from each end to the next."""
    by_text = sorted(range(len(texts)), key=texts.__getitem__)
    rank = np.empty(len(texts), np.int64)
    rank[by_text] = np.arange(len(texts))
    owner = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    order = np.lexsort((rank[place], owner))
    return [texts[one] for one in place[order].tolist()]
