"""Partitions of streams in which nothing comes are said to be silent: after `idle`, up to `idle` ago, and again."""

from __future__ import annotations

from catalog.schema.relation import Column, Relation
from catalog.schema.stream import SECOND, Stream
from catalog.types.column_type import ColumnType, Kind
from operators.control import Silence
from streaming.engine.idle_partitions import IdlePartitions

NOON = 1_800_000_000


class Ends:
    """A cluster of which only the ends of partitions are asked."""

    def __init__(self) -> None:
        self.of: dict[str, dict[int, int]] = {"t": {0: 5, 1: 0}}

    def ends(self, topic: str) -> dict[int, int]:
        return self.of[topic]


class Times:
    """Seconds that a test lets pass."""

    def __init__(self) -> None:
        self.passed = 0.0

    def clock(self) -> float:
        return self.passed

    def now(self) -> float:
        return NOON + self.passed


def stream(idle: int | None) -> Relation:
    columns = (Column("ts", ColumnType(Kind.TIMESTAMP)),)
    return Relation("s", columns, (), "t", born=3, stream=Stream("ts", 10 * SECOND, idle=idle))


def watched(idle: int | None = 60 * SECOND) -> tuple[IdlePartitions, Ends, Times, list[Relation]]:
    ends, times = Ends(), Times()
    return IdlePartitions(ends, times.clock, times.now), ends, times, [stream(idle)]  # type: ignore[arg-type]


def at(times: Times, seconds: float) -> Times:
    times.passed = seconds
    return times


def silence(partition: int, after: int, seconds: float) -> Silence:
    return Silence("s", partition, after, int((NOON + seconds - 60) * SECOND), epoch=7, born=3, idle=True)


ALL = {"t": {"0": 5, "1": 0}}


def test_what_has_not_moved_for_long_is_silent_up_to_as_long_ago() -> None:
    idle, _, times, streams = watched()
    assert list(idle.silent(streams, ALL, 7)) == []
    at(times, 59)
    assert list(idle.silent(streams, ALL, 7)) == []
    at(times, 60)
    assert list(idle.silent(streams, ALL, 7)) == [silence(0, 5, 60), silence(1, 0, 60)]


def test_it_is_said_again_as_time_goes_on_but_not_with_every_look() -> None:
    idle, _, times, streams = watched()
    for seconds in (0, 60):
        at(times, seconds)
        list(idle.silent(streams, ALL, 7))
    at(times, 65)
    assert list(idle.silent(streams, ALL, 7)) == []
    at(times, 66)
    assert list(idle.silent(streams, ALL, 7)) == [silence(0, 5, 66), silence(1, 0, 66)]


def test_a_partition_that_moves_is_not_silent() -> None:
    idle, ends, times, streams = watched()
    list(idle.silent(streams, ALL, 7))
    at(times, 60)
    ends.of["t"] = {0: 6, 1: 0}
    assert list(idle.silent(streams, ALL, 7)) == [silence(1, 0, 60)]


def test_what_no_committed_batch_has_read_is_not_said_to_be_silent() -> None:
    idle, _, times, streams = watched()
    list(idle.silent(streams, {}, 7))
    at(times, 61)
    assert list(idle.silent(streams, {"t": {"0": 4}}, 7)) == [silence(1, 0, 61)]
    assert list(idle.silent(streams, ALL, 7)) == [silence(0, 5, 61)]


def test_a_stream_without_the_option_never_is() -> None:
    idle, _, times, streams = watched(None)
    for seconds in (0, 1000):
        at(times, seconds)
        assert list(idle.silent(streams, ALL, 7)) == []
