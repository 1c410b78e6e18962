"""How long a subscriber waits: from Kafka's append of a publication until a consumer here has the delivery.

    python -m benchmarks --only latency

A stack as `tidewire up` runs it; its table's topic keeps `LogAppendTime`. For a minute 2,000 publications a second go
in, as evenly as one thread can; a consumer of committed records reads all deliveries and notes the time of each. Each
delivery names the publication that caused it. The first seconds are not counted.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec
import numpy as np
from confluent_kafka import Consumer, TopicPartition

from benchmarks.bench import Bench, Publisher
from benchmarks.stock_workload import DDL, Audience, Market, catalog_of
from connectors.kafka.reader import Reader
from connectors.record import OutRecord
from connectors.topics import Topics
from operators.control import Progress, decode_control
from state.change_batch import I64
from tidewire.settings import load_settings
from tidewire.stack.running import running_stack

TOPIC = "stock"
TICK_SECONDS = 0.01
WARM_SECONDS = 10.0
WIDEST = 5
PATIENCE = 120.0


class At(msgspec.Struct):
    epoch: int
    batch: int
    partition: int = -1
    offset: int = -1
    topic: str = ""


class Change(msgspec.Struct):
    kind: str
    id: str = ""
    at: At | None = None


@dataclass(slots=True)
class Listener:
    """A thread that notes when each change arrives: partition and offset of its cause, and milliseconds.

    It reads each partition from `starts`, or from its beginning. `causes`: the topic whose changes it notes, all if ''.
    `ids`: what the ids begin with of those that it listens for.
    """

    bootstrap: str
    topic: str
    partitions: int
    starts: Mapping[int, int] = field(default_factory=dict)
    causes: str = ""
    ids: str = ""
    partition: list[int] = field(default_factory=list)
    offset: list[int] = field(default_factory=list)
    arrived: list[float] = field(default_factory=list)
    snapshots: int = 0
    stop: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        options = {"bootstrap.servers": self.bootstrap, "group.id": "benchmark", "isolation.level": "read_committed"}
        consumer = Consumer(options | {"enable.auto.commit": False})
        consumer.assign([TopicPartition(self.topic, n, self.starts.get(n, 0)) for n in range(self.partitions)])
        decode = msgspec.json.Decoder(Change).decode
        while not self.stop.is_set():
            messages = consumer.consume(10_000, 0.02)
            now = time.time() * 1000
            for message in messages:
                change = None if message.error() else decode(message.value())
                if change is not None and not change.id.startswith(self.ids):
                    continue
                if change is not None and change.kind == "change" and change.at is not None:
                    if self.causes not in ("", change.at.topic):
                        continue
                    self.partition.append(change.at.partition)
                    self.offset.append(change.at.offset)
                    self.arrived.append(now)
                elif change is not None:
                    self.snapshots += change.kind == "snapshot"
        consumer.close()


def measure(bench: Bench) -> dict[str, object]:
    """Return the quantiles in milliseconds, and how much was heard."""
    sizes = bench.sizes
    audience = Audience(sizes.latency_subscriptions, sizes.latency_rows, WIDEST)
    return {"latency_ms": wait_of(bench, sizes.latency_rows, len(audience), audience.subscriptions)}


def wait_of(
    bench: Bench, rows: int, subscriptions: int, asked: Callable[[Topics], Iterator[OutRecord]]
) -> dict[str, float]:
    """Return how long `subscriptions` on a table of `rows` wait: `asked` gives the records that subscribe them."""
    sizes, say = bench.sizes, bench.say
    settings = load_settings(data_dir=bench.folder / "up", broker_port=0, http_port=0)
    market = Market(catalog_of(TOPIC).relations["stock"], rows)
    say("starting `tidewire up`")
    with running_stack(settings) as status:
        publisher, topics = Publisher(status["bootstrap"]), Topics(settings.prefix)
        publisher.admin.create_topic(TOPIC, sizes.partitions, {"message.timestamp.type": "LogAppendTime"})
        publisher.send([OutRecord(topics.catalog, 0, None, DDL.format(topic=TOPIC).encode()), *market.load()])
        await_catalog(publisher, topics)
        listener = Listener(status["bootstrap"], topics.deliveries, settings.virtual_edges)
        thread = threading.Thread(target=listener.run, daemon=True)
        thread.start()
        publisher.send(asked(topics))
        await_that(lambda: listener.snapshots >= subscriptions, f"{subscriptions:,} subscriptions to be live")
        say(f"publishing {sizes.latency_rate:,} a second")
        changes = market.changes(int(sizes.latency_rate * sizes.latency_seconds))
        sent = publish_steadily(publisher, changes, sizes.latency_rate)
        await_silence(listener)
        listener.stop.set()
        thread.join()
        return latency_figures(listener, publisher, TOPIC, sizes.partitions, sent)


class Sent(NamedTuple):
    """When publishing began, and the rate that was reached, a second."""

    began_ms: float
    rate: float


def publish_steadily(publisher: Publisher, changes: Iterator[OutRecord], rate: int) -> Sent:
    """Send `changes` at `rate` a second."""
    began_ms, began, count = time.time() * 1000, time.monotonic(), 0
    due: list[OutRecord] = []
    for change in changes:
        due.append(change)
        if len(due) == int(rate * TICK_SECONDS):
            time.sleep(max(0.0, began + count / rate - time.monotonic()))
            publisher.offer(due)
            count += len(due)
            due = []
    publisher.send(due)
    return Sent(began_ms, count / (time.monotonic() - began))


def await_catalog(publisher: Publisher, topics: Topics) -> None:
    """Wait until the engine has announced the table."""
    deadline = time.monotonic() + PATIENCE
    for record in Reader(publisher.kafka).tail(topics.batches, {0: 0}):
        told = decode_control(record.value) if record is not None and record.value is not None else None
        if isinstance(told, Progress) and told.catalog >= 0:
            return
        assert time.monotonic() < deadline, "the table was not announced"


def await_that(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, f"waited {PATIENCE:g} s for {what}"
        time.sleep(0.1)


def await_silence(listener: Listener) -> None:
    """Wait until nothing has arrived for three seconds."""
    while not listener.arrived or time.time() * 1000 - listener.arrived[-1] < 3_000:
        time.sleep(0.2)


def _appended(publisher: Publisher, topic: str, partitions: int) -> list[I64]:
    """Return the append time of each publication, by partition and offset."""
    times: list[list[int]] = [[] for _ in range(partitions)]
    for record in Reader(publisher.kafka).read_to_end(topic):
        part = times[record.partition]
        part += [0] * (record.offset - len(part)) + [record.timestamp]
    return [np.array(part, np.int64) for part in times]


def latency_figures(
    listener: Listener, publisher: Publisher, topic: str, partitions: int, sent: Sent
) -> dict[str, float]:
    """Return the quantiles of what `listener` noted against the append times in `topic`, in milliseconds.

    Rows that were loaded before, and the first seconds, do not count.
    """
    appended = _appended(publisher, topic, partitions)
    partition, offset = np.array(listener.partition), np.array(listener.offset)
    arrived = np.array(listener.arrived)
    since = np.zeros(len(arrived))
    for number, times in enumerate(appended):
        of = partition == number
        since[of] = times[offset[of]]
    warm = WARM_SECONDS * 1000 if since.max() - sent.began_ms > 2_000 * WARM_SECONDS else 0
    counted = since > sent.began_ms + warm
    waited = arrived[counted] - since[counted]
    publications = len(np.unique(partition[counted] * 2**40 + offset[counted]))
    spread = (since[counted].max() - since[counted].min()) / 1000
    return {
        "p50": round(float(np.quantile(waited, 0.5))),
        "p90": round(float(np.quantile(waited, 0.9))),
        "p99": round(float(np.quantile(waited, 0.99))),
        "max": round(float(waited.max())),
        "deliveries": len(waited),
        "publications_per_s": round(sent.rate),
        "publications_heard_per_s": round(publications / spread),
        "deliveries_per_s": round(len(waited) / spread),
    }
