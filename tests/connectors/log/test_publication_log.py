from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from connectors.log import publication_log
from connectors.log.publication_log import Chunk, NoLog, PublicationLog, TooOld
from tests.connectors.small_log import Published, SmallLog, small_log


def row(offset: int, micros: int | None = None, partition: int = 0, topic: str = "stock", **more: str) -> Published:
    value = f"{topic}/{partition}/{offset}".encode()
    return Published(topic, partition, offset, b'"k"', value, offset if micros is None else micros, **more)


def listed(chunks: list[Chunk]) -> list[tuple[int, str, int, int]]:
    return [
        (int(step), one["topic"], one["partition"], one["offset"])
        for chunk in chunks
        for step, one in zip(chunk.step, chunk.table.to_pylist(), strict=True)
    ]


@pytest.fixture
def log(tmp_path: Path) -> SmallLog:
    return small_log(tmp_path)


def test_versions_in_order_and_within_one_by_time(log: SmallLog) -> None:
    log.commit([row(0, 50), row(1, 10), row(2, 60), row(0, 55, 1), row(0, 50, 0, "bond")])
    log.commit([row(3, 5), row(1, 4, 1)])
    opened = PublicationLog(log.uri)
    found = listed(list(opened.read({}, opened.newest.cut)))
    assert found == [
        (0, "bond", 0, 0), (0, "stock", 0, 0), (0, "stock", 0, 1), (0, "stock", 1, 0), (0, "stock", 0, 2),
        (1, "stock", 1, 1), (1, "stock", 0, 3),
    ]  # fmt: skip
    assert listed(list(opened.read(opened.at_version(0), opened.newest.cut, ["stock"]))) == [
        (0, "stock", 1, 1), (0, "stock", 0, 3),
    ]  # fmt: skip
    assert (opened.size.rows, opened.size.files, opened.earliest.version) == (7, 2, 0)


def test_chunks_end_between_steps(log: SmallLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publication_log, "CHUNK", 4)
    for first in range(0, 12, 3):
        log.commit([row(first + i) for i in range(3)])
    opened = PublicationLog(log.uri)
    chunks = list(opened.read({}, opened.newest.cut))
    assert [len(chunk) for chunk in chunks] == [3, 3, 3, 3]
    assert [one[0] for one in listed(chunks)] == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    monkeypatch.setattr(publication_log, "CHUNK", 7)
    assert [len(chunk) for chunk in opened.read({}, opened.newest.cut)] == [6, 6]


def test_records_of_a_topic(log: SmallLog) -> None:
    log.commit([row(0), Published("stock", 0, 1, None, None, 7_000_001), row(0, topic="bond")])
    opened = PublicationLog(log.uri)
    [chunk] = opened.read({}, opened.newest.cut)
    records = chunk.records("stock")
    assert list(records.keys) == [b'"k"', None]
    assert list(records.values) == [b"stock/0/0", None]
    assert records.timestamp.tolist() == [0, 7_000_001]
    assert len(chunk.records("bond", [0])) == 1


def test_a_topic_that_was_created_again(log: SmallLog) -> None:
    log.commit([row(0), row(1), row(2)])
    log.commit([row(0, 9, topic_id="new")])
    log.commit([row(1, 10, topic_id="new")])
    opened = PublicationLog(log.uri)
    assert [one[3] for one in listed(list(opened.read({}, opened.newest.cut)))] == [0, 1, 2, 0, 1]
    assert [one[3] for one in listed(list(opened.read(opened.at_version(1), opened.newest.cut)))] == [1]


def test_a_moment_cuts_each_partition_at_the_first_later_record(log: SmallLog) -> None:
    log.commit([row(0, 1_000_000), row(1, 3_000_000), row(2, 2_000_000), row(0, 2_000_000, 1)])
    log.commit([row(3, 4_000_000)])
    opened = PublicationLog(log.uri)
    cut = opened.at_time(dt.datetime.fromtimestamp(2, dt.UTC))
    assert cut["stock"].ends == {0: 1, 1: 1}
    assert opened.at_time(dt.datetime.fromtimestamp(2, dt.UTC), inclusive=False)["stock"].ends == {0: 1, 1: 0}
    assert len(listed(list(opened.read(cut, opened.newest.cut)))) == 3
    assert opened.at_time(dt.datetime.fromtimestamp(99, dt.UTC)) == opened.newest.cut


def test_what_is_too_old_or_not_yet(log: SmallLog) -> None:
    for number in range(4):
        log.commit([row(number, number * 1_000_000)])
    opened = PublicationLog(log.uri)
    assert opened.before_version(0) == {}
    assert opened.at_version(2)["stock"].ends == {0: 3}
    with pytest.raises(TooOld, match="no version 9 yet: the newest of the log is 3"):
        opened.at_version(9)
    opened.versions = opened.versions[1:]
    assert opened.earliest.version == 2
    with pytest.raises(TooOld, match="version 0 is too old: the earliest version that can be replayed is 2"):
        opened.at_version(0)
    with pytest.raises(TooOld, match="version 1 is too old"):
        opened.before_version(1)
    with pytest.raises(TooOld, match="is too old"):
        opened.at_time(dt.datetime.fromtimestamp(0, dt.UTC))
    assert opened.before_version(2)["stock"].ends == {0: 2}


def test_there_is_no_log(tmp_path: Path) -> None:
    with pytest.raises(NoLog, match="there is no log at"):
        PublicationLog(str(tmp_path / "nothing"))
