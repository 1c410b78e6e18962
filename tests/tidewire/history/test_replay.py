from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.log.publication_log import PublicationLog
from connectors.record import OutRecord
from tests.connectors.small_log import Published, SmallLog, small_log
from tests.effort import examples
from tidewire.history.replay import Pace, Place, Replayed, replay


class Killed(Exception):
    """Stands for SIGKILL."""


class MemoryTarget:
    """Topics as lists; dies when told to. Not every record that was sent is written by then."""

    def __init__(self) -> None:
        self.logs: dict[Place, list[tuple[bytes | None, int]]] = {}
        self.order: list[bytes | None] = []
        self.dies_after: int | None = None
        self.loses: Place | None = None
        self._lost = False

    def written(self) -> dict[Place, int]:
        self._lost = False
        return {place: len(log) for place, log in self.logs.items()}

    def send(self, record: OutRecord, timestamp: int) -> None:
        if self.dies_after is not None:
            if self.dies_after == 0:
                raise Killed
            self.dies_after -= 1
        place = (record.topic, record.partition or 0)
        self._lost = self._lost or (self.dies_after is not None and place == self.loses)
        if not (self._lost and place == self.loses):
            self.logs.setdefault(place, []).append((record.value, timestamp))
            self.order.append(record.value)

    def flush(self) -> None:
        pass


def row(topic: str, partition: int, offset: int, micros: int) -> Published:
    return Published(topic, partition, offset, None, f"{topic}{partition}/{offset}".encode(), micros)


def filled(folder: Path) -> SmallLog:
    log = small_log(folder)
    for version in range(3):
        for_each = [(topic, partition, i) for topic in ("bond", "stock") for partition in range(2) for i in range(4)]
        log.commit([row(topic, partition, 4 * version + i, i * 1000) for topic, partition, i in for_each])
    return log


@pytest.fixture(scope="module")
def module_log(tmp_path_factory: pytest.TempPathFactory) -> PublicationLog:
    return PublicationLog(filled(tmp_path_factory.mktemp("log")).uri)


def test_everything_in_order_with_its_time(tmp_path: Path) -> None:
    log = PublicationLog(filled(tmp_path).uri)
    target = MemoryTarget()
    done = replay(log, {}, log.newest.cut, target)
    assert (done.total, done.sent, done.earlier) == (48, 48, 0)
    assert target.logs["stock", 1] == [(f"stock1/{i}".encode(), i % 4) for i in range(12)]
    assert target.order[:5] == [b"bond0/0", b"bond1/0", b"stock0/0", b"stock1/0", b"bond0/1"]


@settings(max_examples=examples(25), deadline=None)
@given(st.integers(0, 48), st.integers(0, 48), st.sampled_from([None, ("bond", 1), ("stock", 0)]))
def test_killed_twice_each_record_is_there_once(
    module_log: PublicationLog, first: int, second: int, loses: Place | None
) -> None:
    log = module_log
    target = MemoryTarget()
    target.loses = loses
    for dies_after in (first, second):
        target.dies_after = dies_after
        try:
            replay(log, log.at_version(0), log.newest.cut, target)
        except Killed:
            continue
    target.dies_after = None
    done = replay(log, log.at_version(0), log.newest.cut, target)
    assert done.sent + done.earlier == done.total == 32
    for (topic, partition), records in target.logs.items():
        assert [value for value, _ in records] == [f"{topic}{partition}/{i}".encode() for i in range(4, 12)]


def test_pace_follows_the_records_times() -> None:
    now, slept = [100.0], list[float]()

    def sleep(seconds: float) -> None:
        slept.append(round(seconds, 3))
        now[0] += seconds

    pace = Pace(10.0, lambda: now[0], sleep)
    assert [pace.wait(micros) for micros in (5_000_000, 6_000_000, 5_500_000, 7_000_000)] == [False, True, False, True]
    assert slept == [0.1, 0.1]
    assert not Pace(None).wait(10**15)


def test_tick_tells_the_end(tmp_path: Path) -> None:
    log = PublicationLog(filled(tmp_path).uri)
    told: list[Replayed] = []
    replay(log, {}, log.newest.cut, MemoryTarget(), tick=lambda done: told.append(done))
    assert told[-1].sent == 48
