"""What all benchmarks of the chain share: a place to work in, sizes, and what is told while they run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import Producer as TransactionalClient

from connectors.kafka.admin import Admin
from connectors.kafka.producer import Producer
from connectors.kafka.properties import KafkaProperties
from connectors.record import OutRecord
from tidewire.stack.broker import Broker
from tidewire.stack.jars import jar_directories, read_jar_sets, require_jars

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured; `rounds` are the interleaved repetitions of everything whose ratio is told."""

    rows: int = 50_000
    subscriptions: int = 100_000
    batch: int = 100_000
    batches: int = 4
    rounds: int = 3
    virtual_edges: int = 16
    partitions: int = 4
    latency_seconds: float = 60.0
    latency_rate: int = 2_000
    latency_rows: int = 1_000
    latency_subscriptions: int = 2_000
    crowd: int = 1_000_000
    large_rows: int = 1_000_000
    filters: int = 62_500
    filters_against_numpy: int = 100_000
    push_readers: int = 200
    push_seconds: float = 60.0
    push_publications: int = 10_000
    push_idle: int = 2_000
    push_idle_seconds: float = 30.0


QUICK = Sizes(
    rows=5_000,
    subscriptions=10_000,
    batch=20_000,
    batches=3,
    rounds=2,
    latency_seconds=10.0,
    crowd=100_000,
    large_rows=50_000,
    filters=5_000,
    filters_against_numpy=5_000,
    push_readers=20,
    push_seconds=6.0,
    push_publications=1_000,
    push_idle=200,
    push_idle_seconds=5.0,
)


@dataclass(frozen=True, slots=True)
class Bench:
    """Where a run works, how large it is, and whom it tells."""

    folder: Path
    sizes: Sizes
    say: Say

    def jars(self, name: str) -> list[Path]:
        """Return the jars of a set, fetched if they are nowhere on this machine."""
        chosen = os.environ.get("TIDEWIRE_JARS_DIR")
        directories = jar_directories(self.folder, Path(chosen) if chosen else None)
        return require_jars(read_jar_sets()[name], directories, progress=self.say)

    @contextmanager
    def broker(self) -> Iterator[Broker]:
        """Run an embedded broker with the properties that `tidewire up` gives it."""
        broker = Broker(self.folder / "stack", port=0, jars=self.jars("broker"))
        broker.start()
        try:
            yield broker
        finally:
            broker.stop()


class Publisher:
    """Writes records to one cluster, and makes topics there."""

    def __init__(self, bootstrap: str) -> None:
        self.kafka = KafkaProperties(bootstrap)
        self.admin = Admin(self.kafka)
        self._producer = Producer(self.kafka)

    def offer(self, records: Iterable[OutRecord]) -> None:
        """Hand records to the client, and do not wait for them."""
        for record in records:
            self._producer.send(record)

    def send(self, records: Iterable[OutRecord]) -> int:
        """Write all and return how many, once the broker has them."""
        count = 0
        for record in records:
            self._producer.send(record)
            count += 1
        self._producer.flush()
        return count


@contextmanager
def hidden_until_the_end(kafka: KafkaProperties, records: Iterator[OutRecord]) -> Iterator[None]:
    """Write `records` at once, and let nobody see them before the block is left.

    They are one transaction; readers of committed records meet all of them in the moment of its commit, so what is
    measured afterwards does not share the machine with the publisher.
    """
    own = {"transactional.id": "tidewire-benchmark", "transaction.timeout.ms": 600_000, "linger.ms": 20}
    client = TransactionalClient(kafka.librdkafka() | own | {"partitioner": "murmur2_random"})
    client.init_transactions(30)
    client.begin_transaction()
    for record in records:
        while True:
            try:
                client.produce(record.topic, record.value, record.key)
                break
            except BufferError:
                client.poll(0.05)
        client.poll(0)
    client.flush(60)
    yield
    client.commit_transaction(60)
