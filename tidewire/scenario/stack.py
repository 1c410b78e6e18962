"""A scenario over the whole stack: an embedded broker, Spark and edges of its own for each file.

A step is over when the edges' progress has passed what the step wrote. Cost: about 15 s a file to start, then
one or two batches a step.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from connectors.kafka import Admin, KafkaProperties
from connectors.light_kafka import LightKafka
from operators.control import Offsets, Progress, decode_control
from state.errors import TidewireError
from tidewire.client import Client
from tidewire.delivery_reader import DeliveryReader
from tidewire.records import PROGRESS_KEY, Refused
from tidewire.scenario.engine import Refusal
from tidewire.scenario.script import Json
from tidewire.settings import load_settings
from tidewire.stack.data_directory import DataDirectory
from tidewire.stack.running import running_stack

_PATIENCE = 180.0


class StepTimeout(TidewireError):
    """The stack did not finish a step in time."""

    code = "timeout"
    retry_helps = True


@contextmanager
def embedded_engines() -> Iterator[Callable[[], AbstractContextManager[StackEngine]]]:
    """Yield what makes a stack of its own, with empty topics, for each scenario."""
    with tempfile.TemporaryDirectory(prefix="tidewire-scenario-", ignore_cleanup_errors=True) as folder:
        numbers = iter(range(1_000_000))
        yield lambda: _embedded_engine(Path(folder) / str(next(numbers)))


@contextmanager
def _embedded_engine(data_dir: Path) -> Iterator[StackEngine]:
    settings = load_settings(data_dir=data_dir, broker_port=0, http_port=0)
    with running_stack(settings) as status:
        engine = StackEngine(status, DataDirectory(data_dir))
        try:
            yield engine
        finally:
            engine.close()


class StackEngine:
    """`ScenarioEngine` over a running stack; knows only what a client knows, and the pid of the engine."""

    def __init__(self, status: dict[str, Any], directory: DataDirectory) -> None:
        self._directory = directory
        properties = KafkaProperties(status["bootstrap"])
        self._client = Client(status["bootstrap"], status["prefix"])
        self._admin = Admin(properties)
        kafka = LightKafka(properties.kafka_python())
        self._batches = kafka.reader()
        self._batches.assign(self._client.topics.batches)
        self._deliveries = kafka.reader()
        self._deliveries.assign(self._client.topics.deliveries)
        self._told = DeliveryReader()
        self._edges = len(self._deliveries.partitions(self._client.topics.deliveries))
        self._announced: Progress | None = None
        self._passed: dict[int, tuple[int, int]] = {}
        self._waiting: dict[str, list[dict[str, Json]]] = {}

    def declare(self, ddl: str) -> None:
        """Apply DDL and wait until it is announced. Topics get one partition: a step's rows have an order."""
        self._client.apply(ddl, timeout=_PATIENCE, partitions=1)

    def publish(self, table: str, rows: list[dict[str, Json]]) -> None:
        """Upsert rows in order."""
        self._client.publish(table, rows)
        self._settle(table)

    def delete(self, table: str, keys: list[dict[str, Json]]) -> None:
        """Delete by primary key, in order."""
        self._client.delete(table, keys)
        self._settle(table)

    def subscribe(self, subscription: str, sql: str) -> Refusal | None:
        """Register or replace a subscription and wait until it is live or refused."""
        try:
            ack = self._client.subscribe(subscription, sql, timeout=_PATIENCE)
        except Refused as refused:
            return Refusal(refused.ack.code or "", refused.ack.message or "")
        self._await(lambda: self._holds(subscription, "snapshot", ack.version), f"the snapshot of `{subscription}`")
        return None

    def unsubscribe(self, subscription: str) -> None:
        """End a subscription and wait until it has ended."""
        self._client.unsubscribe(subscription)
        self._await(lambda: self._holds(subscription, "ended"), f"the end of `{subscription}`")

    def restart(self) -> None:
        """Stop the engine; the supervisor starts it again. Returns when it is ready."""
        before = self._engine()["pid"]
        os.kill(before, signal.SIGTERM)
        self._await(lambda: self._engine()["pid"] not in (before, None), "the engine's restart")
        self._await(lambda: self._engine()["state"] == "ready", "the engine's restart")

    def deliveries(self, subscription: str) -> list[dict[str, Json]]:
        """Take the deliveries to a subscription since the last call."""
        self._listen()
        return self._waiting.pop(subscription, [])

    def close(self) -> None:
        """Leave the broker."""
        self._batches.close()
        self._deliveries.close()
        self._client.close()

    def _settle(self, table: str) -> None:
        topic = self._client.relation(table).topic
        ends = self._admin.end_offsets(topic)
        self._await(lambda: self._committed(topic, ends), f"the batch that reads `{topic}` up to {ends}")
        assert self._announced is not None
        position = (self._announced.epoch, self._announced.batch)
        self._await(lambda: self._all_passed(position), f"the edges' progress past {position}")

    def _committed(self, topic: str, ends: dict[int, int]) -> bool:
        for record in self._batches.poll(0.05):
            progress = decode_control(record.value or b"null")
            if isinstance(progress, Progress):
                self._announced = progress
        read: Offsets = self._announced.end if self._announced is not None else {}
        return all(read.get(topic, {}).get(str(partition), 0) >= end for partition, end in ends.items())

    def _all_passed(self, position: tuple[int, int]) -> bool:
        self._listen()
        return sum(passed >= position for passed in self._passed.values()) == self._edges

    def _holds(self, subscription: str, kind: str, version: int | None = None) -> bool:
        self._listen()
        return any(
            delivery["kind"] == kind and version in (None, delivery["version"])
            for delivery in self._waiting.get(subscription, [])
        )

    def _listen(self) -> None:
        for record in self._deliveries.poll(0.05):
            for told in self._told.objects(record.key, record.value or b"null"):
                if record.key == PROGRESS_KEY:
                    self._passed[record.partition] = (told["epoch"], told["batch"])
                else:
                    self._waiting.setdefault(told["id"], []).append(told)

    def _engine(self) -> dict[str, Any]:
        status = self._directory.read_status() or {"children": []}
        return next((child for child in status["children"] if child["name"] == "engine"), {"pid": None, "state": ""})

    def _await(self, holds: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + _PATIENCE
        while not holds():
            if time.monotonic() > deadline:
                raise StepTimeout(f"waited {_PATIENCE:g} s for {what}; the logs are below {self._directory.logs}")
            time.sleep(0.02)
