"""Events are published as their pace says, and what is written is heard of while nothing is sent."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from connectors.record import OutRecord
from operators.control import Progress as EngineProgress
from tests.tidewire.demo.watched import watch
from tidewire.demo.pace import FullSpeed
from tidewire.demo.publisher import Publisher
from tidewire.demo.story import Event

CATALOG = apply_ddl(Catalog(), "CREATE TABLE t (id INTEGER PRIMARY KEY, x INTEGER)", 0)
EVENTS = [Event(0, "t", {"id": id}, {"id": id, "x": 7}) for id in range(4)] + [Event(1, "t", {"id": 0}, None)]


class InMemory:
    """A producer whose records are acknowledged when it is served or flushed, as Kafka's are."""

    def __init__(self) -> None:
        self.sent: list[OutRecord] = []
        self._waiting: list[Callable[[int, int], None]] = []
        self.failure: Exception | None = None

    def send(self, record: OutRecord, on_offset: Callable[[int, int], None]) -> None:
        self.sent.append(record)
        self._waiting.append(on_offset)

    def serve(self, seconds: float) -> None:
        time.sleep(min(seconds, 0.001))
        self.flush()

    def flush(self) -> None:
        if self.failure is not None:
            raise self.failure
        for on_offset in self._waiting:
            on_offset(0, len(self.sent) - 1)
        self._waiting.clear()


def publisher(pace: Any, producer: Any, seen: Any) -> Publisher:
    return Publisher(CATALOG, EVENTS, pace, seen, producer)


def test_rows_and_tombstones_go_out_in_order_and_no_more_than_the_pace_lets() -> None:
    seen, producer, clocks, published = watch(None, "t"), InMemory(), list[str](), list[int]()

    def show(clock: str) -> None:
        clocks.append(clock)
        published.append(seen.seen().published)
        seen.committed(EngineProgress(1, 0, 0, "t", {}, {"t": {"0": len(producer.sent)}}))

    publisher(FullSpeed(5, 2), producer, seen).run(show)
    assert [record.value for record in producer.sent] == [*(b'{"id":%d,"x":7}' % id for id in range(4)), None]
    assert clocks[0] == "2 of 5" and published[0] == 2, "two are written, and known to be, before any stands in a batch"
    assert seen.seen().published == 5


def test_what_goes_wrong_is_raised_by_run_and_who_is_stopped_publishes_no_more() -> None:
    producer = InMemory()
    producer.failure = OSError("no broker")
    with pytest.raises(OSError, match="no broker"):
        publisher(FullSpeed(5, 9), producer, watch()).run(lambda _: None)
    producer = InMemory()

    def stop(_: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        publisher(FullSpeed(5, 2), producer, watch()).run(stop)
    assert len(producer.sent) == 2


def test_rows_of_a_stream_have_no_key_and_go_to_the_partition_that_they_come_from() -> None:
    ddl = "CREATE STREAM s (x INTEGER, ts TIMESTAMP) WITH ('event_time'='ts', 'lateness'='10 s')"
    events = [Event(0, "s", {}, {"x": x, "ts": "2013-07-08T00:00:00"}, x) for x in (2, 0)]
    producer = InMemory()
    Publisher(apply_ddl(Catalog(), ddl, 0), events, FullSpeed(2, 9), watch(), producer).run(lambda _: None)  # type: ignore[arg-type]
    assert [(record.partition, record.key) for record in producer.sent] == [(2, None), (0, None)]
    assert producer.sent[0].value == b'{"x":2,"ts":"2013-07-08T00:00:00"}'
