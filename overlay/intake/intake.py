"""Subscription records come in: in bulk, each judged by itself, and what is accepted taken in together.

    records ──► id and home ──► judged ──┬─► refused            ack
                                         ├─► held back          (`overlay/intake/admission.py`)
                                         ├─► accepted ──┬─► slots, index of ids, registration, acks
                                         ├─► accepted ──┘   at once, for as many as come
                                         └─► unsubscribed

What is said about one id keeps the order of its records. So they are taken in *rounds*: the first record of each id
together, then the second of each, and so on; in a round first ends, then questions. One bad record stops no other.
Cost: 5 us a subscription in bulk where many have a template in common, 20 us where few have, 4 us an end; 0.15 ms for
one alone, and so for each record of an id that has many more than the others.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from catalog.query.compiler import Compiled
from catalog.query.question_certainty import certainty_of
from catalog.query.subscription_id import MAX_ID_BYTES
from catalog.schema.relation import Relation
from overlay.answers.shape_table import form_of
from overlay.arena.key_kernels import homes
from overlay.arena.text_arena import sizes_of
from overlay.delivery import ack
from overlay.delivery.delivery import json_names
from overlay.delivery.outbox import Outbox
from overlay.intake.admission import Admission, CellWanted, Judged
from overlay.intake.subscription_request import refuse_id
from overlay.subscriptions.edge_counters import EdgeCounters
from overlay.subscriptions.expiry import Expiry
from overlay.subscriptions.held_records import Held
from overlay.subscriptions.subscription_store import SubscriptionStore
from overlay.table.accepted_batch import AcceptedBatch

_RESERVED = ord("@")
_FIRST_PRINTABLE, _DELETE = 0x20, 0x7F
"""Of ASCII, what is before the one and the other itself are control characters."""
_LONGEST_ANSWERED = 65_536
"""Bytes of an id whose refusal names it whole. Escaped, longer ones might make an ack that no broker takes."""
_AT_ONCE = 10_000
"""So many held-back records are judged together: what is looked at meanwhile takes eight times their texts."""
_Value = TypeVar("_Value", bytes, bytes | None)
_Record = tuple[int, bytes, _Value]


@dataclass(slots=True)
class Intake:
    """Takes the records of virtual edge `number` of `partitions`.

    unsubscribe(offsets, keys) ends what there is of ids, which differ; registered() says whether what is accepted is
    registered at once.
    """

    number: int
    partitions: int
    store: SubscriptionStore
    admission: Admission
    outbox: Outbox
    counters: EdgeCounters
    expiry: Expiry
    unsubscribe: Callable[[Sequence[int], Sequence[bytes]], None]
    registered: Callable[[], bool]

    def take(self, offsets: Sequence[int], keys: Sequence[bytes | None], values: Sequence[bytes | None]) -> None:
        """Take records in their order; a value of None ends a subscription."""
        keyed = [
            (offset, key, value) for offset, key, value in zip(offsets, keys, values, strict=True) if key is not None
        ]
        self.counters.ignored += len(offsets) - len(keyed)
        doubtful = self._doubtful([key for _, key, _ in keyed])
        refused = {i: refusal for i in doubtful if (refusal := self._refuse_id(keyed[i]))}
        for i in sorted(refused):
            self._refuse(keyed[i][1], keyed[i][0], refused[i])
        if refused:
            keyed = [record for i, record in enumerate(keyed) if i not in refused]
        for records in _rounds(keyed):
            over = [(offset, key) for offset, key, value in records if value is None]
            if over:
                self.unsubscribe([offset for offset, _ in over], [key for _, key in over])
            self._judge([Held(offset, key, value) for offset, key, value in records if value is not None])

    def _refuse_id(self, record: _Record[bytes | None]) -> ack.Refusal | None:
        _, key, value = record
        return refuse_id(key, self.number, self.partitions, ends=value is None)

    def admit(self, records: Iterable[Held], final: bool = False) -> None:
        """Judge records that are held back, in the order of their versions; `final`: none of them may wait on."""
        for alike in _rounds([(held.version, held.key, held.value) for held in records]):
            for start in range(0, len(alike), _AT_ONCE):
                self._judge([Held(*record) for record in alike[start : start + _AT_ONCE]], final)

    def find_cells(self) -> None:
        """Note which of the records that are held back wait for a cell, after a restart; nothing else comes of it.

        Cost: as `admit`.
        """
        held = [*self.admission.held]
        for start in range(0, len(held), _AT_ONCE):
            records = held[start : start + _AT_ONCE]
            judged = self.admission.judge_all([record.value for record in records])
            for i, tables in judged.cells.items():
                self.admission.held.put(records[i], tables)
            for i in judged.left:
                one = self.admission.judge(records[i].value)
                if isinstance(one, CellWanted):
                    self.admission.held.put(records[i], one.tables)

    def _judge(self, records: list[Held], final: bool = False) -> None:
        """Judge records with different ids."""
        if not records:
            return
        judged = self.admission.judge_all([record.value for record in records], final)
        for i in judged.waiting:
            self.admission.held.put(records[i], judged.cells.get(i))
        alone: dict[int, Compiled] = {}
        for i in judged.left:
            record = records[i]
            one = self.admission.judge(record.value, final)
            if one is None or isinstance(one, CellWanted):
                self.admission.held.put(record, None if one is None else one.tables)
            elif isinstance(one, ack.Refusal):
                self.admission.held.drop(record.version)
                self._refuse(record.key, record.version, one)
            else:
                alone[i] = one
        self._accept(self._newcomers(records, judged, alone))

    def _newcomers(self, records: list[Held], judged: Judged, alone: dict[int, Compiled]) -> AcceptedBatch:
        """Return those of `records` that are accepted, in their order."""
        chosen = sorted([*alone, *(i for alike in judged.alike for i in judged.found.records[alike.rows].tolist())])
        taken = [records[i] for i in chosen]
        accepted = AcceptedBatch([record.key for record in taken], [record.version for record in taken])
        for alike in judged.alike:
            which = np.searchsorted(chosen, judged.found.records[alike.rows])
            relation, certainty = self._relation(alike.example), self._certainty(alike.example)
            accepted.put_alike(which, alike, relation, judged.found.statements, certainty)
        for i, compiled in alone.items():
            accepted.put_one(bisect_left(chosen, i), compiled, self._relation(compiled), self._certainty(compiled))
        return accepted

    def _relation(self, compiled: Compiled) -> Relation:
        relation = self.admission.catalog.relation(compiled.region.shape.relation)
        assert relation is not None, "what was compiled is of a table or a join of the catalog"
        return relation

    def _certainty(self, compiled: Compiled) -> str:
        """Return what may still become of an answer about streams, '' of any other."""
        catalog = self.admission.catalog
        view = catalog.views.get(compiled.region.shape.relation)
        if view is None or all(catalog.relations[table].stream is None for table in view.tables):
            return ""
        return str(certainty_of(catalog, compiled.region))

    def _refuse(self, key: bytes, version: int, refusal: ack.Refusal) -> None:
        self.counters.refused += 1
        key = key if len(key) <= _LONGEST_ANSWERED else b"@" + key[:MAX_ID_BYTES]
        self.outbox.ack(key, ack.refused(key.decode(errors="replace"), version, refusal))

    def _accept(self, accepted: AcceptedBatch) -> None:
        """Take in subscriptions with different ids."""
        if not len(accepted):
            return
        if len(self.admission.held):
            for key, version in zip(accepted.keys, accepted.versions.tolist(), strict=True):
                self.admission.held.forget(key, version)
        slots = self.store.add(accepted)
        if self.registered():
            self.store.registrations.queue(slots)
        self.expiry.begin([int(slots[i]) for i in accepted.ttl], list(accepted.ttl.values()))
        self._say_accepted(accepted)

    def _say_accepted(self, accepted: AcceptedBatch) -> None:
        ends: dict[tuple[int, int], str] = {}
        kinds = list(zip(accepted.shape.tolist(), accepted.term.tolist(), strict=True))
        for shape, term in set(kinds):
            asked = accepted.shapes[shape].shape
            ends[shape, term] = ack.ending(asked.acknowledged, accepted.terms[term].cost, form_of(asked))
        rows = zip(json_names(accepted.keys), accepted.versions.tolist(), accepted.sql, kinds, strict=True)
        self.outbox.acks(
            accepted.keys, [ack.accepted(name, version, sql, ends[kind]) for name, version, sql, kind in rows]
        )

    def _doubtful(self, keys: list[bytes]) -> set[int]:
        """Return which of the ids must be looked at closely (`refuse_id`); all others are at home and well formed."""
        sizes = sizes_of(keys)
        flat = b"".join(keys)
        if not flat.isascii() or not sizes.all():
            return set(range(len(keys)))
        bytes_, starts = np.frombuffer(flat, np.uint8), np.cumsum(sizes) - sizes
        if len(flat) and (bytes_.min() < _FIRST_PRINTABLE or bytes_.max() == _DELETE):
            return set(range(len(keys)))
        home = np.empty(len(keys), np.int64)
        homes(bytes_, starts, sizes, self.partitions, home)
        wrong = (home != self.number) | (sizes > MAX_ID_BYTES) | (bytes_[starts] == _RESERVED)
        return set(wrong.nonzero()[0].tolist())


def _rounds(records: list[_Record[_Value]]) -> list[list[_Record[_Value]]]:
    """Part records so that the first of each id are together, then the second of each, and so on, always in order.

    Cost: 0.1 us each where ids differ, else 0.3 us.
    """
    if len({key for _, key, _ in records}) == len(records):
        return [records]
    rounds: list[list[_Record[_Value]]] = []
    times: dict[bytes, int] = {}
    for record in records:
        number = times.get(record[1], 0)
        times[record[1]] = number + 1
        if number == len(rounds):
            rounds.append([])
        rounds[number].append(record)
    return rounds
