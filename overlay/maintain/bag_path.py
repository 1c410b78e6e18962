"""Hits on filters that show rows: their counts and digests follow, and what came and went is told.

    hits (change, slot, enters | leaves | within)
      ├─ within, and the SELECT list shows one row before and after      nothing
      ├─ EVERY CHANGE, TRANSITIONS, ENTER                                told in columns, one delivery a hit
      ├─ several hits of a record that changes many rows                 netted: one change
      └─ LATEST                                                          collected until the end of the batch

A row that comes or goes always changes a bag. Under TRANSITIONS and ENTER what changes within is not told, under ENTER
nor is what leaves; the digest follows all the same. Of a record that changes many rows they take what changes within
too, to tell a row as it was before the record, or is after it.

A filter hears of a change at most once, so the hits of a cause that changes one row are one change each. So are those
of a cause of many rows to whoever hears of one row alone. Whoever has several hits of some cause takes the way of nets,
with all of its hits that came together, so that each hears in order. The last cause of what came may go on with what
comes next: it is collected until another one begins.

The texts of rows are made once for each change and SELECT list (`maintain/projections.py`), the ends of deliveries once
for all who hear the same (`maintain/bag_teller.py`).
Cost: that of telling; 5 us a delivery that is netted, and 1 us a row; 40 us one of LATEST, or of the last cause of what
came.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from operators.packed import PackedImages
from overlay.delivery.bag_delivery import bag_change
from overlay.delivery.causing_rows import CausingRows
from overlay.delivery.delivery import Position, change_head, changed, json_text
from overlay.delivery.outbox import Outbox
from overlay.maintain.bag_teller import BagTeller, Keys, Said
from overlay.maintain.mode import KEYED, Mode, ModeColumn, Modes
from overlay.maintain.projections import Pairs, Projector
from overlay.maintain.row_net import Net, Nets, RowNames, RowNet
from overlay.subscriptions.edge_counters import EdgeCounters
from overlay.subscriptions.filter_book import Hits
from overlay.subscriptions.subscription_store import SubscriptionStore
from state.change_batch import I64, Bool
from state.filter_index import ENTERED, LEFT, WITHIN
from state.run_places import run_places

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
    """What the hits of a chunk are about: pairs, and the cause of each, by name and as deliveries write its row."""

    pairs: Pairs
    cause: list[_Cause]
    at: list[str]


class BagPath:
    """Applies hits on bags, and writes what must be told."""

    def __init__(
        self, store: SubscriptionStore, outbox: Outbox, counters: EdgeCounters, modes: Modes, projector: Projector,
        teller: BagTeller,
    ) -> None:  # fmt: skip
        self._store = store
        self._outbox = outbox
        self._counters = counters
        self._modes = modes
        self._projector = projector
        self._teller = teller
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
        cause = [_Cause(packed.header.shard, number) for number in packed.cause[pairs.change].tolist()]
        told = _Told(pairs, cause, CausingRows(packed, position, topic).of(pairs.change))
        if packed.several is None:
            self._enter(None)
            self._once(mine, told)
            return
        change = hits.change[loud]
        causes = np.where(packed.several, packed.cause, -1)[change]
        first, last = self._going_on(causes, packed.header.shard), _last_run(causes)
        self._many(mine.of(slice(0, first)), told)
        if first == len(causes):
            return
        self._enter(None)
        within = slice(first, last)
        self._whole(mine.of(within), says[loud][within], told, causes[within], change[within])
        if last < len(causes):
            self._enter(_Cause(packed.header.shard, int(causes[-1])))
            self._many(mine.of(slice(last, None)), told)

    def _going_on(self, causes: I64, shard: str) -> int:
        """Return how many hits, of the first ones, are of the cause that is collected."""
        if self._cause is None or self._cause.shard != shard:
            return 0
        others = np.flatnonzero(causes != self._cause.number)
        return int(others[0]) if len(others) else len(causes)

    def later(self, slots: I64, which: I64, rows: Sequence[Sequence[NamedRow]], ats: Sequence[str]) -> None:
        """Collect what each of `slots`, all of LATEST, is told by the end of the batch: rows[which], as one change."""
        numbers = [[self._names.number(*row) for row in each] for each in rows]
        sizes = np.array([len(each) for each in numbers], np.int64)
        flat = np.array([number for each in numbers for number in each], np.int64)
        times = np.array([1 if came else -1 for each in rows for _, _, came in each], np.int64)
        many = sizes[which]
        at = run_places((np.cumsum(sizes) - sizes)[which], many)
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
                at, changes = told[net.owner]
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
            self._collect(self._latest, mine.slot, mine, told)
            self._moves.append((mine.slot, mine.pair + len(self._ats)))
            self._ats += told.at
        silent = ((hits.mode & Mode.ENTER) != 0) & (hits.kind == LEFT)
        mine = hits.of(~(latest | silent))
        if len(mine.slot):
            shared, which = np.unique(mine.pair * 4 + mine.kind, return_inverse=True)
            said = Said.of(
                (*_sides(told.pairs, pair, kind), told.at[pair], told.pairs.keys(pair))
                for pair, kind in (divmod(one, 4) for one in shared.tolist())
            )
            self._teller.tell(mine.slot, mine.mode, which, said)

    def _whole(self, hits: _Hits, says: Bool, told: _Told, causes: I64, change: I64) -> None:
        """Take hits of whole causes, which are by number, or -1 where they change one row."""
        if not len(causes):
            return
        begins = (np.diff(causes, prepend=-2) != 0) | ((causes < 0) & (np.diff(change, prepend=-1) != 0))
        group = np.cumsum(begins) * (int(hits.slot.max()) + 1) + hits.slot
        _, place, times = np.unique(group, return_inverse=True, return_counts=True)
        several = np.unique(hits.slot[times[place] > 1])
        netted = np.isin(hits.slot, several) if len(several) else np.zeros(len(group), np.bool_)
        once = ~netted & says
        if once.any():
            self._once(hits.of(once), told)
        if netted.any():
            self._netted(hits.of(netted), told, group[netted])

    def _netted(self, hits: _Hits, told: _Told, group: I64) -> None:
        """Take hits of whole causes, one change for each `group`, which is a cause and a slot; they ascend by cause."""
        _, first, owner = np.unique(group, return_index=True, return_inverse=True)
        net = RowNet(self._names)
        self._collect(net, owner, hits, told)
        nets = net.take()
        one = hits.of(first[nets.owners])
        latest = (one.mode & Mode.LATEST) != 0
        if latest.any():
            mine = nets.of(latest)
            self._latest.add(np.repeat(one.slot[latest], np.diff(mine.starts)), mine.rows, mine.times)
            self._moves.append((one.slot[latest], one.pair[latest] + len(self._ats)))
            self._ats += told.at
        if not latest.all():
            self._say_nets(nets.of(~latest), one.of(~latest), told)

    def _say_nets(self, nets: Nets, hits: _Hits, told: _Told) -> None:
        """Tell each net to the slot of its hit."""
        said: list[tuple[list[str], list[str], str, Keys]] = []
        places: dict[tuple[str, bool, bytes, bytes], int] = {}
        which = np.full(len(nets), -1, np.int64)
        for i, (net, mode, pair) in enumerate(zip(nets, hits.mode.tolist(), hits.pair.tolist(), strict=True)):
            at, enters = told.at[pair], bool(mode & Mode.ENTER)
            alike = at, enters, net.rows.tobytes(), net.times.tobytes()
            place = places.get(alike)
            if place is None:
                removed, added = self._sides_of(net, enters)
                place = places[alike] = len(said) if removed or added else -1
                if place >= 0:
                    said.append((removed, added, at, told.pairs.keys(pair)))
            which[i] = place
        loud = which >= 0
        self._teller.tell(hits.slot[loud], hits.mode[loud], which[loud], Said.of(said))

    def _sides_of(self, net: Net, enters: bool) -> tuple[list[str], list[str]]:
        """Return which rows went and which came, to somebody who is told of those that enter alone or of all."""
        removed = [] if enters else self._names.texts(net.rows, -net.times, came=False)
        return removed, self._names.texts(net.rows, net.times, came=True)

    # -- told later -----------------------------------------------------------------------------------------------

    def _many(self, hits: _Hits, told: _Told) -> None:
        """Take hits of a cause that changes many rows, and may go on."""
        if len(hits.slot):
            self._cause_at = told.at[int(hits.pair[0])]
            self._collect(self._swept, hits.slot, hits, told)

    def _enter(self, cause: _Cause | None) -> None:
        """Go on with `cause`: what another one did, of many rows, is told; to LATEST it is one change of the batch."""
        if cause == self._cause:
            return
        self._cause = cause
        for net in self._swept.take():
            slots = np.full(len(net.rows), net.owner)
            if Mode.LATEST in self._mode(net.owner):
                self._latest.add(slots, net.rows, net.times)
                self._moves.append((slots[:1], np.array([len(self._ats)])))
            else:
                self._tell(net, self._cause_at, 1)
        self._ats.append(self._cause_at)

    def _collect(self, net: RowNet, owners: I64, hits: _Hits, told: _Told) -> None:
        """Note which rows went and came, for the owner of each hit."""
        pairs = told.pairs
        for came, side, other in ((False, pairs.old, ENTERED), (True, pairs.new, LEFT)):
            mine = hits.kind != other
            used, which = np.unique(hits.pair[mine], return_inverse=True)
            lists = [pairs.lists[number] for number in pairs.of_list[used].tolist()]
            rows = [
                self._names.number((shown, side.names[pair], shown[1] and told.cause[pair]), side.texts[pair], came)
                for shown, pair in zip(lists, used.tolist(), strict=True)
            ]
            net.add(owners[mine], np.array(rows, np.int64)[which], np.full(len(which), 1 if came else -1))

    def _tell(self, net: Net, at: str, changes: int) -> None:
        """Tell what is left for a slot, if its policy tells it."""
        table, slot, mode = self._store.slots, net.owner, self._mode(net.owner)
        removed, added = self._sides_of(net, Mode.ENTER in mode)
        if not (removed or added):
            return
        keys = self._store.shape_of(slot).keys if mode & KEYED else ()
        (n,) = self._teller.numbered(np.array([slot])).tolist()
        key = table.key(slot)
        head = change_head(json_text(key.decode()), int(table.version[slot]))
        value = changed(head, n, bag_change(removed, added, keys), at, changes)
        self._outbox.deliver(key, value, table.terms.of(slot).deliver)

    def _mode(self, slot: int) -> Mode:
        return Mode(int(self._modes.of(np.array([slot]))[0]))


def _last_run(causes: I64) -> int:
    """Return where the hits of the last cause begin, which may go on; at the end where it changes one row."""
    if causes[-1] < 0:
        return len(causes)
    return int(np.flatnonzero(causes != causes[-1])[-1]) + 1 if (causes != causes[-1]).any() else 0


def _sides(pairs: Pairs, pair: int, kind: int) -> tuple[list[str], list[str]]:
    """Return which rows went and which came."""
    removed = [] if kind == ENTERED else [pairs.old.texts[pair]]
    return removed, [] if kind == LEFT else [pairs.new.texts[pair]]
