"""Messages about first rows applied to lists: each to those who hear it, with what it does to the list of each.

    message ──► probes ──► index: rectangle of each limit ──► place of the row in each range ──► lists
                           (lo, hi) that may hear              heard: place < limit          (`maintain/best_list.py`)

A message's rectangle is drawn for the largest limit of its channel; for a lower one it ends where the better rows,
of which the message says where they are, are as many as the limit. Within it most of them hear (the rest is told apart
by counting these rows).
Where the range attribute has no order codes, rows stand by labels as rectangles do: to the lower bound by that of the
last bound not above them, to the upper one by that of the first bound above them.
Cost: O(messages, and subscriptions whose rectangle they meet), and the lists of those who hear, one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from catalog.query.best_shape import BestShape
from operators.packed import PackedBest
from operators.reply import encode_row
from overlay.delivery.delivery import Position, row_at, row_start
from overlay.maintain.best_list import ListChange
from overlay.maintain.object_path import SingleAnswers
from overlay.maintain.probes import Probes, probes
from overlay.subscriptions.edge_counters import EdgeCounters
from overlay.subscriptions.filter_book import MissingColumnError
from overlay.subscriptions.subscription_store import SubscriptionStore
from state.change_batch import I64, Bool
from state.order_code import INT64_MAX, INT64_MIN

STEP = 4_096
"""Probes applied at a time."""
_NOWHERE = Position(0, 0)
"""Where a record that is only looked at stands."""


class _Xs(NamedTuple):
    """Where the rows that messages name stand: bounds and candidates, to compare with lower and with upper bounds."""

    bound_low: I64
    bound_high: I64
    cand_low: I64
    cand_high: I64


class BestPath:
    """Applies records of messages about first rows."""

    def __init__(self, store: SubscriptionStore, counters: EdgeCounters, singles: SingleAnswers) -> None:
        self._store = store
        self._counters = counters
        self._singles = singles

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
        record = _Record(self._store, packed, position)
        self._counters.messages += len(packed)
        wanted = np.zeros(len(packed), np.bool_)
        for some in probes(packed.messages, self._store.shapes, self._store.index, STEP):
            which, slots = self._store.index.query(some.group, *record.rectangles(some))
            hit, found = some.message[which], slots.astype(np.int64)
            if not len(hit):
                continue
            changes, mine = record.changes(hit, found)
            wanted[hit] = True
            if len(mine):
                self._singles.take(mine, changes)
        self._counters.unwanted += len(packed) - int(np.count_nonzero(wanted))

    def _hearing(self, packed: PackedBest) -> Iterator[int]:
        """Yield the numbers of the shapes of those who may hear a record, some again."""
        record = _Record(self._store, packed, _NOWHERE)
        for some in probes(packed.messages, self._store.shapes, self._store.index, STEP):
            _, slots = self._store.index.query(some.group, *record.rectangles(some))
            yield from np.unique(self._store.slots.shape[slots]).tolist()


class _Record:
    """One record as it is applied."""

    def __init__(self, store: SubscriptionStore, packed: PackedBest, position: Position) -> None:
        self._store = store
        self._packed = packed
        self._position = position
        messages = packed.messages
        sizes = messages.lefts + messages.rights
        self._bounds = np.append(0, np.cumsum(sizes))
        self._cands = np.append(0, np.cumsum(messages.cands))
        self._rows: dict[tuple[str, ...], list[bytes]] = {}
        self._ats: dict[int, str] = {}
        self._xs = _Xs(messages.bounds, messages.bounds, messages.cand_x, messages.cand_x)
        if messages.texts:
            self._label()

    def rectangles(self, some: Probes) -> list[I64]:
        """Return the rectangles of probes, each for the limit of its shape."""
        messages, message = self._packed.messages, some.message
        limits = self._limits(self._store.index.groups.shapes(some.group))
        need = limits - messages.base[message]
        lo_min, lo_max, hi_min, hi_max = (column.copy() for column in some.bounds)
        lefts, rights, first = messages.lefts[message], messages.rights[message], self._bounds[message]
        far = np.flatnonzero((need > 0) & (need <= lefts))
        beyond = self._xs.bound_low[first[far] + need[far] - 1]
        lo_min[far] = np.maximum(lo_min[far], np.where(beyond == INT64_MAX, beyond, beyond + 1))
        far = np.flatnonzero((need > 0) & (need <= rights))
        beyond = self._xs.bound_high[first[far] + lefts[far] + need[far] - 1]
        hi_max[far] = np.minimum(hi_max[far], np.where(beyond == INT64_MIN, beyond, beyond - 1))
        none = need <= 0
        lo_min[none], lo_max[none] = INT64_MAX, INT64_MIN
        return [lo_min, lo_max, hi_min, hi_max]

    def changes(self, hit: I64, slots: I64) -> tuple[list[ListChange], I64]:
        """Return what messages do to lists of slots that may hear them, and the slots of those that do."""
        table = self._store.slots
        lo, hi = self._store.index.points(slots, table.lo[slots], table.hi[slots])
        place = self._places(hit, lo, hi)
        shapes = self._store.slots.shape[slots].astype(np.int64)
        heard = np.flatnonzero(place < self._limits(shapes))
        rows = zip(*(column[heard].tolist() for column in (hit, place, shapes, lo, hi)), strict=True)
        return [self._change(*row) for row in rows], slots[heard]

    def _places(self, hit: I64, lo: I64, hi: I64) -> I64:
        """Return how many rows of each range are better than what its message is about."""
        messages = self._packed.messages
        lefts, sizes = messages.lefts[hit], messages.lefts[hit] + messages.rights[hit]
        pair = np.repeat(np.arange(len(hit)), sizes)
        nth = np.arange(len(pair)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        at = self._bounds[hit][pair] + nth
        left = nth < lefts[pair]
        inside = np.where(left, self._xs.bound_low[at] >= lo[pair], self._xs.bound_high[at] <= hi[pair])
        return messages.base[hit] + np.bincount(pair, inside, len(hit)).astype(np.int64)

    def _change(self, message: int, place: int, shape: int, lo: int, hi: int) -> ListChange:
        messages, entry = self._packed.messages, self._store.shapes[shape]
        rows = self._images(entry.shown_images)
        start, stop = int(self._cands[message]), int(self._cands[message + 1])
        inside: Sequence[bytes] = ()
        if stop > start:
            there = (self._xs.cand_low[start:stop] >= lo) & (self._xs.cand_high[start:stop] <= hi)
            inside = [rows[i] for i in messages.cand[start:stop][there].tolist()]
        old, new = int(messages.old[message]), int(messages.new[message])
        images = (rows[old] if old >= 0 else b"", rows[new] if new >= 0 else b"")
        return ListChange(self._at(message, entry.topic_text), int(messages.kind[message]), place, *images, inside)

    def _images(self, names: tuple[str, ...]) -> list[bytes]:
        """Return the images of the record in some columns, as bytes; the same images are the same objects."""
        rows = self._rows.get(names)
        if rows is None:
            columns = [self._packed.messages.images[name].plain() for name in names]
            rows = self._rows[names] = [encode_row(row) for row in zip(*columns, strict=True)]
        return rows

    def _at(self, message: int, topic_text: str) -> str:
        at = self._ats.get(message)
        if at is None:
            start = row_start(self._position, topic_text)
            partition, offset = int(self._packed.partition[message]), int(self._packed.offset[message])
            at = self._ats[message] = row_at(start, partition, offset)
        return at

    def _limits(self, shapes: I64) -> I64:
        """Return the limits of shapes by their numbers."""
        numbers, place = np.unique(shapes, return_inverse=True)
        found = [self._store.shapes[number].shape for number in numbers.tolist()]
        return np.array([one.limit if isinstance(one, BestShape) else 0 for one in found], np.int64)[place]

    def _label(self) -> None:
        """Turn the texts of messages whose range has no order codes into labels, where somebody may hear of them."""
        messages, xs = self._packed.messages, [column.copy() for column in self._xs]
        for number, channel in enumerate(messages.channels):
            entries = self._store.shapes.shapes_of(channel)[:1]
            type_ = entries[0].range_type if entries else None
            if type_ is None:
                continue
            mine: Bool = messages.channel == number
            bounds = np.repeat(mine, messages.lefts + messages.rights)
            cands = np.repeat(mine, messages.cands)
            for i, chosen, above in ((0, bounds, False), (1, bounds, True), (2, cands, False), (3, cands, True)):
                texts = xs[i][chosen]
                xs[i][chosen] = self._store.index.cuts(entries[0].domain, type_, messages.texts, texts, above)
        self._xs = _Xs(*xs)
