"""The observer against a real broker, with the records that engine and shards would have written."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from connectors.kafka.producer import Producer
from connectors.kafka.properties import KafkaProperties
from connectors.kafka.reader import Reader
from connectors.record import OutRecord
from connectors.topics import Topics
from operators.control import Progress, encode_control
from streaming.epoch.claim import ClaimRecord
from tidewire.stack.port import LOOPBACK, free_port
from tidewire.status.overview import EdgeState, Observer, read_health, wanted_of

pytestmark = pytest.mark.broker
NOW = datetime(2026, 3, 1, 12, 0, 10, tzinfo=UTC)


@pytest.fixture
def producer(kafka: KafkaProperties) -> Producer:
    return Producer(kafka)


def observe(kafka: KafkaProperties, topics: Topics) -> Observer:
    return Observer(Reader(kafka), kafka.bootstrap, topics, lambda: NOW)


def counters(shard: str, batch: int, **more: object) -> bytes:
    return msgspec.json.encode({"kind": "counters", "epoch": 0, "shard": shard, "batch": batch, **more})


def test_nothing_has_happened_yet(kafka: KafkaProperties, topics: Topics) -> None:
    seen = observe(kafka, topics).look()
    assert (seen.catalog, seen.tables, seen.edges, seen.dead_letters, seen.virtual_edges) == (-1, [], [], 0, 4)
    assert seen.engine.age is None


def test_engine_tables_lag_and_counts(kafka: KafkaProperties, topics: Topics, producer: Producer) -> None:
    admin = Reader(kafka).admin
    source = topics.prefix + "stock"
    admin.create_topic(source, 2)
    ddl = "CREATE TABLE {} (k BIGINT PRIMARY KEY) WITH ('topic'='{}', 'format'='json')"
    parted = ddl.format("parted", topics.prefix + "parted")[:-1] + ", 'buckets'='2', 'bucket.by'='k')"
    claim = msgspec.json.encode(ClaimRecord("claim-x", "2026-03-01T11:00:00.000Z", "/c"))
    told = (NOW - timedelta(seconds=4)).isoformat()
    progress = Progress(0, 7, 1, told, {source: {"0": 0}}, {source: {"0": 3, "1": 0}})
    records = [
        OutRecord(topics.catalog, 0, None, ddl.format("stock", source).encode()),
        OutRecord(topics.catalog, 0, None, ddl.format("gone", topics.prefix + "absent").encode()),
        OutRecord(topics.catalog, 0, None, parted.encode()),
        OutRecord(topics.engines, 0, b"claim-x", claim),
        OutRecord(topics.engines, 0, b"stock/0", counters("stock/0", 1, decoded=1)),
        OutRecord(topics.engines, 0, b"stock/0", counters("stock/0", 7, decoded=5, dead=1, rows=4, seen={"k": 4})),
        OutRecord(topics.engines, 0, b"parted/1", counters("parted/1", 7, decoded=2, bytes=70)),
        OutRecord(topics.engines, 0, b"parted/0", counters("parted/0", 6, decoded=3, bytes=50)),
        OutRecord(topics.engines, 0, b"x", b"not JSON"),
        OutRecord(topics.batches, 0, None, encode_control(progress)),
        OutRecord(topics.dead_letters, 0, b"p", b"{}"),
        *(OutRecord(source, i % 2, b"k", b"{}") for i in range(10)),
    ]
    for record in records:
        producer.send(record)
    producer.flush()
    seen = observe(kafka, topics).look()
    assert (seen.engine.epoch, seen.engine.batch, seen.engine.age, seen.engine.checkpoint) == (0, 7, 4.0, "/c")
    gone, buckets, stock = seen.tables
    assert (buckets.shards, buckets.counters and buckets.counters.decoded, buckets.largest_bytes) == (2, 5, 70)
    assert (gone.name, gone.lag, gone.counters) == ("gone", None, None)
    assert (gone.partitions, stock.partitions) == (0, 2)
    assert (stock.lag, stock.counters and stock.counters.decoded, stock.counters and stock.counters.rows) == (7, 5, 4)
    assert seen.dead_letters == 1
    assert msgspec.json.encode(seen)


def test_cells_since_when_and_how_far(kafka: KafkaProperties, topics: Topics, producer: Producer) -> None:
    source = topics.prefix + "stock"
    Reader(kafka).admin.create_topic(source)
    ddl = "CREATE TABLE {} (k BIGINT PRIMARY KEY) WITH ('topic'='{}')"
    progress = Progress(0, 7, 1, NOW.isoformat(), {source: {"0": 0}}, {source: {"0": 3}})
    for record in (
        OutRecord(topics.catalog, 0, None, ddl.format("stock", source).encode()),
        OutRecord(topics.catalog, 0, None, ddl.format("gone", topics.prefix + "absent").encode()),
        OutRecord(topics.engines, 0, b"x", counters("cell/gone+stock/0", 7, rows=4, bytes=70, messages=2, routed=9)),
        OutRecord(topics.batches, 0, None, encode_control(progress)),
        *(OutRecord(source, 0, b"k", b"{}") for _ in range(5)),
    ):
        producer.send(record)
    producer.send(OutRecord(topics.catalog, 0, None, b"CREATE JOIN stock, gone"), timestamp=1_700_000_000_000)
    producer.send(OutRecord(topics.catalog, 0, None, b"CREATE JOIN stock"))
    producer.flush()
    both, alone = observe(kafka, topics).look().cells
    assert (both.tables, both.catalog, both.since) == (("gone", "stock"), 2, "2023-11-14T22:13:20+00:00")
    assert (both.lag, both.counters and both.counters.rows) == (2, 4)
    assert (alone.tables, alone.counters) == (("stock",), None)


def test_who_waits_for_a_cell_is_read_of_the_edges() -> None:
    def edge(address: str, *wanted: list[list[str]]) -> EdgeState:
        return EdgeState(
            address, [0], {"virtual_edges": {str(i): {"cells_wanted": one} for i, one in enumerate(wanted)}}
        )

    edges = [edge("a:1", [["s", "t"]], [["s", "t"], ["s"]]), edge("b:2", [["s", "t"]]), edge("c:3", [])]
    assert [(one.tables, one.edges) for one in wanted_of([*edges, EdgeState("d:4", [])])] == [
        (("s",), ["a:1"]), (("s", "t"), ["a:1", "b:2"]),
    ]  # fmt: skip


def test_an_edge_that_does_not_answer_has_no_health() -> None:
    assert read_health(f"{LOOPBACK}:{free_port()}") is None
