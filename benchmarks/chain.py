"""A whole chain for measurements: a broker, the engine and one edge in processes of their own, each stopped at will."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import psutil
from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient

from benchmarks.bench import Bench, Publisher
from benchmarks.stock_workload import DDL
from connectors.kafka.reader import Reader
from connectors.record import OutRecord
from connectors.topics import Topics
from operators.control import Progress, decode_control
from tidewire.settings import Settings, load_settings
from tidewire.stack.broker import Broker
from tidewire.stack.child import Child, session_members
from tidewire.stack.embedded import PROGRAM, child_environment
from tidewire.stack.port import free_port

TOPIC = "chain.stock"
PATIENCE = 300.0
LOOK_SECONDS = 0.03


class Chain:
    """The processes, and what is asked of them while they work."""

    def __init__(self, bench: Bench, broker: Broker) -> None:
        sizes = bench.sizes
        self.settings: Settings = load_settings(
            data_dir=bench.folder / "stack",
            bootstrap=broker.bootstrap,
            prefix="chain.",
            virtual_edges=sizes.virtual_edges,
            max_offsets_per_trigger=sizes.batch,
            http_port=free_port(),
        )
        self.topics = Topics(self.settings.prefix)
        self.publisher = Publisher(broker.bootstrap)
        self.children: dict[str, Child] = {}
        self._broker = broker
        self._reader = Reader(self.publisher.kafka)
        self._groups = AdminClient(self.publisher.kafka.librdkafka())
        self._told: Iterator[Any] | None = None
        self._last: Progress | None = None

    def prepare(self, partitions: int) -> None:
        """Create the topics and declare the table."""
        admin = self.publisher.admin
        admin.ensure_topics(self.topics, self.settings.virtual_edges)
        admin.create_topic(TOPIC, partitions, {"message.timestamp.type": "LogAppendTime"})
        self.publisher.send([OutRecord(self.topics.catalog, 0, None, DDL.format(topic=TOPIC).encode())])
        self._told = self._reader.tail(self.topics.batches, {0: 0}, idle=LOOK_SECONDS)

    def start(self, name: str, *options: str) -> None:
        """Start the engine or an edge; returns at once. Further edges are named `edge-...`."""
        folder = self.settings.data_dir / "logs"
        folder.mkdir(parents=True, exist_ok=True)
        command = [*PROGRAM, name.partition("-")[0], *options]
        environment = child_environment(self.settings)
        self.children[name] = Child(name, command, folder / f"{name}.log", folder, environment)

    def stop(self, name: str) -> None:
        """Stop one of them; nothing if it does not run."""
        child = self.children.pop(name, None)
        if child is not None:
            child.stop(40)

    def await_engine(self, enough: Callable[[Progress], bool]) -> float:
        """Wait for a progress that is `enough`; return when it was told (`time.time`)."""
        assert self._told is not None, "the chain is not prepared"
        deadline = time.monotonic() + PATIENCE
        while self._last is None or not enough(self._last):
            record = next(self._told)
            if record is not None and record.value is not None:
                told = decode_control(record.value)
                self._last = told if isinstance(told, Progress) else self._last
                stamp = record.timestamp
            self._check(deadline, "the engine")
        return time.time() if record is None else stamp / 1000

    def await_read(self) -> float:
        """Wait until a committed batch has read all publications; return when that was told."""
        ends = self.publisher.admin.end_offsets(TOPIC)
        return self.await_engine(lambda told: _covers(told.end.get(TOPIC, {}), ends))

    def await_edges(self) -> float:
        """Wait until edges have committed all that stands in notifications now; return when that was seen."""
        ends = self.publisher.admin.end_offsets(self.topics.notifications)
        places = [TopicPartition(self.topics.notifications, number) for number in ends]
        asked = ConsumerGroupTopicPartitions(self.topics.prefix + "edges", places)
        deadline = time.monotonic() + PATIENCE
        while True:
            (answer,) = self._groups.list_consumer_group_offsets([asked]).values()
            if all(place.offset >= ends[place.partition] for place in answer.result(20).topic_partitions):
                return time.time()
            self._check(deadline, "the edge")
            time.sleep(LOOK_SECONDS)

    def await_live(self, subscriptions: int, ports: Sequence[int] = ()) -> None:
        """Wait until so many subscriptions are live, at the edges with these HTTP ports together."""
        deadline = time.monotonic() + PATIENCE
        while sum(self.live(ports)) < subscriptions:
            self._check(deadline, f"{subscriptions} subscriptions to be live, {sum(self.live(ports))} are")
            time.sleep(0.2)

    def live(self, ports: Sequence[int] = ()) -> list[int]:
        """Return how many subscriptions are live at the edge with each HTTP port; without any, at the one edge."""
        return [self._live(port) for port in ports or [self.settings.http_port]]

    def deliveries(self) -> int:
        """Return how many records stand in `deliveries`, transaction markers and progress included."""
        return sum(self.publisher.admin.end_offsets(self.topics.deliveries).values())

    def memory_mb(self) -> dict[str, int]:
        """Return the resident memory of each process, in MB."""
        sizes = {"broker": _resident(self._broker.child)}
        for name, child in self.children.items():
            sizes[name] = _resident(child)
            for pid in session_members(child.pid):
                if pid != child.pid:
                    process = psutil.Process(pid)
                    label = f"{name} {process.name()}"
                    while label in sizes:
                        label += "'"
                    sizes[label] = round(process.memory_info().rss / 1e6)
        return sizes

    def processor_seconds(self) -> dict[str, float]:
        """Return the processor time that broker, engine and edges have used up to now, each with its children."""
        used: dict[str, float] = {}
        broker = self._broker.child
        assert broker is not None, "the broker is not started"
        for child in [broker, *self.children.values()]:
            for pid in {child.pid, *session_members(child.pid)}:
                with suppress(psutil.NoSuchProcess):
                    times = psutil.Process(pid).cpu_times()
                    used[child.name] = used.get(child.name, 0.0) + times.user + times.system
        return used

    def close(self) -> None:
        """Stop all but the broker, the engine last."""
        for name in sorted(self.children):
            self.stop(name)

    def _live(self, port: int) -> int:
        connection = http.client.HTTPConnection(self.settings.http_host, port, timeout=30)
        try:
            connection.request("GET", "/health")
            body = json.loads(connection.getresponse().read())
        except (OSError, http.client.HTTPException, ValueError):
            return 0
        finally:
            connection.close()
        return sum(edge["live"] for edge in body.get("virtual_edges", {}).values())

    def _check(self, deadline: float, what: str) -> None:
        for child in self.children.values():
            if not child.alive:
                raise RuntimeError(f"{child.name} has ended with code {child.exit_code}:\n{child.tail(40)}")
        if time.monotonic() > deadline:
            logs = "\n".join(f"--- {child.name}\n{child.tail()}" for child in self.children.values())
            raise TimeoutError(f"waited {PATIENCE:g} s for {what}\n{logs}")


@contextmanager
def running_chain(bench: Bench) -> Iterator[Chain]:
    """Run a broker, and stop everything afterwards."""
    with bench.broker() as broker:
        chain = Chain(bench, broker)
        try:
            yield chain
        finally:
            chain.close()


def _covers(end: Mapping[str, int], wanted: Mapping[int, int]) -> bool:
    return all(end.get(str(partition), 0) >= offset for partition, offset in wanted.items())


def _resident(child: Child | None) -> int:
    return 0 if child is None else round(psutil.Process(child.pid).memory_info().rss / 1e6)
