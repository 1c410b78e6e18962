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

import numpy as np

from catalog.query.best_shape import BestShape
from operators.best_messages import BestMessages
from operators.packed import PackedBest
from overlay.delivery.delivery import Position
from overlay.maintain.list_changes import ListChanges
from overlay.maintain.list_follower import Pairs, Record
from overlay.maintain.list_kernels import BOUND_HIGH, BOUND_LOW
from overlay.maintain.probes import Probes, probes
from overlay.subscriptions.edge_counters import EdgeCounters
from overlay.subscriptions.filter_book import MissingColumnError
from overlay.subscriptions.subscription_store import SubscriptionStore
from state.change_batch import I64, Bool
from state.order_code import INT64_MAX, INT64_MIN

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
        record = _Reading(self._store, packed.messages)
        self._counters.messages += len(packed)
        wanted = np.zeros(len(packed), np.bool_)
        for some in probes(packed.messages, self._store.shapes, self._store.index, STEP):
            which, slots = self._store.index.query(some.group, *record.rectangles(some))
            if not len(which):
                continue
            hit = some.message[which]
            wanted[hit] = True
            heard = record.heard(hit, slots.astype(np.int64))
            if len(heard.slot):
                self._lists.take(packed, record.record, heard, position)
        self._counters.unwanted += len(packed) - int(np.count_nonzero(wanted))

    def _hearing(self, packed: PackedBest) -> Iterator[int]:
        """Yield the numbers of the shapes of those who hear a record, some again."""
        record = _Reading(self._store, packed.messages)
        for some in probes(packed.messages, self._store.shapes, self._store.index, STEP):
            which, slots = self._store.index.query(some.group, *record.rectangles(some))
            heard = record.heard(some.message[which], slots.astype(np.int64))
            yield from np.unique(self._store.slots.shape[heard.slot]).tolist()


class _Reading:
    """One record as this virtual edge reads it."""

    def __init__(self, store: SubscriptionStore, messages: BestMessages) -> None:
        self._store = store
        self._messages = messages
        self.record = Record(messages, self._xs())
        self._limits = self._largest_limits()

    def rectangles(self, some: Probes) -> list[I64]:
        """Return the rectangles of probes, each for the largest limit of those who hear its channel."""
        messages, message, xs = self._messages, some.message, self.record.xs
        need = self._limits[messages.channel[message]] - messages.base[message]
        lo_min, lo_max, hi_min, hi_max = (column.copy() for column in some.bounds)
        lefts, rights, first = messages.lefts[message], messages.rights[message], self.record.bounds[message]
        far = np.flatnonzero((need > 0) & (need <= lefts))
        beyond = xs[BOUND_LOW, first[far] + need[far] - 1]
        lo_min[far] = np.maximum(lo_min[far], np.where(beyond == INT64_MAX, beyond, beyond + 1))
        far = np.flatnonzero((need > 0) & (need <= rights))
        beyond = xs[BOUND_HIGH, first[far] + lefts[far] + need[far] - 1]
        hi_max[far] = np.minimum(hi_max[far], np.where(beyond == INT64_MIN, beyond, beyond - 1))
        none = need <= 0
        lo_min[none], lo_max[none] = INT64_MAX, INT64_MIN
        return [lo_min, lo_max, hi_min, hi_max]

    def heard(self, hit: I64, slots: I64) -> Pairs:
        """Return which messages are heard by slots that may hear them."""
        table = self._store.slots
        lo, hi = self._store.index.points(slots, table.lo[slots], table.hi[slots])
        place = self.record.places(hit, lo, hi)
        return Pairs(hit, slots, lo, hi, place).of(place < self._store.lists.room[slots])

    def _largest_limits(self) -> I64:
        """Return the largest limit of those who hear each channel, 0 where nobody does."""
        heard_by = map(self._store.shapes.shapes_of, self._messages.channels)
        shapes = [[entry.shape for entry in entries] for entries in heard_by]
        limits = [max((one.limit for one in some if isinstance(one, BestShape)), default=0) for some in shapes]
        return np.array(limits, np.int64)

    def _xs(self) -> I64:
        """Return where the rows that messages name stand: bounds and candidates, each to compare with lo and with hi.

        Texts of a range without order codes become labels, where somebody may hear of them.
        """
        messages = self._messages
        xs = np.zeros((4, max(len(messages.bounds), len(messages.cand_x))), np.int64)
        xs[:2, : len(messages.bounds)], xs[2:, : len(messages.cand_x)] = messages.bounds, messages.cand_x
        for number, channel in enumerate(messages.channels if messages.texts else ()):
            entries = self._store.shapes.shapes_of(channel)[:1]
            type_ = entries[0].range_type if entries else None
            if type_ is None:
                continue
            mine: Bool = messages.channel == number
            bounds = np.repeat(mine, messages.lefts + messages.rights).nonzero()[0]
            cands = np.repeat(mine, messages.cands).nonzero()[0]
            for i, chosen, above in ((0, bounds, False), (1, bounds, True), (2, cands, False), (3, cands, True)):
                texts = xs[i, chosen]
                xs[i, chosen] = self._store.index.cuts(entries[0].domain, type_, messages.texts, texts, above)
        return xs
