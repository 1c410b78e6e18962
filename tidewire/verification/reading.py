"""From Kafka to a journal: in the order that makes what is read consistent while everything goes on.

1. `batches`: its last record is the horizon; whatever comes later is not judged.
2. `subscriptions`: before the deliveries, so that what is registered later is not taken for unanswered.
3. `deliveries`, until each partition's `@progress` has reached the horizon or the patience is over.
4. what was unsubscribed meanwhile, and `catalog`: hold what has called for an end among the deliveries, and every
   version that a batch names.
5. `acks`, `dead-letters`, `silences` and what of `registrations` says that streams are silent, and the topics of all
   tables and streams that were ever declared, as far as the batches read them; those that views are written to, which
   have all that a batch wrote before `batches` tells of it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from connectors.kafka.failure import TopicUnknown
from connectors.kafka.light import LightKafka
from connectors.kafka.properties import KafkaProperties
from connectors.kafka.reader import Reader
from connectors.kafka.record import KafkaRecord
from connectors.topics import Topics
from tidewire.verification.compare.quota import QUOTA, RowQuota
from tidewire.verification.compare.report import Report
from tidewire.verification.input.declared import Declared
from tidewire.verification.input.registry_schemas import Inquiry
from tidewire.verification.input.silences import is_silence
from tidewire.verification.records.batches import Batches, Position
from tidewire.verification.records.journal import Journal, Record, TopicLog
from tidewire.verification.records.lifetimes import Lives, read_progress
from tidewire.verification.records.sample import EVERY_ONE, Sample
from tidewire.verification.records.written import HEADER
from tidewire.verification.schemas.registry import Registry
from tidewire.verification.verify import verify

_PAUSE_SECONDS = 0.5


def verify_kafka(
    properties: KafkaProperties,
    topics: Topics,
    patience: float,
    sample: Sample = EVERY_ONE,
    registry: Registry | None = None,
    quota: RowQuota = QUOTA,
) -> Report:
    """Read everything and verify it for the subscriptions of `sample`. `registry` has schemas that tables leave to it.

    quota: how much the engine is set to tell of rows at once.
    While something is only behind or unanswered it does so again, for `patience` seconds.

    Raises KafkaFailure.
    """
    until, inquiry = time.monotonic() + patience, Inquiry(registry)
    while True:
        report = verify(read_journal(properties, topics, until - time.monotonic(), sample), inquiry, quota)
        settled = not (report.behind or report.unanswered)
        if settled or time.monotonic() > until:
            return report
        time.sleep(_PAUSE_SECONDS)


def read_journal(properties: KafkaProperties, topics: Topics, patience: float, sample: Sample = EVERY_ONE) -> Journal:
    """Read what `verify` needs. Cost: about 5 us a record. Raises KafkaFailure."""
    reader = Reader(properties)
    batches = read_log(reader, topics.batches)
    known = Batches(batches.all())
    subscriptions = read_log(reader, topics.subscriptions)
    deliveries = _read_deliveries(reader, topics.deliveries, known.horizon, patience, sample)
    later = TopicLog(topics.subscriptions)
    extend(later, reader.read_to_end(topics.subscriptions, start=dict(subscriptions.end)))
    catalog = read_log(reader, topics.catalog)
    declared = Declared(catalog.all(), topics.prefix)
    with LightKafka(properties.kafka_python()) as light:
        relations = {topic: _read_relation(reader, light, topic) for topic in sorted(declared.topics())}
        written = {topic: _read_relation(reader, light, topic, HEADER) for topic in sorted(declared.written_topics())}
    return Journal(
        catalog=catalog,
        batches=batches,
        subscriptions=subscriptions,
        acks=read_log(reader, topics.acks),
        deliveries=deliveries,
        dead_letters=read_log(reader, topics.dead_letters),
        relations=relations,
        later_tombstones=[record for record in later.all() if record.value is None],
        sample=sample,
        silences=_read_of_streams(reader, topics.silences, declared),
        registrations=_read_of_streams(reader, topics.registrations, declared),
        written=written,
    )


def read_log(reader: Reader, topic: str, sample: Sample = EVERY_ONE, header: str = "") -> TopicLog:
    """Read a whole topic as it is now, but for records that `sample` leaves out; with a header, if one is named."""
    begin = reader.admin.begin_offsets(topic)
    end = reader.admin.end_offsets(topic)
    log = TopicLog(topic, {p: [] for p in begin}, begin, end)
    extend(log, reader.read_to_end(topic, header=header), sample)
    return log


def extend(log: TopicLog, records: Iterable[KafkaRecord], sample: Sample = EVERY_ONE) -> None:
    """Append records, which come in order within each partition."""
    for r in records:
        if sample.takes(r.key):
            record = Record(r.partition, r.offset, r.timestamp, r.key, r.value, r.header)
            log.records.setdefault(r.partition, []).append(record)
        log.end[r.partition] = max(log.end.get(r.partition, 0), r.offset + 1)


def _read_deliveries(reader: Reader, topic: str, horizon: Position | None, patience: float, sample: Sample) -> TopicLog:
    log = read_log(reader, topic, sample)
    until = time.monotonic() + patience
    while horizon is not None and time.monotonic() < until and _behind(log, horizon):
        time.sleep(_PAUSE_SECONDS)
        extend(log, reader.read_to_end(topic, start=dict(log.end)), sample)
    return log


def _behind(log: TopicLog, horizon: Position) -> bool:
    reached, whole_from = read_progress(log)
    lives = Lives([], reached, whole_from, [])
    return any(lives.latest(partition) < horizon for partition in reached)


def _read_of_streams(reader: Reader, topic: str, declared: Declared) -> TopicLog | None:
    """Read what an internal topic says of silences; None where no stream was ever declared."""
    shards = {f"{table.name}/0".encode() for table in declared.every() if table.stream is not None}
    if not shards:
        return None
    log = read_log(reader, topic)
    if topic.endswith("registrations"):
        log.records = {
            partition: [record for record in records if is_silence(shards, record.key, record.value)]
            for partition, records in log.records.items()
        }
    return log


def _read_relation(reader: Reader, light: LightKafka, topic: str, header: str = "") -> TopicLog:
    try:
        log = read_log(reader, topic, header=header)
    except TopicUnknown:
        return TopicLog(topic)
    log.compacted = light.is_compacted(topic)
    return log
