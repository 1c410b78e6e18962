"""How far streams are complete is said with the partition that holds them back, and what would help."""

from __future__ import annotations

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from operators.counters import DomainCounters, ShardCounters, StreamCounters
from tidewire.status.streams import StreamState, sentence, stream_warnings, streams_of

CATALOG = apply_ddl(
    Catalog(),
    "CREATE STREAM trade (symbol VARCHAR, ts TIMESTAMP) WITH ('topic'='trades', 'event_time'='ts', 'lateness'='10 s');"
    "CREATE VIEW hourly AS SELECT symbol, DATE_TRUNC('hour', ts) AS hour, COUNT(*) AS n FROM trade "
    "GROUP BY symbol, DATE_TRUNC('hour', ts);"
    "CREATE TABLE stock (id INTEGER PRIMARY KEY)",
    0,
)
SECOND = 1_000_000


def stream(upto: int | None, *partitions: DomainCounters) -> StreamState:
    counters = ShardCounters(epoch=0, shard="trade/0", batch=3, stream=StreamCounters(2, 1, 0, upto, list(partitions)))
    (found,) = streams_of(CATALOG, {"trade/0": counters, "stock/0": ShardCounters(epoch=0, shard="stock/0", batch=3)})
    return found


def test_the_partition_that_is_furthest_behind_is_named() -> None:
    found = stream(
        40 * SECOND,
        DomainCounters(9, 70 * SECOND, 60 * SECOND, False),
        DomainCounters(4, 50 * SECOND, 40 * SECOND, False),
    )
    assert (found.views, found.late, found.ahead) == (["hourly"], 2, 1)
    assert sentence(found) == (
        "trade is complete to 1970-01-01T00:00:40, held back by trades[1] (last row 1970-01-01T00:00:50, offset 3)"
    )
    assert list(stream_warnings([found])) == []


def test_a_partition_without_rows_holds_everything_back() -> None:
    found = stream(None, DomainCounters(9, 70 * SECOND, 60 * SECOND, False), DomainCounters(0, None, None, False))
    assert sentence(found) == "trade is not complete to any time, held back by trades[1] (no row yet)"
    (warning,) = stream_warnings([found])
    assert "never had a row" in warning and "tidewire silence trade --upto TIME" in warning


def test_lost_rows_hold_everything_back_until_the_loss_is_accepted() -> None:
    found = stream(20 * SECOND, DomainCounters(9, 70 * SECOND, 20 * SECOND, True))
    assert sentence(found).endswith("held back by trades[0] (rows were lost; last row 1970-01-01T00:01:10, offset 8)")
    (warning,) = stream_warnings([found])
    assert "accepts the loss" in warning and found.holes == 1


def test_a_topic_that_is_compacted_loses_rows() -> None:
    counters = {"trade/0": ShardCounters(epoch=0, shard="trade/0", batch=3, stream=StreamCounters(0, 0, 0, None, []))}
    assert [*stream_warnings(streams_of(CATALOG, counters, {"stock"}))] == []
    (warning,) = stream_warnings(streams_of(CATALOG, counters, {"trades", "stock"}))
    assert "topic `trades` of stream `trade` is compacted" in warning and "cleanup.policy=delete" in warning


def test_a_stream_that_has_told_nothing_is_left_out() -> None:
    assert streams_of(CATALOG, {}) == []
