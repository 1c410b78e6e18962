"""Bulk registration over a topic that is a list: refusals, repeats of ids, interruptions, and who never answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from connectors.kafka.record import KafkaRecord
from connectors.record import OutRecord
from connectors.topics import Topics
from tidewire.bulk import bulk_subscription
from tidewire.bulk.bulk_progress import lines_of, summary
from tidewire.bulk.bulk_subscription import BulkSubscription, Tally
from tidewire.bulk.resume_point import ResumePoint
from tidewire.bulk.subscription_file import Entry

TOPICS = Topics()


class Broker:
    """Producer, reader and edge in one: what is sent is acknowledged as `answer` says, one record late."""

    def __init__(self) -> None:
        self.sent: list[tuple[bytes | None, bytes | None]] = []
        self.acks: list[KafkaRecord] = []
        self.flushes = 0
        self.dies_at = -1
        self.admin = self

    def send(self, record: OutRecord, on_offset: Callable[[int, int], None] | None = None) -> None:
        if len(self.sent) == self.dies_at:
            raise KeyboardInterrupt
        self.sent.append((record.key, record.value))
        assert record.topic == TOPICS.subscriptions and record.partition is None
        if on_offset is not None:
            on_offset(0, len(self.sent) - 1)
        id, version = (record.key or b"").decode(), len(self.sent) - 1
        self.ack(id, 10**6, "refused", code="wrong_partition", message="of a record elsewhere")
        self.ack(id, version, "accepted")
        if id.startswith("bad"):
            self.ack(id, version, "refused", code="syntax", message="no")
        elif not id.startswith("slow"):
            self.ack(id, version, "live")

    def ack(self, id: str, version: int, status: str, **more: str) -> None:
        value = json.dumps({"id": id, "version": version, "status": status} | more).encode()
        self.acks.append(KafkaRecord(TOPICS.acks, 0, len(self.acks), 0, id.encode(), value))

    def flush(self) -> None:
        self.flushes += 1

    def end_offsets(self, topic: str) -> dict[int, int]:
        assert topic == TOPICS.acks
        return {0: len(self.acks)}

    def tail(self, topic: str, start: Mapping[int, int], idle: float) -> Iterator[KafkaRecord | None]:
        place = start[0]
        while True:
            yield self.acks[place] if place < len(self.acks) else None
            place = min(place + 1, len(self.acks))


def entries(*ids: str) -> list[Entry]:
    return [Entry(i, id.encode(), b"{}", None if id else "it is none") for i, id in enumerate(ids, 1)]


def run(broker: Broker, point: ResumePoint, found: list[Entry], patience: float = 0.1) -> tuple[Tally, bool]:
    bulk = BulkSubscription(broker, broker, TOPICS, patience=patience)  # type: ignore[arg-type]
    done = bulk.run(found, point, "source")
    return bulk.tally, done


@pytest.fixture
def point(tmp_path: Path) -> ResumePoint:
    return ResumePoint(tmp_path / "resume")


def test_what_cannot_be_taken_stops_nothing(point: ResumePoint) -> None:
    broker = Broker()
    broker.ack("a", -7, "live")
    tally, done = run(broker, point, entries("a", "bad1", "", "b", "bad2"))
    assert done
    assert (tally.sent, tally.live, tally.refused, tally.bad, tally.waiting) == (4, 2, 2, 1, 0)
    assert [(one.id, one.code, one.number) for one in tally.troubles] == [
        ("", "unreadable", 3),
        ("bad1", "syntax", None),
        ("bad2", "syntax", None),
    ]
    assert broker.flushes >= 1
    assert lines_of(tally, True).splitlines()[0].startswith("4 sent, 2 live, 2 refused, 1 left out")
    assert "  entry 3: unreadable: it is none" in lines_of(tally, True)
    assert summary(tally, done, True)["done"] is True


def test_of_an_id_that_comes_twice_the_last_one_is_waited_for(point: ResumePoint) -> None:
    broker = Broker()
    tally, done = run(broker, point, entries("a", "b", "a"))
    assert done and (tally.sent, tally.live) == (3, 2)


def test_who_does_not_answer_is_told(point: ResumePoint) -> None:
    tally, done = run(Broker(), point, entries("a", "slow"))
    assert not done and (tally.live, tally.waiting) == (1, 1)
    assert "1 not answered yet" in lines_of(tally, True)


def test_an_interrupted_run_goes_on_and_waits_for_all(point: ResumePoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk_subscription, "_FLUSH_ENTRIES", 2)
    broker = Broker()
    broker.ack("old", -1, "live")
    found: list[Any] = entries("a", "b", "", "bad", "e", "f")
    broker.dies_at = 4
    with pytest.raises(KeyboardInterrupt):
        run(broker, point, found)
    assert [key for key, _ in broker.sent] == [b"a", b"b", b"bad", b"e"]
    broker.dies_at = -1
    tally, done = run(broker, point, found)
    assert done
    assert [key for key, _ in broker.sent[4:]] == [b"e", b"f"]
    assert (tally.sent, tally.earlier, tally.live, tally.refused, tally.bad) == (5, 4, 4, 1, 1)


def test_nothing_to_send(point: ResumePoint) -> None:
    tally, done = run(Broker(), point, [])
    assert done and (tally.sent, tally.waiting) == (0, 0)


def test_no_more_than_a_window_wait_at_any_time(point: ResumePoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk_subscription, "_MOST_WAITING", 4)
    monkeypatch.setattr(bulk_subscription, "_TICK_ENTRIES", 1)
    broker, most = Broker(), 0

    def tick(tally: Tally) -> None:
        nonlocal most
        most = max(most, tally.waiting)

    bulk = BulkSubscription(broker, broker, TOPICS, tick, 0.1)  # type: ignore[arg-type]
    assert bulk.run(entries(*(f"s{i}" for i in range(30)), "bad"), point, "source")
    assert (bulk.tally.sent, bulk.tally.live, bulk.tally.refused, most) == (31, 30, 1, 4)


def test_where_nobody_answers_the_rest_is_not_sent_before_another_run(
    point: ResumePoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk_subscription, "_MOST_WAITING", 4)
    broker = Broker()
    found = entries(*(f"{'slow' if i < 5 else 's'}{i}" for i in range(20)))
    tally, done = run(broker, point, found)
    assert not done and (tally.sent, tally.waiting) == (4, 4)
    for version in range(4):
        broker.ack(f"slow{version}", version, "live")
    broker.ack("slow4", 4, "live")
    tally, done = run(broker, point, found)
    assert [key for key, _ in broker.sent] == [entry.key for entry in found]
    assert done and (tally.sent, tally.earlier, tally.live) == (20, 4, 20)


def test_one_that_is_interrupted_while_it_waits_counts_each_answer_once(
    point: ResumePoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk_subscription, "_MOST_WAITING", 4)
    broker = Broker()
    found = entries(*(f"s{i}" for i in range(11)))
    for dies_at in (3, 6, 9, -1):
        broker.dies_at = dies_at
        try:
            tally, done = run(broker, point, found)
        except KeyboardInterrupt:
            continue
    assert done and tally.live == 11 and {key for key, _ in broker.sent} == {entry.key for entry in found}


def test_without_waiting_nothing_is_remembered(point: ResumePoint) -> None:
    broker = Broker()
    bulk = BulkSubscription(broker, broker, TOPICS)  # type: ignore[arg-type]
    assert bulk.run(entries("a", "slow", ""), point, "source")
    assert (bulk.tally.sent, bulk.tally.waiting, bulk.tally.bad) == (2, 0, 1)
