"""Messages about first rows: each finds the lists that hear it, and these follow.

    message ──► probes ──► index: rectangle ──► place of the row in each range ──► lists
                           (lo, hi) that may hear   heard: place < limit         (`maintain/list_changes.py`)

A message's rectangle is drawn for the largest limit of its channel; where nobody here asks for so many rows it ends
where the better rows, of which the message says where they are, are as many as somebody does. Within it most of them
hear: limits of one channel are alike (`MOSTS`). The rest is told apart by counting these rows.
Where the range attribute has no order codes, rows stand by labels as rectangles do: to the lower bound by that of the
last bound not above them, to the upper one by that of the first bound above them.
Cost: O(messages, and subscriptions whose rectangle they meet), and what their lists cost.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from catalog.query.best_shape import BestShape
from operators.best_messages import BestMessages
from operators.packed import PackedBest
from overlay.delivery.delivery import Position
from overlay.maintain.list_changes import ListChanges
from overlay.maintain.list_follower import Pairs, Record, stands
from overlay.maintain.probes import probes
from overlay.maintain.shared_best import record_of
from overlay.subscriptions.edge_counters import EdgeCounters
from overlay.subscriptions.filter_book import MissingColumnError
from overlay.subscriptions.subscription_store import SubscriptionStore
from state.change_batch import I64, Bool

STEP = 4_096
"""Probes applied at a time."""


class BestPath:
    """Applies records of messages about first rows."""

    def __init__(self, store: SubscriptionStore, counters: EdgeCounters, lists: ListChanges) -> None:
        self._store = store
        self._counters = counters
        self._lists = lists

    def check_told(self, packed: PackedBest) -> None:
        """Raise MissingColumnError where the record does not have a column of rows that somebody who may hear it shows.

        A shard tells what its own bucket needs, and a range that no row can meet needs nothing: whoever hears nothing
        of the record may lack columns. Cost: O(shapes), and where one lacks some, as `apply`.
        """
        told, shapes = packed.messages.images.keys(), self._store.shapes
        heard = [entry for channel in packed.messages.channels for entry in shapes.shapes_of(channel)]
        lacking = {entry.number: missing for entry in heard if (missing := set(entry.shown_images) - told)}
        if not lacking:
            return
        for number in self._hearing(packed):
            if number in lacking:
                expected = sorted(shapes[number].shown_images)
                raise MissingColumnError(f"rows lack {sorted(lacking[number])}, expected {expected}")

    def apply(self, packed: PackedBest, position: Position) -> None:
        """Apply one record, all of whose messages are whole; `check_told` has found nothing."""
        record = _record_of(packed.messages, self._store)
        self._counters.messages += len(packed)
        wanted = np.zeros(len(packed), np.bool_)
        for met, heard in self._pairs(record):
            wanted[met] = True
            if len(heard.slot):
                self._lists.take(packed, record, heard, position)
        self._counters.unwanted += len(packed) - int(np.count_nonzero(wanted))

    def _hearing(self, packed: PackedBest) -> Iterator[int]:
        """Yield the numbers of the shapes of those who hear a record, some again."""
        for _, heard in self._pairs(_record_of(packed.messages, self._store)):
            yield from np.unique(self._store.slots.shape[heard.slot]).tolist()

    def _pairs(self, record: Record) -> Iterator[tuple[I64, Pairs]]:
        """Yield messages whose rectangle somebody is in, and those that somebody hears with who does."""
        messages, index, table = record.messages, self._store.index, self._store.slots
        limits = _largest_limits(messages, self._store)
        for some in probes(messages, self._store.shapes, index, STEP, partial(record.rectangles, limits)):
            which, found = index.query(some.group, *some.bounds)
            if not len(which):
                continue
            met, slots = some.message[which], found.astype(np.int64)
            lo, hi = index.points(slots, table.lo[slots], table.hi[slots])
            place = record.places(met, lo, hi)
            yield met, Pairs(met, slots, lo, hi, place).of(place < self._store.lists.room[slots])


def _largest_limits(messages: BestMessages, store: SubscriptionStore) -> tuple[int, ...]:
    """Return the largest limit of those who hear each channel, 0 where nobody does."""
    heard_by = [[entry.shape for entry in store.shapes.shapes_of(channel)] for channel in messages.channels]
    return tuple(max((one.limit for one in some if isinstance(one, BestShape)), default=0) for some in heard_by)


def _record_of(messages: BestMessages, store: SubscriptionStore) -> Record:
    """Return a record as this virtual edge reads it: as all others do, unless texts become labels here."""
    if messages.texts:
        return Record(messages, _labelled(messages, store))
    return record_of(messages)


def _labelled(messages: BestMessages, store: SubscriptionStore) -> I64:
    """Return `stands` of messages, texts of a range without order codes as labels where somebody may hear of them."""
    xs = stands(messages)
    for number, channel in enumerate(messages.channels):
        entries = store.shapes.shapes_of(channel)[:1]
        type_ = entries[0].range_type if entries else None
        if type_ is None:
            continue
        mine: Bool = messages.channel == number
        bounds = np.repeat(mine, messages.lefts + messages.rights).nonzero()[0]
        cands = np.repeat(mine, messages.cands).nonzero()[0]
        for i, chosen, above in ((0, bounds, False), (1, bounds, True), (2, cands, False), (3, cands, True)):
            texts = xs[i, chosen]
            xs[i, chosen] = store.index.cuts(entries[0].domain, type_, messages.texts, texts, above)
    return xs
