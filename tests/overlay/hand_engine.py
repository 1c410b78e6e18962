"""An engine written by hand: it answers registrations and sends changes to all of them, without Spark or a shard.

There is one table `t (id BIGINT PRIMARY KEY, v BIGINT)` and one question, `SELECT MIN(v) FROM t`. What a subscriber
must hear is therefore easy to say: a snapshot of the value that held, then every value sent after it, in order.
"""

from __future__ import annotations

from collections import defaultdict

import msgspec
import numpy as np

from catalog.query.channel import channel_of
from connectors.kafka.partitioner import home_partition
from connectors.kafka.producer import Producer
from connectors.kafka.properties import KafkaProperties
from connectors.kafka.reader import Reader
from connectors.record import OutRecord
from connectors.topics import Topics
from operators.control import Control, EpochBegins, Progress, RegisterAll, encode_control
from operators.operator import Answers, Messages
from operators.packed import Header, PackedRegistrations, is_packed, pack_snapshot, unpack
from state.order_code import INT64_MAX, INT64_MIN
from tests.operators.packing import pack_apart

DDL = b"CREATE TABLE t (id BIGINT PRIMARY KEY, v BIGINT) WITH ('topic'='t', 'format'='json')"
SQL = "SELECT MIN(v) FROM t"
SHARD = "t/0"


class HandEngine:
    """Writes `notifications` for all virtual edges, as an engine would."""

    def __init__(self, kafka: KafkaProperties, topics: Topics, partitions: int, epoch: int = 0) -> None:
        self.epoch = epoch
        self.batch = -1
        self.value = 0
        self.partitions = partitions
        self._topics = topics
        self._producer = Producer(kafka, linger=0)
        self._reader = Reader(kafka)
        self._read: dict[int, int] = {}
        self._listening: set[int] = set()
        self._seq = 0

    def declare(self) -> None:
        """Write the table's DDL: catalog version 0."""
        self._send(self._topics.catalog, 0, b"", DDL)
        self._producer.flush()

    def begin(self) -> None:
        """Begin the epoch and ask for registrations."""
        self._control(EpochBegins(self.epoch, 0))
        self._control(RegisterAll(self.epoch, 0))
        self._producer.flush()

    def subscribe(self, *names: str, sql: str = SQL) -> None:
        """Write subscriptions to their homes."""
        for name in names:
            self._subscription(name, msgspec.json.encode({"sql": sql}))
        self._producer.flush()

    def unsubscribe(self, name: str) -> None:
        """Write a tombstone."""
        self._subscription(name, None)
        self._producer.flush()

    def run_batch(self, *values: int) -> int:
        """Answer new registrations, send `values` one after the other, commit; return how many were answered."""
        self.batch += 1
        fresh = self._registrations()
        for number in sorted(self._listening):
            self._send_batch(number, fresh.get(number, []), values)
        if values:
            self.value = values[-1]
        self.progress()
        return sum(map(len, fresh.values()))

    def progress(self) -> None:
        """Say (again) that the last batch is committed."""
        self._control(Progress(self.epoch, self.batch, 0, "2026-03-01T00:00:00"))
        self._producer.flush()

    def _registrations(self) -> dict[int, list[int]]:
        fresh: dict[int, list[int]] = defaultdict(list)
        for record in self._reader.read_to_end(self._topics.registrations, start=self._read):
            self._read[record.partition] = record.offset + 1
            if record.value is None or not is_packed(record.value):
                continue
            packed = unpack(record.value)
            if isinstance(packed, PackedRegistrations) and packed.header.epoch == self.epoch:
                fresh[record.partition] += packed.versions
                self._listening.add(record.partition)
        return fresh

    def _send_batch(self, number: int, versions: list[int], values: tuple[int, ...]) -> None:
        of = bool(versions) + bool(values)
        if versions:
            header = Header("snapshot", self.epoch, SHARD, self.batch, chunk=0, of=of, ve=number)
            new = np.full(len(versions), self.value, np.int64)
            answers = Answers(new, np.ones(len(versions), np.bool_), {})
            packed = pack_snapshot(header, np.array(versions, np.int64), answers)
            self._send(self._topics.notifications, number, SHARD.encode(), packed)
        if values:
            header = Header("messages", self.epoch, SHARD, self.batch, chunk=of - 1, of=of, ve=number)
            self._send(self._topics.notifications, number, SHARD.encode(), self._messages(header, values))

    def _messages(self, header: Header, values: tuple[int, ...]) -> bytes:
        count = len(values)
        lowest, highest = np.full(count, INT64_MIN, np.int64), np.full(count, INT64_MAX, np.int64)
        zeros, nothing, known = np.zeros(count, np.int32), np.zeros(count, np.int64), np.ones(count, np.bool_)
        header.channels = [channel_of("t", "min", "v", (), None)]
        messages = Messages(
            header.channels, [b"[]"], np.arange(count, dtype=np.int32), zeros, zeros,
            nothing, nothing, ~known, np.array(values, np.int64), known, lowest, highest, lowest, highest,
        )  # fmt: skip
        at = np.arange(count, dtype=np.int64)
        return pack_apart(header, messages, at, np.zeros(count, np.int64), at)

    def _subscription(self, name: str, value: bytes | None) -> None:
        key = name.encode()
        self._send(self._topics.subscriptions, home_partition(key, self.partitions), key, value)

    def _control(self, control: Control) -> None:
        for number in range(self.partitions):
            self._send(self._topics.notifications, number, b"@control", encode_control(control))

    def _send(self, topic: str, partition: int, key: bytes, value: bytes | None) -> None:
        self._producer.send(OutRecord(topic, partition, key, value))
