"""Hits on filters that show rows: their counts and digests follow, and what came and went is told.

    hits (change, slot, enters | leaves | within)
      ├─ within, and the SELECT list shows one row before and after      nothing
      ├─ EVERY CHANGE, TRANSITIONS, ENTER                                told in columns, one delivery a hit
      ├─ of a record that changes many rows                              collected until its last one: one change
      └─ LATEST                                                          collected until the end of the batch

A row that comes or goes always changes a bag. Under TRANSITIONS and ENTER what changes within is not told, under ENTER
nor is what leaves; the digest follows all the same. Of a record that changes many rows they take what changes within
too, to tell a row as it was before the record, or is after it.

A filter hears of a change at most once, so the hits of a cause that changes one row are one change each. The texts of
rows and the ends of deliveries are made once for each change and SELECT list (`maintain/projections.py`).
Cost: 1.3 us a delivery by a record, 0.4 us packed; 5 us one of a cause of many rows, or of LATEST.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from catalog.sql.notify import PUSH, RECORDS
from operators.packed import PackedImages
from overlay.delivery.bag_delivery import bag_change, bag_change_tail, rows_text
from overlay.delivery.delivery import Position, change_head, changed, json_text, row_at, row_start
from overlay.delivery.outbox import Outbox
from overlay.delivery.packed_deliveries import BagChanges, Shared
from overlay.maintain.mode import KEYED, Mode, ModeColumn, Modes
from overlay.maintain.projections import Pairs, Projector
from overlay.maintain.row_net import Net, RowNames, RowNet
from overlay.subscriptions.edge_counters import EdgeCounters
from overlay.subscriptions.filter_book import Hits
from overlay.subscriptions.subscription_store import SubscriptionStore
from state.byte_runs import RECORD_BYTES
from state.change_batch import I64
from state.filter_index import ENTERED, LEFT, WITHIN

_SHORT = RECORD_BYTES // 8
"""An end of so many characters is a record in any case: in UTF-8, and with an id before it."""
_FORM = Mode.PACKED | Mode.PUSHED
NamedRow = tuple[Hashable, str, bool]
"""The name of a row, how it is told, and whether it came: `RowNames.number`."""


class _Cause(NamedTuple):
    """A record that changes many rows: its shard, and its number among those that the shard took in the batch."""

    shard: str
    number: int


class _Hits(NamedTuple):
    """Hits on bags that are not silent, each with its pair and mode."""

    slot: I64
    kind: I64
    pair: I64
    mode: ModeColumn

    def of(self, which: Any) -> _Hits:
        return _Hits(*(column[which] for column in self))


class _Told(NamedTuple):
    """What the hits of a chunk are about: pairs, and the causing row of each as deliveries write it."""

    pairs: Pairs
    at: list[str]


class BagPath:
    """Applies hits on bags, and writes what must be told."""

    def __init__(
        self, store: SubscriptionStore, outbox: Outbox, counters: EdgeCounters, modes: Modes, projector: Projector
    ) -> None:
        self._store = store
        self._outbox = outbox
        self._counters = counters
        self._modes = modes
        self._projector = projector
        self._names = RowNames()
        self._cause: _Cause | None = None
        self._cause_at = ""
        self._swept = RowNet(self._names)
        self._latest = RowNet(self._names)
        self._moves: list[tuple[I64, I64]] = []
        self._ats: list[str] = []

    def hits(self, packed: PackedImages, hits: Hits, modes: ModeColumn, position: Position) -> None:
        """Take hits on bags in causal order, with the mode of each."""
        table = self._store.slots
        keyed = (modes & KEYED) != 0
        place, pairs = self._projector.project(packed, hits.change, table.shape[hits.slot], keyed)
        says = (hits.kind != WITHIN) | ~pairs.same[place]
        loud = (says if packed.several is None else says | keyed & packed.several[hits.change]).nonzero()[0]
        if not len(loud):
            return
        mine = _Hits(hits.slot[loud], hits.kind[loud], place[loud], modes[loud])
        self._follow(mine, pairs)
        topic = self._store.shape_of(int(hits.slot[0])).topic_text
        told = _Told(pairs, _causing_rows(packed, pairs.change, position, topic))
        if packed.several is None:
            self._enter(None)
            self._once(mine, told)
            return
        causes = np.where(packed.several, packed.cause, -1)[hits.change[loud]]
        starts = np.flatnonzero(np.append(True, causes[1:] != causes[:-1])).tolist()
        for first, end in zip(starts, [*starts[1:], len(causes)], strict=True):
            number = int(causes[first])
            self._enter(None if number < 0 else _Cause(packed.header.shard, number))
            (self._once if number < 0 else self._many)(mine.of(slice(first, end)), told)

    def later(self, slots: I64, which: I64, rows: Sequence[Sequence[NamedRow]], ats: Sequence[str]) -> None:
        """Collect what each of `slots`, all of LATEST, is told by the end of the batch: rows[which], as one change."""
        numbers = [[self._names.number(*row) for row in each] for each in rows]
        sizes = np.array([len(each) for each in numbers], np.int64)
        flat = np.array([number for each in numbers for number in each], np.int64)
        times = np.array([1 if came else -1 for each in rows for _, _, came in each], np.int64)
        many = sizes[which]
        at = np.arange(int(many.sum())) - np.repeat(np.cumsum(many) - many - (np.cumsum(sizes) - sizes)[which], many)
        self._latest.add(np.repeat(slots, many), flat[at], times[at])
        self._moves.append((slots, which + len(self._ats)))
        self._ats += ats

    def end(self) -> None:
        """End the batch: tell what LATEST has collected."""
        self._enter(None)
        if self._moves:
            slots, ats = (np.concatenate(column) for column in zip(*self._moves, strict=True))
            distinct, place, moves = np.unique(slots, return_inverse=True, return_counts=True)
            last = np.zeros(len(distinct), np.int64)
            last[place] = ats
            rows = zip(distinct.tolist(), last.tolist(), moves.tolist(), strict=True)
            told = {slot: (at, count) for slot, at, count in rows}
            before = self._counters.deliveries
            for net in self._latest.take():
                at, changes = told[net.slot]
                self._tell(net, self._ats[at], changes)
            self._counters.conflated += len(slots) - (self._counters.deliveries - before)
        self._moves, self._ats = [], []
        self._names.clear()

    def _follow(self, hits: _Hits, pairs: Pairs) -> None:
        """Let counts and digests follow."""
        came, went, nothing = hits.kind != LEFT, hits.kind != ENTERED, np.uint64(0)
        low, high = (
            np.where(came, new[hits.pair], nothing) - np.where(went, old[hits.pair], nothing)
            for old, new in ((pairs.old.low, pairs.new.low), (pairs.old.high, pairs.new.high))
        )
        self._store.moved(self._store.slots.filters.add(hits.slot, came.astype(np.int64) - went, low, high))

    def _once(self, hits: _Hits, told: _Told) -> None:
        """Take hits of causes that change one row."""
        latest = (hits.mode & Mode.LATEST) != 0
        if latest.any():
            mine = hits.of(latest)
            self._collect(self._latest, mine, told.pairs)
            self._moves.append((mine.slot, mine.pair + len(self._ats)))
            self._ats += told.at
        silent = ((hits.mode & Mode.ENTER) != 0) & (hits.kind == LEFT)
        loud = ~(latest | silent)
        for form in np.unique(hits.mode[loud] & _FORM).tolist():
            mine = hits.of(loud & (hits.mode & _FORM == form))
            if form == Mode.PACKED:
                self._pack(mine, told)
            else:
                self._write(mine, told, PUSH if form == Mode.PUSHED else RECORDS)

    # -- told at once ---------------------------------------------------------------------------------------------

    def _write(self, hits: _Hits, told: _Told, form: str) -> None:
        """Tell each hit by a record."""
        shared, which = _shared(hits)
        tails = [
            bag_change_tail(*_sides(told.pairs, pair, kind), told.at[pair], told.pairs.keys(pair))
            for pair, kind in shared
        ]
        distinct, who = np.unique(hits.slot, return_inverse=True)
        ids, heads = self._store.slots.change_heads(distinct)
        rows = zip(who.tolist(), which.tolist(), self._numbered(hits.slot).tolist(), strict=True)
        if max(map(len, tails), default=0) < _SHORT:
            self._outbox.shared_changes(ids, heads, tails, rows, form == PUSH)
            return
        for one, tail, n in rows:
            self._outbox.deliver(ids[one], f'{heads[one]},"n":{n}{tails[tail]}'.encode(), form)

    def _pack(self, hits: _Hits, told: _Told) -> None:
        """Tell each hit in columns."""
        shared, which = _shared(hits)
        sides = [_sides(told.pairs, pair, kind) for pair, kind in shared]
        removed, added = (Shared(which, [rows_text(side[i]) for side in sides]) for i in (0, 1))
        at = Shared(which, [told.at[pair] for pair, _ in shared])
        keys = [told.pairs.keys(pair) for pair, _ in shared]
        by_key = np.array([bool(key) for key in keys], np.bool_)
        key = Shared(np.where(by_key[which], which, -1), [json_text(list(key)) for key in keys])
        table = self._store.slots
        ids, sizes = table.flat_ids(hits.slot)
        version, n = table.version[hits.slot], self._numbered(hits.slot)
        shown_key = key if by_key.any() else None
        self._outbox.pack_changes(BagChanges(ids, sizes, version, n, removed, added, at, shown_key))

    def _numbered(self, slots: I64) -> I64:
        """Count a delivery of slots each time they stand there, and return its number."""
        self._counters.deliveries += len(slots)
        return self._store.number(slots)

    # -- told later -----------------------------------------------------------------------------------------------

    def _many(self, hits: _Hits, told: _Told) -> None:
        """Take hits of a cause that changes many rows."""
        self._cause_at = told.at[int(hits.pair[0])]
        self._collect(self._swept, hits, told.pairs)

    def _enter(self, cause: _Cause | None) -> None:
        """Go on with `cause`: what another one did, of many rows, is told; to LATEST it is one change of the batch."""
        if cause == self._cause:
            return
        self._cause = cause
        for net in self._swept.take():
            slots = np.full(len(net.rows), net.slot)
            if Mode.LATEST in self._mode(net.slot):
                self._latest.add(slots, net.rows, net.times)
                self._moves.append((slots[:1], np.array([len(self._ats)])))
            else:
                self._tell(net, self._cause_at, 1)
        self._ats.append(self._cause_at)

    def _collect(self, net: RowNet, hits: _Hits, pairs: Pairs) -> None:
        """Note which rows went and came."""
        for came, side, other in ((False, pairs.old, ENTERED), (True, pairs.new, LEFT)):
            mine = hits.of(hits.kind != other)
            used, which = np.unique(mine.pair, return_inverse=True)
            lists = [pairs.lists[number] for number in pairs.of_list[used].tolist()]
            rows = [
                self._names.number((shown, side.names[pair], shown[1] and self._cause), side.texts[pair], came)
                for shown, pair in zip(lists, used.tolist(), strict=True)
            ]
            net.add(mine.slot, np.array(rows, np.int64)[which], np.full(len(which), 1 if came else -1))

    def _tell(self, net: Net, at: str, changes: int) -> None:
        """Tell what is left for a slot, if its policy tells it."""
        table, mode = self._store.slots, self._mode(net.slot)
        removed = [] if Mode.ENTER in mode else self._names.texts(net.rows, -net.times, came=False)
        added = self._names.texts(net.rows, net.times, came=True)
        if not (removed or added):
            return
        keys = self._store.shape_of(net.slot).keys if mode & KEYED else ()
        (n,) = self._numbered(np.array([net.slot])).tolist()
        key = table.key(net.slot)
        head = change_head(json_text(key.decode()), int(table.version[net.slot]))
        value = changed(head, n, bag_change(removed, added, keys), at, changes)
        self._outbox.deliver(key, value, table.terms.of(net.slot).deliver)

    def _mode(self, slot: int) -> Mode:
        return Mode(int(self._modes.of(np.array([slot]))[0]))


def _causing_rows(packed: PackedImages, changes: I64, position: Position, topic: str) -> list[str]:
    """Return the causing row of each of some changes as JSON; `topic` is their table's, where they are of a table."""
    partition, offset = packed.partition[changes].tolist(), packed.offset[changes].tolist()
    if packed.topic is None:
        starts = [row_start(position, topic)] * len(changes)
    else:
        of_topic = [row_start(position, json_text(name)) for name in packed.header.topics]
        starts = [of_topic[place] for place in packed.topic[changes].tolist()]
    return [row_at(*one) for one in zip(starts, partition, offset, strict=True)]


def _shared(hits: _Hits) -> tuple[list[tuple[int, int]], I64]:
    """Return the different pairs and kinds, and the place of each hit's among them: they are told alike."""
    shared, which = np.unique(hits.pair * 4 + hits.kind, return_inverse=True)
    return [divmod(one, 4) for one in shared.tolist()], which


def _sides(pairs: Pairs, pair: int, kind: int) -> tuple[list[str], list[str]]:
    """Return which rows went and which came."""
    removed = [] if kind == ENTERED else [pairs.old.texts[pair]]
    return removed, [] if kind == LEFT else [pairs.new.texts[pair]]
