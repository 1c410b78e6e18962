"""Whether shards still say what was told as final: it is asked once more in each epoch, and after each loss.

    told final ──► an era begins ──► a look (`overlay/subscriptions/bag_looks.py`) ──► the same: all is well
                                                                                   └─► another: counted and named

A final answer stays as it was told, whatever is found, and nothing more is told of it. But a topic that was made anew,
or a log that was lost, may give another one, and whoever runs all this has to know. It is asked for as soon as the view
is complete to the end of its last window again, which the shard says with each answer: before that, less may be there.
Where nobody here follows the view, one question, that of the earliest window, is put again after 1, 2, 4, ...
`PATIENCE` batches, until its answer says so.

Numbers of looks follow from versions, so nothing is to be remembered of what is asked. Who is asked no more is of the
present era: because the answer is the same, or cannot be had, since its windows have gone. Who is contradicted is not,
so the next process finds it again. At most `MOST` are asked at a time.
Cost: nothing while no answer is final, or all were asked; else O(slots) in numpy a batch, and 20 us for each once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from catalog.types.value import moment_text
from operators.packed import PackedSnapshot
from operators.reply import Digest, Later, Refused, Rows
from overlay.answers.answer import Answer, ListAnswer, answer_of
from overlay.answers.list_layout import ListLayout
from overlay.subscriptions.edge_counters import EdgeCounters
from overlay.subscriptions.subscription_store import SubscriptionStore
from state import row_digest
from state.change_batch import I64

FIRST = -(2**62) - 1
"""The number of the look at version 0: those of others (`overlay/process/shard_looks.py`) are above."""
MOST = 10_000
PATIENCE = 1_024
_LONGEST = 1_000
"""Characters of an answer that is named whole."""


class Contradiction(NamedTuple):
    """A final answer that a shard says otherwise now.

    upto: the end of the last window that is asked about.  told, found: JSON texts, of rows in no order how many.
    """

    id: str
    version: int
    sql: str
    upto: str
    told: str
    found: str


@dataclass(slots=True)
class _Pace:
    """How long a relation waits between two questions for how far it is complete, in batches; `left` of it."""

    wait: int = 1
    left: int = 0


@dataclass(slots=True)
class _Life:
    """The present era. asked: the versions that wait for an answer.  found: those that are contradicted.

    due: looks that are to be written, by slot.  over: nothing is left to be asked.
    """

    era: int
    asked: set[int] = field(default_factory=set)
    found: set[int] = field(default_factory=set)
    due: dict[int, int] = field(default_factory=dict)
    paces: dict[str, _Pace] = field(default_factory=dict)
    over: bool = False


class Contradictions:
    """Asks again for the final answers of earlier eras, and compares."""

    def __init__(self, store: SubscriptionStore, counters: EdgeCounters) -> None:
        self._store = store
        self._counters = counters
        self._now = _Life(store.slots.era)
        self._named: list[Contradiction] = []

    def turn(self, horizons: Mapping[str, int]) -> None:
        """Find what is to be asked behind a batch; `horizons`: how far shards are complete, as far as was heard."""
        life = self._life()
        if life.over or not len(self._store.slots.finals):
            return
        slots = self._earlier()
        known = np.array([*life.asked, *life.found], np.int64)
        slots = slots[~np.isin(self._store.slots.version[slots], known)]
        life.over = not len(slots) and not life.asked
        upto = {shard.rpartition("/")[0]: horizon for shard, horizon in horizons.items()}
        for relation, mine in self._by_relation(slots).items():
            chosen = self._chosen(mine, upto.get(relation), life.paces.setdefault(relation, _Pace()))
            for slot in chosen[: MOST - len(life.asked)].tolist():
                version = int(self._store.slots.version[slot])
                life.asked.add(version)
                life.due[slot] = FIRST - version

    def asked(self) -> dict[int, int]:
        """Return the slots that are to be looked at now, with the number of each look, once."""
        life, table = self._life(), self._store.slots
        due, life.due = life.due, {}
        if not due:
            return due
        slots = np.array(list(due), np.int64)
        there = table.is_used(slots) & (table.version[slots] == FIRST - np.array(list(due.values()), np.int64))
        return {slot: due[slot] for slot in slots[there].tolist()}

    def take(self, packed: PackedSnapshot) -> None:
        """Compare the answers to looks at finals that are among those of a shard."""
        rows = (packed.version <= FIRST).nonzero()[0]
        if not len(rows):
            return
        life, table = self._life(), self._store.slots
        earlier, settled = self._earlier(), list[int]()
        slots = dict(zip(table.version[earlier].tolist(), earlier.tolist(), strict=True))
        for row in rows.tolist():
            version = FIRST - int(packed.version[row])
            life.asked.discard(version)
            slot = slots.get(version)
            if slot is None or version in life.found or not self._says(slot, packed, row):
                continue
            said = self._differing(slot, packed, row)
            if said is None:
                settled.append(slot)
            else:
                life.found.add(version)
                self._name(slot, *said)
        done = np.array(settled, np.int64)
        table.eras[done] = table.era
        self._store.moved(done)

    def named(self) -> list[Contradiction]:
        """Return the contradictions that were found since the last call."""
        named, self._named = self._named, []
        return named

    def _life(self) -> _Life:
        """Return what is known of the present era."""
        if self._now.era != self._store.slots.era:
            self._now = _Life(self._store.slots.era)
        return self._now

    def _earlier(self) -> I64:
        """Return the slots that became final in an earlier era, and of which nothing was found out in this one."""
        table = self._store.slots
        slots = table.used()
        return slots[table.finals.told(slots) & (table.eras[slots] != table.era)]

    def _by_relation(self, slots: I64) -> dict[str, I64]:
        shapes = self._store.slots.shape[slots]
        parts: dict[str, list[I64]] = {}
        for number in np.unique(shapes).tolist():
            parts.setdefault(self._store.shapes[number].shape.relation, []).append(slots[shapes == number])
        return {relation: np.concatenate(parts[relation]) for relation in sorted(parts)}

    def _chosen(self, slots: I64, upto: int | None, pace: _Pace) -> I64:
        """Return whom to ask: all whose windows are complete; where none are known to be, at times the earliest."""
        ends = self._store.slots.finals.of(slots)
        complete = slots[ends <= upto] if upto is not None else slots[:0]
        if len(complete):
            return complete
        if pace.left:
            pace.left -= 1
            return complete
        pace.left, pace.wait = pace.wait, min(2 * pace.wait, PATIENCE)
        return slots[[int(np.argmin(ends))]]

    def _says(self, slot: int, packed: PackedSnapshot, row: int) -> bool:
        """Whether a reply is one, and none that comes before the windows have ended again."""
        reply = packed.replies.get(row)
        ended = packed.header.horizon >= int(self._store.slots.finals.of(np.array([slot]))[0])
        return isinstance(reply, Refused) or (ended and not isinstance(reply, Later))

    def _differing(self, slot: int, packed: PackedSnapshot, row: int) -> tuple[str, str] | None:
        """Return what was told and what a shard says now, None where that is the same or is not said."""
        reply, entry = packed.replies.get(row), self._store.shape_of(slot)
        if entry.bag:
            held = self._store.slots.filters.digest(slot)
            if not isinstance(reply, Digest) or row_digest.Digest(reply.count, reply.low, reply.high) == held:
                return None
            return _rows(held.count), "others" if reply.count == held.count else _rows(reply.count)
        answer: Answer
        if reply is None:
            answer = _valued(packed, row)
        elif isinstance(reply, Rows) and isinstance(entry.plan, ListLayout) and entry.plan.fits(reply.rows):
            answer = ListAnswer(reply.rows)
        else:
            return None
        told = self._store.answer(slot)
        return (entry.plan.text(told), entry.plan.text(answer)) if entry.plan.differ(told, answer) else None

    def _name(self, slot: int, told: str, found: str) -> None:
        table = self._store.slots
        upto = moment_text(int(table.finals.of(np.array([slot]))[0]))
        named = table.key(slot).decode(), int(table.version[slot]), table.sql(slot), upto
        self._named.append(Contradiction(*named, told[:_LONGEST], found[:_LONGEST]))
        self._counters.contradictions += 1


def _valued(packed: PackedSnapshot, row: int) -> Answer:
    """Return the answer in a row that has no reply: its parts, or else the order code."""
    parts = packed.parts.get(row)
    if parts is not None:
        return answer_of(parts)
    return (int(packed.new[row]) if packed.has_new[row] else None,)


def _rows(count: int) -> str:
    return f"{count} row{'s' * (count != 1)}"
