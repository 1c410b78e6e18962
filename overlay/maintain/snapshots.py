"""Answers to registrations: a waiting subscription starts with its snapshot, one of an earlier era is resynced."""

from __future__ import annotations

from functools import partial

import numpy as np

from catalog.sql.notify import FORMS, PACKED
from operators.answer import Tally
from operators.packed import PackedSnapshot
from operators.reply import WINDOW_GONE, Later, Refused, Reply, Rows
from overlay.answers import quota
from overlay.answers.answer import Answer, ListAnswer, answer_of, over_quota
from overlay.answers.list_layout import ListLayout
from overlay.delivery import ack
from overlay.delivery.delivery import NULL, Position, delivery, json_names, json_text, moved
from overlay.delivery.outbox import Outbox
from overlay.maintain.bag_snapshots import BagAnswer, BagSnapshots
from overlay.maintain.finals import certainties
from overlay.maintain.mode import Mode, ModeColumn, Modes
from overlay.subscriptions.edge_counters import EdgeCounters
from overlay.subscriptions.expiry import written
from overlay.subscriptions.subscription_store import TOLD_APART, SubscriptionStore
from overlay.table.slot_table import NONE
from state.change_batch import I64, Bool
from state.order_code import INT64_MAX


class Snapshots:
    """Takes the answers of shards.

    Slots whose answer is over its quota are neither started nor resynced, nor are live ones about windows that are kept
    no more: `given_up` returns them by reason, to be ended.
    """

    def __init__(
        self, store: SubscriptionStore, outbox: Outbox, counters: EdgeCounters, modes: Modes, bags: BagSnapshots
    ) -> None:
        self._given_up: dict[str, list[int]] = {}
        self._store = store
        self._outbox = outbox
        self._counters = counters
        self._modes = modes
        self._bags = bags

    def take(self, packed: PackedSnapshot, at: Position) -> None:
        """Take the answers of one chunk, which hold at `at`.

        What a shard refuses ends before it has begun, and a live bag that has grown beyond its quota ends too; what it
        answers later is registered again with this step.
        Of an id's two slots the live one is resynced before the waiting one starts.
        Cost: O(slots) in numpy; 5 us to start a plain answer, 10 us others.
        """
        slots = self._store.slots.awaiting_slots(packed.version)
        rows = np.unique(slots, return_index=True)[1]
        rows = np.sort(rows[slots[rows] != NONE])
        self._counters.stale_snapshots += int(np.count_nonzero(packed.version >= 0)) - len(rows)
        slots = slots[rows]
        self._modes.forget(slots)
        modes = self._modes.of(slots)
        bags: dict[int, BagAnswer] = {}
        lists: dict[int, Answer] = {}
        if packed.replies:
            valued = self._reply(packed, rows.tolist(), slots.tolist(), bags, lists)
            rows, slots, modes = rows[valued], slots[valued], modes[valued]
        is_live = self._store.slots.n[slots] > 0
        for begun in (True, False):
            if bags:
                some = {slot: answer for slot, answer in bags.items() if bool(self._store.slots.n[slot]) == begun}
                (self._resync_bags if begun else self._start_bags)(some, at)
            mine = (is_live == begun) & (modes & (Mode.SINGLE | Mode.BAG | Mode.LIST) == 0)
            if mine.any():
                value, known = _columns(packed, rows[mine], modes[mine])
                (self._resync_plain if begun else self._start_plain)(slots[mine], value, known, at)
            single = ((is_live == begun) & (modes == Mode.SINGLE)).nonzero()[0]
            wholes = self._within_quota(slots[single], [_whole(packed, row) for row in rows[single].tolist()])
            wholes |= {slot: answer for slot, answer in lists.items() if bool(self._store.slots.n[slot]) == begun}
            if wholes:
                (self._resync_singles if begun else self._start_singles)(wholes, at)

    def _reply(
        self, packed: PackedSnapshot, rows: list[int], slots: list[int], bags: dict[int, BagAnswer],
        lists: dict[int, Answer],
    ) -> I64:  # fmt: skip
        """Take what is no value, and write what is said to bags and lists into these; return the places of values."""
        table, refused, later, shown = self._store.slots, list[int](), list[int](), dict[int, Reply]()
        for row, slot in zip(rows, slots, strict=True):
            reply = packed.replies.get(row)
            if isinstance(reply, Later):
                later.append(slot)
            elif isinstance(reply, Refused) and table.n[slot]:
                if reply.code in (quota.REASON, WINDOW_GONE):
                    self._give_up(reply.code, slot)
            elif isinstance(reply, Refused):
                refusal = ack.Refusal(reply.code, reply.message, reply.hint or None)
                key = table.key(slot)
                self._outbox.ack(key, ack.refused(key.decode(), int(table.version[slot]), refusal))
                refused.append(slot)
            elif reply is not None and self._store.shape_of(slot).bag:
                shown[slot] = reply
            elif isinstance(reply, Rows):
                layout = self._store.shape_of(slot).plan
                if isinstance(layout, ListLayout) and reply.last and layout.fits(reply.rows):
                    lists[slot] = ListAnswer(reply.rows)
        bags |= self._bags.read_all(shown)
        self._counters.refused += len(refused)
        self._store.retire(np.array(refused, np.int64))
        if later:
            self._store.registrations.queue(np.array(later, np.int64))
        return np.array([i for i, row in enumerate(rows) if row not in packed.replies], np.int64)

    def given_up(self) -> dict[str, list[int]]:
        """Return by reason the slots that end, once."""
        given_up, self._given_up = self._given_up, {}
        return given_up

    def _give_up(self, reason: str, slot: int) -> None:
        self._given_up.setdefault(reason, []).append(slot)

    def _resync_plain(self, slots: I64, value: I64, known: Bool, at: Position) -> None:
        """Resync answers that are kept in the columns of slots."""
        table = self._store.slots
        held, held_known = table.value[slots], table.known[slots]
        n = table.n[slots] + ((held != value) | (held_known != known))
        olds, news = self._texts(slots, held, held_known), self._texts(slots, value, known)
        for slot, number, old, new in zip(slots.tolist(), n.tolist(), olds, news, strict=True):
            self._resync(slot, number, moved(old, new), at)
        self._store.sync(slots, value, known, n)

    def _start_plain(self, slots: I64, value: I64, known: Bool, at: Position) -> None:
        """Start answers that are kept in the columns of slots."""
        bodies = [moved(NULL, new) for new in self._texts(slots, value, known)]
        self._start(slots, bodies, at)
        self._store.sync(slots, value, known, np.ones(len(slots), np.int64))

    def _texts(self, slots: I64, codes: I64, known: Bool) -> list[str]:
        return self._store.shapes.texts(self._store.slots.shape[slots], codes, known)

    def _within_quota(self, slots: I64, wholes: list[Answer]) -> dict[int, Answer]:
        """Return answers that are kept one by one, by slot, without those over their quota."""
        within = {}
        for slot, whole in zip(slots.tolist(), wholes, strict=True):
            if over_quota(whole):
                self._give_up(quota.REASON, slot)
            else:
                within[slot] = whole
        return within

    def _resync_singles(self, wholes: dict[int, Answer], at: Position) -> None:
        """Resync answers that are kept one by one."""
        numbers = []
        for slot, whole in wholes.items():
            entry, told = self._store.shape_of(slot), self._told(slot)
            numbers.append(int(self._store.slots.n[slot]) + entry.plan.differ(told, whole))
            self._resync(slot, numbers[-1], entry.plan.body(told, whole), at)
        self._keep_singles(wholes, np.array(numbers, np.int64))

    def _start_singles(self, wholes: dict[int, Answer], at: Position) -> None:
        """Start answers that are kept one by one."""
        bodies = [self._store.shape_of(slot).plan.body(None, whole) for slot, whole in wholes.items()]
        self._start(np.array(list(wholes), np.int64), bodies, at)
        self._keep_singles(wholes, np.ones(len(wholes), np.int64))

    def _resync_bags(self, answers: dict[int, BagAnswer], at: Position) -> None:
        """Resync bags."""
        table, numbers = self._store.slots, list[int]()
        for slot, answer in answers.items():
            key, n = table.key(slot), int(table.n[slot]) + self._bags.differs(slot, answer)
            made = partial(_made, json_text(key.decode()), "resync", int(table.version[slot]), n, at.text, None)
            self._outbox.deliver_parts(key, self._bags.resynced(slot, answer, made), table.terms.of(slot).deliver)
            numbers.append(n)
        self._counters.deliveries += len(answers)
        self._bags.keep(answers, numbers)

    def _start_bags(self, answers: dict[int, BagAnswer], at: Position) -> None:
        """Start bags."""
        table, slots = self._store.slots, np.array(list(answers), np.int64)
        keys = self._replace(slots)
        names, sqls = json_names(keys), self._sqls(slots)
        versions, forms, text = table.version[slots].tolist(), table.terms.forms(slots).tolist(), at.text
        rows = zip(answers.values(), self._bags.keys_of(list(answers)), keys, names, versions, forms, sqls, strict=True)
        for answer, by_key, key, name, version, form, sql in rows:
            made = partial(_made, name, "snapshot", version, 1, text, sql)
            self._outbox.deliver_parts(key, self._bags.started(answer, by_key, made), FORMS[form])
        self._say_live(slots, keys, names, sqls, at)
        self._bags.keep(answers, [1] * len(answers))

    def _keep_singles(self, wholes: dict[int, Answer], n: I64) -> None:
        slots, zeros = np.array(list(wholes), np.int64), np.zeros(len(wholes), np.int64)
        self._store.sync(slots, zeros, zeros > 0, n)
        lists = {slot: whole for slot, whole in wholes.items() if isinstance(whole, ListAnswer)}
        self._store.start_lists(lists)
        for slot, whole in wholes.items():
            if slot not in lists:
                self._store.answers.start(slot, whole)

    def _told(self, slot: int) -> Answer:
        """Return what the subscriber of a live slot was told last: under MIN CHANGE and FINAL not always its answer."""
        if self._store.slots.terms.of(slot).notify.kind in TOLD_APART:
            return (self._store.answers.of(slot).last_told,)
        return self._store.answer(slot)

    def _start(self, slots: I64, bodies: list[str], at: Position) -> None:
        """Say that waiting subscriptions are live, in place of those that they replace."""
        table, text = self._store.slots, at.text
        keys = self._replace(slots)
        names, sqls = json_names(keys), self._sqls(slots)
        rows = zip(names, table.version[slots].tolist(), bodies, sqls, strict=True)
        told = [delivery(name, "snapshot", version, 1, body, text, sql) for name, version, body, sql in rows]
        self._outbox.deliver_all(keys, told, table.terms.forms(slots))
        self._say_live(slots, keys, names, sqls, at)

    def _sqls(self, slots: I64) -> list[str]:
        """Return the statements of slots as JSON texts, each with what is said of how certain its answer is."""
        table = self._store.slots
        pairs = zip(table.json_sqls(slots), certainties(table, slots), strict=True)
        return [sql + certainty for sql, certainty in pairs]

    def _replace(self, slots: I64) -> list[bytes]:
        """Forget what waiting subscriptions replace, and return their ids."""
        table = self._store.slots
        keys = table.keys(slots)
        replaced, _ = table.find_all(keys)
        replaced = replaced[replaced != NONE]
        if (table.terms.forms(replaced) == FORMS.index(PACKED)).any():
            self._outbox.flush()  # what the replaced ones have told stands before what comes in another form
        self._store.retire(replaced)
        return keys

    def _say_live(self, slots: I64, keys: list[bytes], names: list[str], sqls: list[str], at: Position) -> None:
        """Acknowledge subscriptions whose snapshot was told."""
        rows = zip(names, self._store.slots.version[slots].tolist(), sqls, self._ends(slots), strict=True)
        text = at.text
        self._outbox.acks(keys, [ack.live(name, version, text, sql, end) for name, version, sql, end in rows])
        self._counters.deliveries += len(slots)

    def _ends(self, slots: I64) -> list[str]:
        """Return how the acks of slots end; shapes and terms are few."""
        table = self._store.slots
        made: dict[tuple[int, int], str] = {}
        kinds = list(zip(table.shape[slots].tolist(), table.terms.number[slots].tolist(), strict=True))
        for shape, term in dict.fromkeys(kinds):
            entry = self._store.shapes[shape]
            made[shape, term] = ack.ending(entry.key, table.terms.value(term).cost, entry.form)
        expires = table.expiry.of(slots).tolist()
        return [
            made[kind] if when == INT64_MAX or when < 0 else ack.expiring(written(when)) + made[kind]
            for kind, when in zip(kinds, expires, strict=True)
        ]

    def _resync(self, slot: int, n: int, body: str, at: Position) -> None:
        slots = self._store.slots
        key, version = slots.key(slot), int(slots.version[slot])
        value = delivery(json_text(key.decode()), "resync", version, n, body, at.text)
        self._outbox.deliver(key, value, slots.terms.of(slot).deliver)
        self._counters.deliveries += 1


def _made(name: str, kind: str, version: int, n: int, at: str, sql: str | None, body: str) -> bytes:
    return delivery(name, kind, version, n, body, at, sql)


def _columns(packed: PackedSnapshot, rows: I64, modes: ModeColumn) -> tuple[I64, Bool]:
    """Return the answers in `rows` as they are kept in columns: order codes, or counts."""
    known = packed.has_new[rows].copy()
    value = np.where(known, packed.new[rows], 0)
    for i in (modes & Mode.COUNT).nonzero()[0].tolist():
        (tally,) = packed.parts[int(rows[i])]
        assert isinstance(tally, Tally), "a COUNT is answered by a tally"
        value[i], known[i] = tally.count, True
    return value, known


def _whole(packed: PackedSnapshot, i: int) -> Answer:
    """Return the answer in row i: its parts, or where there are none the order code."""
    parts = packed.parts.get(i)
    if parts is not None:
        return answer_of(parts)
    return (int(packed.new[i]) if packed.has_new[i] else None,)
