"""What a scenario sees of a running stack: how far it has come, and what it delivers.

Knows only what a client knows, and the engine's pid. A step is over when the edges' progress has passed what the step
wrote.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from connectors.kafka.admin import Admin
from connectors.kafka.light import LightKafka
from connectors.kafka.producer import Producer
from connectors.kafka.properties import KafkaProperties
from connectors.record import OutRecord
from operators.control import Offsets, Progress, control_at
from state.errors import TidewireError
from tidewire.client.client import Client
from tidewire.client.delivery_reader import DeliveryReader
from tidewire.client.records import PROGRESS_KEY, Ack, read_ack
from tidewire.scenario.script import Json
from tidewire.stack.child import tail
from tidewire.stack.data_directory import DataDirectory

PATIENCE = 600.0
_POLL_SECONDS = 0.05


class StepTimeout(TidewireError):
    """The stack did not finish a step in time."""

    code = "timeout"
    retry_helps = True


class StackEnded(TidewireError):
    """The stack has stopped by itself; its last words say why."""

    code = "stack_ended"


class StackWatch:
    """Reads `batches` and `deliveries` of one stack for as long as it runs, and waits until something can be seen."""

    def __init__(self, status: dict[str, Any], directory: DataDirectory) -> None:
        self._directory = directory
        properties = KafkaProperties(status["bootstrap"])
        self.client = Client(status["bootstrap"], status["prefix"])
        self._admin = Admin(properties)
        self._producer = Producer(properties)
        self._kafka = LightKafka(properties.kafka_python())
        kafka = self._kafka
        self._ack_reader = kafka.reader()
        self._ack_reader.assign(self.client.topics.acks)
        self._acks: dict[str, Ack] = {}
        self._batches = kafka.reader()
        self._batches.assign(self.client.topics.batches)
        self._deliveries = kafka.reader()
        self._deliveries.assign(self.client.topics.deliveries)
        self._told = DeliveryReader()
        self._edges = len(self._deliveries.partitions(self.client.topics.deliveries))
        self._announced: Progress | None = None
        self._passed: dict[int, tuple[int, int]] = {}
        self._waiting: dict[str, list[dict[str, Json]]] = {}
        self._begun: set[tuple[str, int]] = set()
        self._ended: set[tuple[str, int]] = set()

    def send(self, topic: str, records: Iterable[tuple[bytes | None, bytes | None]]) -> None:
        """Send (key, value) pairs as they are, in order; `await_settled` waits until they are written."""
        for key, value in records:
            self._producer.send(OutRecord(topic, None, key, value))

    def register(self, id: str, value: bytes) -> Ack:
        """Register a subscription; return what the edge says of it first: accepted, or refused."""
        [(_, version)] = self._kafka.send(self.client.topics.subscriptions, [(id.encode(), value)])
        self._await(lambda: self._acknowledged(id, version), f"an edge's word on `{id}`")
        return self._acks[id]

    def await_settled(self, topics: Iterable[str]) -> None:
        """Wait until all that stands in `topics` now has been read by batches that every edge has passed."""
        self._producer.flush()
        ends = {topic: self._admin.end_offsets(topic) for topic in topics}
        if not ends:
            return
        self._await(lambda: self._committed(ends), f"the batch that reads up to {ends}")
        assert self._announced is not None
        position = (self._announced.epoch, self._announced.batch)
        self._await(lambda: self._all_passed(position), f"the edges' progress past {position}")

    def await_begun(self, id: str, version: int, patience: float = PATIENCE) -> None:
        """Wait for the snapshot of this version of a subscription."""
        self._await(lambda: self._has_heard(self._begun, id, version), f"the snapshot of `{id}`", patience)

    def await_ended(self, id: str, version: int, patience: float = PATIENCE) -> None:
        """Wait until this version of a subscription has ended, for whatever reason."""
        self._await(lambda: self._has_heard(self._ended, id, version), f"the end of `{id}`", patience)

    def await_restarted(self) -> None:
        """Stop the engine; the supervisor starts it again. Returns when it is ready."""
        before = self._engine()["pid"]
        os.kill(before, signal.SIGTERM)
        self._await(lambda: self._engine()["pid"] not in (before, None) or _pause(), "the engine's restart")
        self._await(lambda: self._engine()["state"] == "ready" or _pause(), "the engine's restart")

    def take(self, id: str) -> list[dict[str, Json]]:
        """Return the deliveries to `id` since the last call, in order."""
        self._listen()
        return self._waiting.pop(id, [])

    def check(self) -> None:
        """Raise StackEnded if the stack does not run any more."""
        if self._directory.read_status() is None:
            raise StackEnded(f"the stack has ended:\n{tail(self._directory.logs / 'up.log')}")

    def close(self) -> None:
        """Leave the broker."""
        self._batches.close()
        self._deliveries.close()
        self._ack_reader.close()
        self._kafka.close()
        self.client.close()

    def _committed(self, ends: Mapping[str, Mapping[int, int]]) -> bool:
        for record in self._batches.poll(_POLL_SECONDS):
            progress = control_at(record.topic, record.partition, record.offset, record.value)
            if isinstance(progress, Progress):
                self._announced = progress
        read: Offsets = self._announced.end if self._announced is not None else {}
        return all(
            read.get(topic, {}).get(str(partition), 0) >= end
            for topic, places in ends.items()
            for partition, end in places.items()
        )

    def _acknowledged(self, id: str, version: int) -> bool:
        for record in self._ack_reader.poll(_POLL_SECONDS):
            ack = read_ack(record.value) if record.value is not None else None
            if ack is not None and (ack.id not in self._acks or self._acks[ack.id].version < ack.version):
                self._acks[ack.id] = ack
        return id in self._acks and self._acks[id].version == version

    def _all_passed(self, position: tuple[int, int]) -> bool:
        self._listen()
        return sum(passed >= position for passed in self._passed.values()) == self._edges

    def _has_heard(self, heard: set[tuple[str, int]], id: str, version: int) -> bool:
        self._listen()
        return (id, version) in heard

    def _listen(self) -> None:
        for record in self._deliveries.poll(_POLL_SECONDS):
            for value in self._told.objects(record.key, record.value or b"null"):
                if record.key == PROGRESS_KEY:
                    self._passed[record.partition] = (value["epoch"], value["batch"])
                else:
                    self._hear(value)

    def _hear(self, told: dict[str, Json]) -> None:
        self._waiting.setdefault(told["id"], []).append(told)
        if told["kind"] in ("snapshot", "ended"):
            seen = self._begun if told["kind"] == "snapshot" else self._ended
            seen.add((told["id"], told["version"]))

    def _engine(self) -> dict[str, Any]:
        status = self._directory.read_status() or {"children": []}
        return next((child for child in status["children"] if child["name"] == "engine"), {"pid": None, "state": ""})

    def _await(self, holds: Callable[[], object], what: str, patience: float = PATIENCE) -> None:
        deadline = time.monotonic() + patience
        while not holds():
            self.check()
            if time.monotonic() > deadline:
                raise StepTimeout(f"waited {patience:g} s for {what}; the logs are below {self._directory.logs}")


def _pause() -> bool:
    time.sleep(_POLL_SECONDS)
    return False
