"""When each version of each subscription began, what it was delivered, and when it ended.

A *life* is one version of one id. It begins with its snapshot and ends with `ended`, or with the snapshot of the
version that replaces it: the old one delivers everything through the position of that snapshot. In each epoch it
begins anew with a `resync`. How far an edge has come is told by the `@progress` records among its deliveries, which
stand behind all that a batch caused.
"""

from __future__ import annotations

import bisect
import json
from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from tidewire.verification.records.attributes import as_sql
from tidewire.verification.records.batches import Position
from tidewire.verification.records.expiry import Promise, Tick, seconds
from tidewire.verification.records.forms import DeliveriesOf, Delivery, Malformed
from tidewire.verification.records.journal import Journal, Record, TopicLog
from tidewire.verification.records.question import Query, is_pushed

PROGRESS = b"@progress"
_FORMS = {"notify": str | None, "ttl": int | None, "deliver": str | None}


@dataclass(slots=True)
class Life:
    """One version of a subscription. `query` is None where nothing that is left says what was asked.

    `delivered` is in log order. `replaced_by` and the other `replaced_…` tell the successor that has a snapshot; one
    that is only pushed is known by its ack, and has no place among deliveries. `next_record` is what follows in
    `subscriptions`: "tombstone", "query", or None; `tombstone` is the offset of the first tombstone behind it.
    `compacted`: records behind its own are gone, or itself. `ended_lately`: a tombstone came while the deliveries were
    being read. `live_at` is what the ack says.
    """

    id: str
    version: int
    partition: int
    query: Query | None = None
    delivered: list[Delivery] = field(default_factory=list)
    replaced_by: int | None = None
    replaced_at: Position | None = None
    replaced_offset: int | None = None
    replaced_row: int = 0
    next_record: str | None = None
    tombstone: int | None = None
    compacted: bool = True
    ended_lately: bool = False
    ack: dict[str, Any] | None = None

    def promise(self, ttl: int | None) -> Promise:
        """Return what is known of when a TTL of so many seconds ends this version."""
        expires = seconds((self.ack or {}).get("expires", ""))
        return Promise(ttl, expires, next((d.log_offset for d in self.delivered if d.kind == "snapshot"), -1))

    @property
    def pushed(self) -> bool:
        """Whether it is told over HTTP alone."""
        return self.query is not None and is_pushed(self.query)

    @property
    def is_refused_as_gone(self) -> bool:
        """Whether its ack says that it was refused, since the windows that it asks about are kept no more."""
        ack = self.ack or {}
        return ack.get("status") == "refused" and ack.get("code") == "window_gone"

    @property
    def live_at(self) -> Position | None:
        """The position from which the ack says that answers hold."""
        at = (self.ack or {}).get("at")
        return Position(at["epoch"], at["batch"]) if at else None


@dataclass(slots=True)
class Lives:
    """All lives, and by partition how far its edge came in each epoch and from where its log is whole.

    `malformed` are records of `deliveries` that cannot be read. `ticks` are the progress records by partition.
    """

    lives: list[Life]
    reached: dict[int, dict[int, int]]
    whole_from: dict[int, Position]
    malformed: list[str]
    ticks: dict[int, list[Tick]] = field(default_factory=dict)

    def latest(self, partition: int) -> Position:
        """Return the newest position that this partition's edge has told."""
        reached = self.reached.get(partition, {})
        return max((Position(*item) for item in reached.items()), default=Position(-1, -1))


def read_lives(journal: Journal) -> Lives:
    """Put lives together from `subscriptions`, `acks` and `deliveries`."""
    lives: dict[tuple[str, int], Life] = {}
    malformed: list[str] = []
    _read_subscriptions(journal.subscriptions, lives)
    _read_acks(journal.acks, lives)
    reached, whole_from = read_progress(journal.deliveries)
    for partition in journal.deliveries.records:
        deliveries = DeliveriesOf()
        for record in journal.deliveries.records[partition]:
            if record.key == PROGRESS or record.value is None:
                continue
            try:
                for delivery in deliveries.read(record):
                    _deliver(lives, partition, delivery)
            except Malformed as error:
                malformed.append(f"deliveries/{partition}/{record.offset}: {error}")
        malformed += [f"deliveries/{partition}: `{id}` lacks the end of a delivery" for id in deliveries.unfinished()]
    _find_successors(lives)
    _find_ends(journal, lives)
    ordered = sorted(lives.values(), key=lambda life: (life.id, life.version))
    return Lives(ordered, reached, whole_from, malformed, read_ticks(journal.deliveries))


def _deliver(lives: dict[tuple[str, int], Life], partition: int, delivery: Delivery) -> None:
    life = lives.setdefault((delivery.id, delivery.version), Life(delivery.id, delivery.version, partition))
    life.delivered.append(delivery)
    if life.query is None and delivery.sql is not None:
        life.query = Query(delivery.sql, whole=False)


class _Beyond:
    """Stands for a number that nobody can hold; a later member of the same name may take its place."""


_NO_PARAMETER = (list, dict, _Beyond)


