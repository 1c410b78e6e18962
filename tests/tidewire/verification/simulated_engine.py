"""A naive engine, edge and broker in one: brute force over a dict, to make journals whose deliveries are right.

Shares no code with what it stands for, nor with the verification: the answer to every subscription is computed anew,
in Python, before and after every record.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from zlib import crc32

from tests.tidewire.verification.asked_rows import AskedRows
from tidewire.verification.records.journal import Journal, Record, TopicLog

EDGES = 2
PARTITIONS = 2
TOPIC = "points"
DDL = "CREATE TABLE p (id INTEGER PRIMARY KEY, g VARCHAR, x INTEGER, y BIGINT) WITH ('topic'='points', 'format'='json')"


@dataclass(frozen=True)
class Asked:
    """SELECT aggregate(y) FROM p WHERE [g = group AND] x BETWEEN low AND high [NOTIFY policy] [DELIVER PUSH] [TTL ttl].

    `aggregate` may be several with commas between them, or DISTINCT. `policy` is `LATEST`, or a number: MIN CHANGE.
    """

    aggregate: str = "MIN"
    low: int = -100
    high: int = 100
    group: str | None = None
    policy: str = ""
    push: bool = False
    ttl: int = 0

    @property
    def sql(self) -> str:
        group = "" if self.group is None else f"g = '{self.group}' AND "
        items = ", ".join(f"{aggregate}(y)" for aggregate in self.aggregate.split(","))
        notify = f" NOTIFY {'' if self.policy == 'LATEST' else 'MIN CHANGE '}{self.policy}" if self.policy else ""
        notify += " DELIVER PUSH" if self.push else ""
        notify += f" TTL {self.ttl} SECONDS" if self.ttl else ""
        return f"SELECT {items} FROM p WHERE {group}x BETWEEN {self.low} AND {self.high}{notify}"

    def answer(self, rows: dict[int, dict[str, Any]]) -> Any:
        found = [
            row["y"]
            for row in rows.values()
            if row["x"] is not None
            and self.low <= row["x"] <= self.high
            and (self.group is None or row["g"] == self.group)
        ]
        if self.aggregate == "DISTINCT":
            return frozenset(found)
        known = [y for y in found if y is not None]
        return tuple(AGGREGATES[aggregate](known) for aggregate in self.aggregate.split(","))

    def changes(self, old: Any, new: Any) -> bool:
        return bool(old != new)

    def is_same(self, old: Any, new: Any) -> bool:
        return bool(old == new)

    def said(self, kind: str, old: Any, new: Any) -> dict[str, Any]:
        return said(None if kind == "snapshot" else old, None if kind == "ended" else new)

    form = None

    def tells(self, told: Any, new: Any) -> bool:
        """Whether MIN CHANGE tells."""
        if told == new or None in told or None in new:
            return bool(told != new)
        return bool(abs(new[0] - told[0]) >= int(self.policy))


AGGREGATES: dict[str, Callable[[list[int]], Any]] = {
    "MIN": lambda known: min(known, default=None),
    "MAX": lambda known: max(known, default=None),
    "COUNT": len,
    "SUM": lambda known: sum(known) if known else None,
    "AVG": lambda known: Fraction(sum(known), len(known)) if known else None,
}


def said(old: Any, new: Any) -> dict[str, Any]:
    """What a delivery says; None for no answer at all."""
    if isinstance(old, frozenset) or isinstance(new, frozenset):
        gone, come = (old or frozenset()) - (new or frozenset()), (new or frozenset()) - (old or frozenset())
        return {"removed": in_order(gone), "added": in_order(come)}
    return {"old": shown(old), "new": shown(new)}


def in_order(values: frozenset[Any]) -> list[Any]:
    return sorted(values, key=lambda value: (value is not None, value or 0))


def shown(answer: Any) -> Any:
    values = [float(value) if isinstance(value, Fraction) else value for value in answer or (None,)]
    return values if len(values) > 1 else values[0]


@dataclass
class Live:
    id: str
    version: int
    asked: Asked | AskedRows
    n: int = 0
    value: Any = None
    told: Any = None
    untold: int = 0
    cause: dict[str, Any] | None = None


class SimulatedEngine:
    """Publish, subscribe, run batches; `journal()` is what a verifier would read."""

    def __init__(self) -> None:
        self.logs: dict[str, dict[int, list[Record]]] = defaultdict(lambda: defaultdict(list))
        self.epoch = 3
        self.batch = -1
        self.rows: dict[int, dict[str, Any]] = {}
        self.read = dict.fromkeys(range(PARTITIONS), 0)
        self.live: dict[str, Live] = {}
        self.waiting: dict[str, Live] = {}
        self.resyncing: dict[str, Live] = {}
        self.clock = 1_000
        self.time = "t"
        self._append("catalog", 0, None, DDL.encode())

    # clients ---------------------------------------------------------------------------------------------------

    def publish(self, id: int, g: str | None, x: int | None, y: int | None, back: int = 0) -> None:
        row = {"id": id, "g": g, "x": x, "y": y}
        self._append(TOPIC, id % PARTITIONS, b'{"id":%d}' % id, json.dumps(row).encode(), back)

    def delete(self, id: int) -> None:
        self._append(TOPIC, id % PARTITIONS, b'{"id":%d}' % id, None)

    def publish_garbage(self, id: int, back: int = 0) -> None:
        self._append(TOPIC, id % PARTITIONS, b'{"id":%d}' % id, b'{"id":', back)

    def subscribe(self, id: str, asked: Asked | AskedRows) -> None:
        version = self._append("subscriptions", home(id), id.encode(), json.dumps({"sql": asked.sql}).encode())
        self.waiting[id] = Live(id, version, asked)

    def unsubscribe(self, id: str) -> None:
        self._append("subscriptions", home(id), id.encode(), None)
        self.waiting.pop(id, None)
        if id in self.live or id in self.resyncing:
            self._end(id, "unsubscribed")

    # the engine ------------------------------------------------------------------------------------------------

    @property
    def _last_batch(self) -> int:
        return self._applied[1]

    @property
    def _last_epoch(self) -> int:
        return self._applied[0]

    _applied = (3, -1)

    def run_batch(self, take: dict[int, int] | None = None) -> None:
        """Commit one batch of at most `take` records a partition."""
        start = dict(self.read)
        parts = {p: self.logs[TOPIC][p][s : s + (take or {}).get(p, 10**9)] for p, s in start.items()}
        self.batch += 1
        self._register()
        for record in in_shard_order(parts):
            self._apply(record)
        self.read = {p: start[p] + len(parts[p]) for p in start}
        self._commit({"start": {TOPIC: _texts(start)}, "end": {TOPIC: _texts(self.read)}})

    def idle(self) -> None:
        """Repeat the newest progress."""
        if self.batch >= 0 and self._applied == (self.epoch, self.batch):
            self._tell(self._ranges)

    def begin_epoch(self) -> None:
        """Throw the state away: a new engine reads everything again, in batches of its own."""
        self.epoch += 4
        self.batch = -1
        self.rows = {}
        self.read = dict.fromkeys(range(PARTITIONS), 0)
        self.resyncing |= self.live
        self.live = {}

    def _commit(self, ranges: dict[str, Any]) -> None:
        """Tell what is told once a batch, and that the batch is done, which read these ranges."""
        for live in self.live.values():
            if live.asked.policy == "LATEST":
                self._tell_change(live, live.told != live.value, live.told)
                live.untold = 0
        self._tell(ranges)
        self._applied = (self.epoch, self.batch)
        self._ranges = ranges

    def _end(self, id: str, reason: str) -> None:
        live = self.live.pop(id, None) or self.resyncing.pop(id)
        at = {"epoch": self._last_epoch, "batch": self._last_batch}
        self._deliver(live, "ended", live.n + 1, live.value, live.asked.answer({}), at, reason=reason)

    def _register(self) -> None:
        at = {"epoch": self.epoch, "batch": self.batch - 1}
        for id, live in self.resyncing.items():
            value = live.asked.answer(self.rows)
            if id not in self.waiting:
                live.n += not live.asked.is_same(live.told, value)
                self._deliver(live, "resync", live.n, live.told, value, at)
                live.value, live.told, live.untold = value, value, 0
                self.live[id] = live
        self.resyncing = {}
        for id, live in self.waiting.items():
            live.n, live.value = 1, live.asked.answer(self.rows)
            live.told = live.value
            self._deliver(live, "snapshot", 1, live.asked.answer({}), live.value, at, sql=live.asked.sql)
            ack = {"id": id, "version": live.version, "status": "live", "at": at, "sql": live.asked.sql}
            ack |= {"form": live.asked.form} if live.asked.form else {}
            self._append("acks", home(id), id.encode(), json.dumps(ack).encode())
            self.live[id] = live
        self.waiting = {}

    def _apply(self, record: Record) -> None:
        if record.value is None:
            self.rows.pop(json.loads(record.key or b"")["id"], None)
        else:
            try:
                row = json.loads(record.value)
            except ValueError:
                self._refuse(record)
                return
            self.rows[row["id"]] = row
        self._changed_by({"topic": TOPIC, "partition": record.partition, "offset": record.offset})

    def _changed_by(self, where: dict[str, Any]) -> None:
        """Tell whose answer the rows that there are now have changed; the record at this place did it."""
        for live in self.live.values():
            new = live.asked.answer(self.rows)
            old, live.value = live.value, new
            if live.asked.changes(old, new):
                live.untold += 1
                live.cause = {"epoch": self.epoch, "batch": self.batch} | where
                if live.asked.policy != "LATEST":
                    self._tell_change(live, self._is_due(live), live.told if isinstance(live.asked, Asked) else old)
            elif live.asked.policy in ("TRANSITIONS", "ENTER"):
                live.told = new

    def _is_due(self, live: Live) -> bool:
        return not isinstance(live.asked, Asked) or not live.asked.policy or live.asked.tells(live.told, live.value)

    def _tell_change(self, live: Live, due: bool, old: Any) -> None:
        if due:
            live.n += 1
            more = {"changes": live.untold} if live.untold > 1 else {}
            self._deliver(live, "change", live.n, old, live.value, live.cause or {}, **more)
            live.told, live.untold = live.value, 0

    def _refuse(self, record: Record) -> None:
        letter = {"topic": TOPIC, "partition": record.partition, "offset": record.offset}
        self._append("dead-letters", 0, None, json.dumps(letter).encode())

    def _tell(self, ranges: dict[str, Any]) -> None:
        version = len(self.logs["catalog"][0]) - 1
        progress = {"kind": "progress", "epoch": self.epoch, "batch": self.batch, "catalog": version, "time": self.time}
        for edge in range(EDGES):
            self._append("deliveries", edge, b"@progress", json.dumps(progress).encode())
        self._append("batches", 0, None, json.dumps(progress | ranges).encode())

    def _deliver(self, live: Live, kind: str, n: int, old: Any, new: Any, at: dict[str, Any], **more: Any) -> None:
        if live.asked.push:
            return
        head = {"id": live.id, "kind": kind, "version": live.version, "n": n}
        body = head | live.asked.said(kind, old, new) | {"at": at} | more
        self._append("deliveries", home(live.id), live.id.encode(), json.dumps(body).encode())

    def _append(self, topic: str, partition: int, key: bytes | None, value: bytes | None, back: int = 0) -> int:
        self.clock += 1
        log = self.logs[topic][partition]
        log.append(Record(partition, len(log), self.clock - back, key, value))
        return len(log) - 1

    def journal(self) -> Journal:
        def log(name: str, partitions: int) -> TopicLog:
            return TopicLog.of(name, [r for those in self.logs[name].values() for r in those], partitions)

        return Journal(
            catalog=log("catalog", 1),
            batches=log("batches", 1),
            subscriptions=log("subscriptions", EDGES),
            acks=log("acks", EDGES),
            deliveries=log("deliveries", EDGES),
            dead_letters=log("dead-letters", 1),
            relations={TOPIC: log(TOPIC, PARTITIONS)},
        )


def in_shard_order(parts: dict[int, list[Record]]) -> list[Record]:
    """Merge by (highest timestamp so far in the partition, partition, offset), naively."""
    stamped = []
    for partition, records in parts.items():
        for i, record in enumerate(records):
            stamped.append((max(r.timestamp for r in records[: i + 1]), partition, record.offset, record))
    return [record for *_, record in sorted(stamped, key=lambda entry: entry[:3])]


def home(id: str) -> int:
    return crc32(id.encode()) % EDGES


def _texts(offsets: dict[int, int]) -> dict[str, int]:
    return {str(partition): offset for partition, offset in offsets.items()}
