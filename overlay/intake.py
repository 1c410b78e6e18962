"""Subscription records come in: in bulk, each judged by itself, and what is accepted taken in together.

    records ──► id and home ──► judged ──┬─► refused            ack
                                         ├─► held back          (`overlay/admission.py`)
                                         ├─► accepted ──┬─► slots, index of ids, registration, acks
                                         ├─► accepted ──┘   at once, for as many as come
                                         └─► unsubscribed

What is said about one id keeps the order of its records; the accepted are therefore taken in before a further record of
one of their ids, or the end of a subscription, is looked at. One bad record never stops the rest.
Cost: 10 us a subscription of a known template in bulk, most of it compiling; 0.1 ms for one alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from catalog.compiler import Compiled
from overlay import ack
from overlay.admission import Admission, Held
from overlay.delivery import json_names, json_text
from overlay.edge_counters import EdgeCounters
from overlay.expiry import Expiry
from overlay.key_kernels import homes
from overlay.outbox import Outbox
from overlay.roster import Arrival, Roster
from overlay.subscription_request import MAX_ID_BYTES, refuse_id
from overlay.text_arena import sizes_of
from state.change_batch import I64

_RESERVED = ord("@")


@dataclass(slots=True)
class Intake:
    """Takes the records of virtual edge `number` of `partitions`.

    unsubscribe(offset, key) ends what there is of an id; registered() says whether what is accepted is registered at
    once.
    """

    number: int
    partitions: int
    roster: Roster
    admission: Admission
    outbox: Outbox
    counters: EdgeCounters
    expiry: Expiry
    unsubscribe: Callable[[int, bytes], None]
    registered: Callable[[], bool]

    def take(self, offsets: Sequence[int], keys: Sequence[bytes | None], values: Sequence[bytes | None]) -> None:
        """Take records in their order; a value of None ends a subscription."""
        keyed = [
            (offset, key, value) for offset, key, value in zip(offsets, keys, values, strict=True) if key is not None
        ]
        self.counters.ignored += len(offsets) - len(keyed)
        doubtful = self._doubtful([key for _, key, _ in keyed])
        accepted: dict[bytes, tuple[Held, Compiled]] = {}
        for i, (offset, key, value) in enumerate(keyed):
            refusal = refuse_id(key, self.number, self.partitions) if i in doubtful else None
            if key in accepted or (value is None and accepted):
                self._accept(list(accepted.values()))
                accepted = {}
            if refusal is not None:
                self._refuse(key, offset, refusal)
            elif value is None:
                self.unsubscribe(offset, key)
            else:
                self._judge(Held(offset, key, value), accepted)
        self._accept(list(accepted.values()))

    def admit(self, record: Held, final: bool = False) -> bool:
        """Take or refuse a record that was held back; False if it must be still."""
        judged = self.admission.judge(record.value, final)
        if judged is None:
            return False
        if isinstance(judged, ack.Refusal):
            self._refuse(record.key, record.version, judged)
        else:
            self._accept([(record, judged)])
        return True

    def _judge(self, record: Held, accepted: dict[bytes, tuple[Held, Compiled]]) -> None:
        judged = self.admission.judge(record.value)
        if judged is None:
            self.admission.held[record.version] = record
        elif isinstance(judged, ack.Refusal):
            self._refuse(record.key, record.version, judged)
        else:
            accepted[record.key] = (record, judged)

    def _refuse(self, key: bytes, version: int, refusal: ack.Refusal) -> None:
        self.counters.refused += 1
        self.outbox.ack(key, ack.refused(key.decode(errors="replace"), version, refusal))

    def _accept(self, accepted: list[tuple[Held, Compiled]]) -> None:
        """Take in subscriptions with different ids."""
        if not accepted:
            return
        relations = self.admission.catalog.relations
        for record, _ in accepted:
            self.admission.forget(record.key, record.version)
        slots = self.roster.add_all(
            [Arrival(record.key, record.version, c, relations[c.region.shape.relation]) for record, c in accepted]
        )
        if self.registered():
            self.roster.registrations.queue(slots)
        mortal = [(slot, c.ttl) for slot, (_, c) in zip(slots.tolist(), accepted, strict=True) if c.ttl is not None]
        self.expiry.begin([slot for slot, _ in mortal], [ttl for _, ttl in mortal])
        self._say_accepted(accepted, slots)

    def _say_accepted(self, accepted: list[tuple[Held, Compiled]], slots: I64) -> None:
        ends: dict[tuple[int, str], str] = {}
        numbers = self.roster.slots.shape[slots].tolist()
        names = json_names([record.key for record, _ in accepted])
        for (record, compiled), name, number in zip(accepted, names, numbers, strict=True):
            end = ends.get((number, compiled.cost))
            if end is None:
                shape = self.roster.shapes[number].key
                end = ends[number, compiled.cost] = ack.ending(shape, compiled.cost)
            self.outbox.ack(record.key, ack.accepted(name, record.version, json_text(compiled.sql), end))

    def _doubtful(self, keys: list[bytes]) -> set[int]:
        """Return which of the ids must be looked at closely (`refuse_id`); all others are at home and well formed."""
        sizes = sizes_of(keys)
        flat = b"".join(keys)
        if not flat.isascii() or not sizes.all():
            return set(range(len(keys)))
        bytes_, starts = np.frombuffer(flat, np.uint8), np.cumsum(sizes) - sizes
        home = np.empty(len(keys), np.int64)
        homes(bytes_, starts, sizes, self.partitions, home)
        wrong = (home != self.number) | (sizes > MAX_ID_BYTES) | (bytes_[starts] == _RESERVED)
        return set(wrong.nonzero()[0].tolist())
