"""What is seen while events are published: counts, latencies, lag, and answers as they change."""

from __future__ import annotations

import datetime as dt
import math
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from catalog.schema.catalog import Catalog
from catalog.schema.relation import Relation
from connectors.kafka.properties import KafkaProperties
from connectors.kafka.reader import Reader
from connectors.kafka.record import KafkaRecord
from connectors.topics import Topics
from operators.control import Progress as EngineProgress
from operators.control import control_at
from tidewire.client.delivery_reader import DeliveryReader
from tidewire.client.records import Delivery, Progress
from tidewire.demo.streams_seen import StreamsSeen

_RECENT_SECONDS = 5.0
_SHOWN = 8


class Seen(msgspec.Struct):
    """Numbers of one moment. Latency is from the publication's send to the committed delivery, in milliseconds.

    `streams` says of each stream how far it is complete.
    """

    published: int = 0
    deliveries: int = 0
    changes: int = 0
    kills: int = 0
    lag: int = 0
    publications_per_s: float = 0.0
    deliveries_per_s: float = 0.0
    latency_p50: float = 0.0
    latency_p99: float = 0.0
    epoch: int = -1
    batch: int = -1
    streams: list[str] = []


class Watch:
    """Follows `deliveries` and `batches`, and where there are streams `engines`, in threads of their own.

    `published` is called by whoever publishes.
    """

    def __init__(
        self,
        properties: KafkaProperties,
        topics: Topics,
        published: Sequence[str],
        listen: Callable[[Delivery], None],
        catalog: Catalog | None = None,
    ) -> None:
        """`published` are the topics of the tables; `listen` is told of each delivery; `catalog` has the streams."""
        self._properties = properties
        self._topics = topics
        self._published = published
        self._listen = listen
        self._lock = threading.Lock()
        self._sent: dict[tuple[str, int, int], float] = {}
        self._latencies: Counter[int] = Counter()
        """How many deliveries took so many milliseconds."""
        self._recent: deque[tuple[float, int, int]] = deque()
        self._seen = Seen()
        self._covered = 0
        self._told: dict[int, tuple[int, int]] = {}
        self._stop = threading.Event()
        self._streams = StreamsSeen(catalog)
        followed = [self._follow_deliveries, self._follow_batches]
        followed += [self._follow_engines] if self._streams.any else []
        self._threads = [threading.Thread(target=run, daemon=True) for run in followed]
        self._answers: dict[str, Delivery] = {}
        self.failure: Exception | None = None

    def start(self) -> None:
        """Begin to follow, from the beginning of the topics."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stop following."""
        self._stop.set()
        for thread in self._threads:
            thread.join(5)

    def published(self, topic: str, partition: int, offset: int) -> None:
        """Note that a publication stands at this place of a table's topic, just now."""
        with self._lock:
            self._sent[topic, partition, offset] = time.time()
            self._seen.published += 1

    def killed(self) -> None:
        """Note that a part of the stack was killed."""
        with self._lock:
            self._seen.kills += 1

    @property
    def covered(self) -> int:
        """How many publications stand in batches."""
        return self._covered

    def seen(self) -> Seen:
        """Return the numbers of this moment; rates are those of the last seconds."""
        with self._lock:
            now = time.monotonic()
            self._recent.append((now, self._seen.published, self._seen.deliveries))
            while len(self._recent) > 2 and now - self._recent[1][0] > _RECENT_SECONDS:
                self._recent.popleft()
            then, published, deliveries = self._recent[0]
            span = max(now - then, 0.001)
            self._seen.publications_per_s = (self._seen.published - published) / span
            self._seen.deliveries_per_s = (self._seen.deliveries - deliveries) / span
            self._seen.lag = max(self._seen.published - self._covered, 0)
            self._seen.latency_p50 = _quantile(self._latencies, 0.5)
            self._seen.latency_p99 = _quantile(self._latencies, 0.99)
            self._seen.streams = self._streams.sentences()
            return msgspec.structs.replace(self._seen)

    def newest_answers(self) -> list[Delivery]:
        """Return what was told last, of as many subscriptions: changes, and of what is no row also that it is final."""
        with self._lock:
            return list(self._answers.values())[-_SHOWN:]

    def complete(self) -> bool:
        """Whether batches have covered everything published, and every edge has told so."""
        with self._lock:
            reached = (self._seen.epoch, self._seen.batch)
            told = bool(self._told) and min(self._told.values()) >= reached
            return self._covered >= self._seen.published and told

    def silent(self, relation: Relation, upto: dt.datetime) -> bool:
        """Whether a stream has come to `upto` in every partition, and every edge has told what that closes."""
        reached = self._streams.silent(relation, upto)
        with self._lock:
            return reached is not None and bool(self._told) and min(self._told.values()) >= reached

    def told(self, partition: int, record: Delivery | Progress) -> None:
        """Note a record of the topic `deliveries`."""
        with self._lock:
            if isinstance(record, Progress):
                self._told[partition] = (record.epoch, record.batch)
            else:
                self._note(record)

    def committed(self, progress: EngineProgress) -> None:
        """Note a record of the topic `batches`."""
        with self._lock:
            self._seen.epoch, self._seen.batch = progress.epoch, progress.batch
            self._covered = sum(sum(progress.end.get(topic, {}).values()) for topic in self._published)

    def counted(self, value: bytes | None) -> None:
        """Note a record of the topic `engines`."""
        self._streams.told(value)

    def _follow_deliveries(self) -> None:
        deliveries = DeliveryReader()
        for record in self._records(self._topics.deliveries):
            for told in deliveries.read(record.key, record.value or b""):
                self.told(record.partition, told)

    def _note(self, delivery: Delivery) -> None:
        self._seen.deliveries += 1
        self._listen(delivery)
        if delivery.kind == "change" or (delivery.kind == "final" and delivery.added is None):
            self._answers.pop(delivery.id, None)
            self._answers[delivery.id] = delivery
        if delivery.kind == "change":
            self._note_change(delivery)

    def _note_change(self, delivery: Delivery) -> None:
        self._seen.changes += 1
        at = delivery.at
        if at.topic is not None and at.partition is not None and at.offset is not None:
            sent = self._sent.get((at.topic, at.partition, at.offset))
            if sent is not None:
                self._latencies[math.ceil((time.time() - sent) * 1000)] += 1

    def _follow_batches(self) -> None:
        for record in self._records(self._topics.batches):
            progress = control_at(record.topic, record.partition, record.offset, record.value)
            if isinstance(progress, EngineProgress):
                self.committed(progress)

    def _follow_engines(self) -> None:
        for record in self._records(self._topics.engines):
            self.counted(record.value)

    def _records(self, topic: str) -> Iterator[KafkaRecord]:
        try:
            reader = Reader(self._properties)
            for record in reader.tail(topic, reader.admin.begin_offsets(topic)):
                if self._stop.is_set():
                    return
                if record is not None:
                    yield record
        except Exception as error:  # a thread's error is raised by the one who waits for `complete`
            self.failure = error


def _quantile(counts: Counter[int], share: float) -> float:
    before, place = 0, int(counts.total() * share)
    for value in sorted(counts):
        before += counts[value]
        if before > place:
            return float(value)
    return 0.0


def as_rows(seen: Seen) -> list[tuple[str, Any]]:
    """Return (what, value) rows for a person."""
    return [
        ("publications", f"{seen.published:,}"),
        ("publications/s", f"{seen.publications_per_s:,.0f}"),
        ("not in a batch yet", f"{seen.lag:,}"),
        ("deliveries", f"{seen.deliveries:,}"),
        ("deliveries/s", f"{seen.deliveries_per_s:,.0f}"),
        ("latency p50, p99", f"{seen.latency_p50:,.0f} ms, {seen.latency_p99:,.0f} ms"),
        *([("SIGKILLs", f"{seen.kills:,}")] if seen.kills else []),
        ("position", f"epoch {seen.epoch}, batch {seen.batch}"),
        *[("stream", sentence) for sentence in seen.streams],
    ]
