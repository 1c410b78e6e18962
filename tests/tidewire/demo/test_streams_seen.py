"""What a demo sees of its streams: who holds them back, and when a silence has closed what it was to close."""

from __future__ import annotations

import datetime as dt

import msgspec

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from operators.counters import DomainCounters, ShardCounters, StreamCounters
from tidewire.demo.streams_seen import StreamsSeen

CATALOG = apply_ddl(
    Catalog(),
    "CREATE STREAM s (ts TIMESTAMP) WITH ('topic'='t', 'event_time'='ts', 'lateness'='10 s');"
    "CREATE TABLE k (id INTEGER PRIMARY KEY)",
    0,
)
SECOND = 1_000_000


def counted(batch: int, *reached: int | None, shard: str = "s/0") -> bytes:
    partitions = [DomainCounters(5, time and time * SECOND, time and (time - 10) * SECOND, False) for time in reached]
    floors = [one.floor for one in partitions]
    upto = None if None in floors else min(floor for floor in floors if floor is not None)
    stream = StreamCounters(3, 0, 0, upto, partitions)
    return msgspec.json.encode(ShardCounters(epoch=1, shard=shard, batch=batch, stream=stream))


def test_the_newest_that_the_shard_of_a_stream_tells_is_what_status_says() -> None:
    seen = StreamsSeen(CATALOG)
    assert seen.any and seen.sentences() == []
    for value in (
        counted(1, 20, None),
        counted(2, 30, 50),
        counted(3, 1, shard="k/0"),
        b'{"kind":"claim"}',
        b"\xff",
        None,
    ):
        seen.told(value)
    (said,) = seen.sentences()
    assert said == (
        "s is complete to 1970-01-01T00:00:20, held back by t[0] (last row 1970-01-01T00:00:30, offset 4); "
        "3 rows were late"
    )


def test_it_is_silent_when_every_partition_has_come_so_far() -> None:
    seen, relation, upto = StreamsSeen(CATALOG), CATALOG.relations["s"], dt.datetime(1970, 1, 1, 0, 0, 40)
    assert seen.silent(relation, upto) is None
    for batch, reached in enumerate([(20, None), (39, 50), ()]):
        seen.told(counted(batch, *reached) if reached else b"")
        assert seen.silent(relation, upto) is None
    seen.told(counted(7, 40, 50))
    assert seen.silent(relation, upto) == (1, 7)


def test_without_streams_there_is_nothing() -> None:
    for catalog in (None, Catalog()):
        seen = StreamsSeen(catalog)
        seen.told(counted(1, 20))
        assert not seen.any and seen.sentences() == []