def _number(text: str) -> int | Decimal | _Beyond:
    try:
        return int(text) if text.lstrip("-").isdigit() else Decimal(text)
    except (ValueError, ArithmeticError):
        return _Beyond()


def read_query(value: bytes) -> Query | None:
    """Return what a subscription record asks; None if it is malformed (then it is refused), whatever its bytes are."""
    try:
        body = json.loads(value.decode(), parse_float=_number, parse_int=_number)
    except (ValueError, RecursionError):
        return None
    if not isinstance(body, dict) or not all(isinstance(body.get(name), form) for name, form in _FORMS.items()):
        return None
    sql, params = (body["template"], body.get("params")) if "template" in body else (body.get("sql"), [])
    if not isinstance(sql, str) or not isinstance(params, list) or any(isinstance(p, _NO_PARAMETER) for p in params):
        return None
    attributes = body.get("attributes") or {}
    if not isinstance(attributes, dict) or any(isinstance(value, _NO_PARAMETER) for value in attributes.values()):
        return None
    said = tuple((name, as_sql(value)) for name, value in attributes.items())
    return Query(sql, tuple(params), body.get("notify"), body.get("ttl"), body.get("deliver"), attributes=said)


def _read_subscriptions(log: TopicLog, lives: dict[tuple[str, int], Life]) -> None:
    by_id: dict[bytes, list[Record]] = defaultdict(list)
    for record in log.all():
        if record.key is not None:
            by_id[record.key].append(record)
    for key, records in by_id.items():
        id = key.decode(errors="replace")
        next_record, tombstone = None, None
        for record in reversed(records):
            if record.value is None:
                next_record, tombstone = "tombstone", record.offset
                continue
            life = Life(id, record.offset, record.partition, read_query(record.value))
            life.next_record, life.tombstone = next_record, tombstone
            lives[id, record.offset] = life
            next_record = "query"


def _read_acks(log: TopicLog, lives: dict[tuple[str, int], Life]) -> None:
    for record in log.all():
        if record.value is None:
            continue
        ack = json.loads(record.value)
        key = (ack["id"], ack["version"])
        if ack["status"] == "live":
            life = lives.setdefault(key, Life(*key, record.partition, Query(ack["sql"], whole=False)))
            life.ack = ack
        elif key in lives and (lives[key].ack or {}).get("status") != "live":
            lives[key].ack = ack


def read_progress(log: TopicLog) -> tuple[dict[int, dict[int, int]], dict[int, Position]]:
    """Return, by partition, the last batch told of each epoch, and from where a trimmed log is whole."""
    reached: dict[int, dict[int, int]] = {partition: {} for partition in log.begin}
    whole_from: dict[int, Position] = {}
    for partition, records in log.records.items():
        for record in records:
            if record.key != PROGRESS or record.value is None:
                continue
            body = json.loads(record.value)
            at = Position(body["epoch"], body["batch"])
            known = reached.setdefault(partition, {})
            known[at.epoch] = max(at.batch, known.get(at.epoch, -1))
            if log.trimmed(partition):
                whole_from.setdefault(partition, at)
    return reached, whole_from


def read_ticks(log: TopicLog) -> dict[int, list[Tick]]:
    """Return the progress records by partition, those whose time cannot be read left out."""
    ticks: dict[int, list[Tick]] = {}
    for partition, records in log.records.items():
        made = ticks[partition] = []
        for record in records:
            if record.key == PROGRESS and record.value is not None:
                body = json.loads(record.value)
                time = seconds(body.get("time", ""))
                if time is not None:
                    made.append(Tick(record.offset, Position(body["epoch"], body["batch"]), time))
    return ticks


def _find_successors(lives: dict[tuple[str, int], Life]) -> None:
    by_id: dict[str, list[Life]] = defaultdict(list)
    for life in lives.values():
        by_id[life.id].append(life)
    for those in by_id.values():
        those.sort(key=lambda life: life.version)
        snapshot: Delivery | Life | None = None
        for life in reversed(those):
            if snapshot is not None:
                life.replaced_by = snapshot.version
            if isinstance(snapshot, Life):
                life.replaced_at = snapshot.live_at
            elif snapshot is not None:
                life.replaced_at = snapshot.at.position
                life.replaced_offset, life.replaced_row = snapshot.log_offset, snapshot.row
            if life.pushed and life.live_at is not None:
                snapshot = life
            snapshot = next((d for d in life.delivered if d.kind == "snapshot"), snapshot)


def _find_ends(journal: Journal, lives: dict[tuple[str, int], Life]) -> None:
    log = journal.subscriptions
    offsets = {partition: [record.offset for record in records] for partition, records in log.records.items()}
    late = {(record.partition, record.key) for record in journal.later_tombstones}
    for life in lives.values():
        known = offsets.get(life.partition, [])
        place = bisect.bisect_left(known, life.version)
        there = place < len(known) and known[place] == life.version
        life.compacted = not there or len(known) - place < log.end.get(life.partition, 0) - life.version
        life.ended_lately = (life.partition, life.id.encode()) in late
