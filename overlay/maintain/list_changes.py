"""What is told of lists of rows that follow messages (`maintain/list_follower.py`).

    pairs of a message and a list that hears it
      ├─ EVERY CHANGE                               told at once, one delivery a pair
      ├─ of a record that changes many rows         a list is held as it was, and told once what has become of it
      └─ LATEST                                     the same, at the end of the batch

A list hears of a change of one row once, so the pairs of a cause that changes one row are one change each, told by what
was taken out and put in. Silent where all rows are shown as before, at the same places: a row that was replaced may be
shown as it was, and where the key is not shown a row may move among others that are shown alike.
Cost: 2 us a delivery by a record; 10 us one of a cause of many rows, or of LATEST.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from operators.packed import PackedBest
from overlay.delivery.causing_rows import CausingRows
from overlay.delivery.delivery import Position, change_head, changed, json_text
from overlay.delivery.list_delivery import Placed, list_change, list_difference
from overlay.delivery.outbox import Outbox
from overlay.maintain.list_follower import MOST_PROJECTIONS, ListFollower, Moves, Pairs, Record
from overlay.maintain.list_kernels import PLACE, ROW
from overlay.maintain.mode import Mode, Modes
from overlay.subscriptions.edge_counters import EdgeCounters
from overlay.subscriptions.subscription_store import SubscriptionStore
from state.change_batch import I64, Bool
from state.distinct_numbers import distinct_numbers
from state.occurrences import occurrences

Cause = tuple[str, int]
"""A shard, and the number of a record that changes many rows among those that the shard took in the batch."""


@dataclass(slots=True)
class _Held:
    """A list as it was told last. `times`: how often it has changed since; `at`: by which row at last.

    move: what the only pair of a cause did.
    """

    rows: I64
    times: int = 0
    at: str = ""
    move: Moves | None = None


class _Told(NamedTuple):
    """What pairs did, with the texts of the rows that are named there. `loud`: what a list shows has changed."""

    pairs: Pairs
    moves: Moves
    texts: dict[int, str]
    loud: Bool

    def of(self, which: Bool) -> _Told:
        moves = Moves(self.moves.out[:, which], self.moves.put[:, which])
        return _Told(self.pairs.of(which), moves, self.texts, self.loud[which])


class ListChanges:
    """Applies pairs, and writes what must be told."""

    def __init__(self, store: SubscriptionStore, outbox: Outbox, counters: EdgeCounters, modes: Modes) -> None:
        self._store = store
        self._outbox = outbox
        self._counters = counters
        self._modes = modes
        self._follower = ListFollower(store.lists)
        self._cause: Cause | None = None
        self._swept: dict[int, _Held] = {}
        self._latest: dict[int, _Held] = {}

    def take(self, packed: PackedBest, record: Record, pairs: Pairs, position: Position) -> None:
        """Apply pairs of a record, which hear; at least one, and of one list in causal order."""
        topic = self._store.shape_of(int(pairs.slot[0])).topic_text
        ats = _Ats(CausingRows(packed, position, topic))
        if packed.several is None:
            self._enter(None)
            self._apply(record, pairs, ats)
            return
        causes = np.where(packed.several, packed.messages.cause, -1)[pairs.message]
        starts = np.flatnonzero(np.append(True, causes[1:] != causes[:-1])).tolist()
        for first, end in zip(starts, [*starts[1:], len(causes)], strict=True):
            number = int(causes[first])
            self._enter(None if number < 0 else (packed.header.shard, number))
            self._apply(record, pairs.of(slice(first, end)), ats)

    def end(self) -> None:
        """End the batch: tell what LATEST has collected."""
        self._enter(None)
        for slot, held in self._latest.items():
            told = bool(held.times) and self._tell_held(slot, held, held.times)
            self._counters.conflated += held.times - told
        self._release(self._latest)

    def _enter(self, cause: Cause | None) -> None:
        """Go on with `cause`: what another one did, of many rows, is told; to LATEST it is one change of the batch."""
        if cause == self._cause:
            return
        self._cause = cause
        for slot, held in self._swept.items():
            if slot in self._latest:
                self._count_swept(slot, held)
            elif not self._tell_held(slot, held, 1):
                self._counters.suppressed += held.times
        self._release(self._swept)

    def _count_swept(self, slot: int, held: _Held) -> None:
        old, new = self._old_and_new(slot, held)
        if old == new:
            self._counters.suppressed += held.times
        else:
            latest = self._latest[slot]
            latest.times, latest.at = latest.times + 1, held.at

    def _apply(self, record: Record, pairs: Pairs, ats: _Ats) -> None:
        """Apply pairs of one cause of many rows, or of causes of one row each."""
        for some, keyed in self._blocks(pairs):
            latest = (self._modes.of(some.slot) & Mode.LATEST) != 0
            self._hold(self._latest, some.slot[latest])
            if self._cause is not None:
                self._hold(self._swept, some.slot)
            moves = self._follower.follow(record, some)
            self._store.lists.note(some.slot[~moves.alike])
            if self._cause is None:
                told = self._told(some, moves, keyed)
                self._tell(told.of(~latest), ats)
                self._collect(told.of(latest), ats)
            else:
                self._sweep(some, moves, ats)
            self._follower.leave(moves)

    def _blocks(self, pairs: Pairs) -> Iterator[tuple[Pairs, bool]]:
        """Yield pairs of a bounded number of projections, and whether these show the key; where not, each list once."""
        projections, place = distinct_numbers(self._store.lists.projection[pairs.slot].astype(np.int64))
        kept = self._store.lists.rows.projections
        shows = np.array([kept.value(one).keyed for one in projections.tolist()], np.bool_)[place]
        block = place // MOST_PROJECTIONS
        for number in range(int(block.max()) + 1):
            for keyed in (True, False):
                mine = (block == number) & (shows == keyed)
                if mine.any():
                    some = pairs if mine.all() else pairs.of(mine)
                    yield from ((one, keyed) for one in ([some] if keyed else _each_once(some)))

    # -- told at once ---------------------------------------------------------------------------------------------

    def _told(self, pairs: Pairs, moves: Moves, keyed: bool) -> _Told:
        """Find which pairs change what is shown."""
        texts = self._store.lists.rows.texts(_named(moves))
        loud = np.ones(len(pairs.slot), np.bool_)
        both = (moves.out[PLACE] >= 0) & (moves.put[PLACE] >= 0)
        stays = (both & (moves.out[PLACE] == moves.put[PLACE])).nonzero()[0]
        rows = zip(moves.out[ROW, stays].tolist(), moves.put[ROW, stays].tolist(), strict=True)
        loud[stays] = [texts[old] != texts[new] for old, new in rows]
        shifts = () if keyed else (both & (moves.out[PLACE] != moves.put[PLACE])).nonzero()[0].tolist()
        for i in shifts:
            loud[i] = not self._alike(int(pairs.slot[i]), moves.out[:, i], int(moves.put[PLACE, i]))
        return _Told(pairs, moves, texts, loud)

    def _alike(self, slot: int, out: I64, put: int) -> bool:
        """Whether a list shows the same although a row went at one place and one came at another one."""
        between = self._store.lists.numbers(slot)[min(out[PLACE], put) : max(out[PLACE], put) + 1]
        return len(set(self._store.lists.rows.texts(np.append(between, out[ROW])).values())) == 1

    def _tell(self, told: _Told, ats: _Ats) -> None:
        """Tell each pair that changes what is shown, by a record."""
        loud = told.of(told.loud)
        self._counters.suppressed += len(told.loud) - len(loud.loud)
        if not len(loud.loud):
            return
        slots, table = loud.pairs.slot, self._store.slots
        distinct, who = distinct_numbers(slots)
        ids, heads = table.change_heads(distinct)
        numbers = self._store.number(slots)
        self._counters.deliveries += len(slots)
        removed, added = (_members(side, loud.texts) for side in loud.moves)
        rows = zip(who.tolist(), numbers.tolist(), removed, added, ats.of(loud.pairs.message), strict=True)
        values = [
            f'{heads[one]},"n":{n},"removed":{gone},"added":{came},"at":{at}}}'.encode()
            for one, n, gone, came, at in rows
        ]
        self._outbox.deliver_all([ids[one] for one in who.tolist()], values, table.terms.forms(slots))

    # -- told later -----------------------------------------------------------------------------------------------

    def _hold(self, into: dict[int, _Held], slots: I64) -> None:
        """Keep lists as they are, of slots that are not kept yet."""
        fresh = [slot for slot in dict.fromkeys(slots.tolist()) if slot not in into]
        for slot in fresh:
            rows = self._store.lists.numbers(slot)
            self._store.lists.rows.more(rows)
            into[slot] = _Held(rows)

    def _release(self, held: dict[int, _Held]) -> None:
        """Forget lists that were kept."""
        if held:
            self._store.lists.rows.leave(np.concatenate([one.rows for one in held.values()]))
            held.clear()

    def _collect(self, told: _Told, ats: _Ats) -> None:
        """Note pairs of LATEST."""
        self._counters.suppressed += len(told.loud) - int(np.count_nonzero(told.loud))
        loud = told.of(told.loud)
        for slot, at in zip(loud.pairs.slot.tolist(), ats.of(loud.pairs.message), strict=True):
            held = self._latest[slot]
            held.times, held.at = held.times + 1, at

    def _sweep(self, pairs: Pairs, moves: Moves, ats: _Ats) -> None:
        """Note pairs of a cause of many rows. The rows of a move are kept, as those of a list that is held."""
        for i, (slot, at) in enumerate(zip(pairs.slot.tolist(), ats.of(pairs.message), strict=True)):
            held = self._swept[slot]
            held.times, held.at = held.times + 1, at
            held.move = Moves(moves.out[:, i], moves.put[:, i]) if held.times == 1 else None

    def _tell_held(self, slot: int, held: _Held, changes: int) -> bool:
        """Tell what has become of a list, unless it shows what it did; return whether it was told."""
        old, new = self._old_and_new(slot, held)
        if old == new:
            return False
        table = self._store.slots
        (n,) = self._store.number(np.array([slot])).tolist()
        key, form = table.key(slot), table.terms.of(slot).deliver
        head = change_head(json_text(key.decode()), int(table.version[slot]))
        self._outbox.deliver(key, changed(head, n, _difference(old, new, held.move), held.at, changes), form)
        self._counters.deliveries += 1
        return True

    def _old_and_new(self, slot: int, held: _Held) -> tuple[list[str], list[str]]:
        """Return how the rows of a list were shown, and are."""
        rows = self._store.lists.numbers(slot)
        texts = self._store.lists.rows.texts(np.append(held.rows, rows))
        old, new = ([texts[number] for number in some.tolist()] for some in (held.rows, rows))
        return old, new


class _Ats:
    """The causing rows of messages as JSON, each made once."""

    def __init__(self, causing: CausingRows) -> None:
        self._causing = causing

    def of(self, messages: I64) -> list[str]:
        """Return that of each message."""
        distinct, place = distinct_numbers(messages)
        made = self._causing.of(distinct)
        return [made[i] for i in place.tolist()]


def _named(moves: Moves) -> I64:
    """Return the rows that were taken out or put in."""
    return np.concatenate([side[ROW][side[PLACE] >= 0] for side in moves])


def _members(side: I64, texts: dict[int, str]) -> list[str]:
    """Return what a delivery says was taken out, or put in, by each pair."""
    rows = zip(side[PLACE].tolist(), side[ROW].tolist(), strict=True)
    return [f"[[{place},{texts[row]}]]" if place >= 0 else "[]" for place, row in rows]


def _each_once(pairs: Pairs) -> Iterator[Pairs]:
    """Yield pairs so that none has a list twice, those of one list in their order."""
    nth, _, _ = occurrences(pairs.slot)
    for number in range(int(nth.max()) + 1):
        yield pairs.of(nth == number)


def _difference(old: Sequence[str], new: Sequence[str], move: Moves | None) -> str:
    """Return what a delivery says of a list that became another one, by one move where that is known."""
    if move is None:
        return list_change(*list_difference(old, new))
    out, put = int(move.out[PLACE]), int(move.put[PLACE])
    removed: list[Placed] = [(out, old[out])] if out >= 0 else []
    added: list[Placed] = [(put, new[put])] if put >= 0 else []
    return list_change(removed, added)
