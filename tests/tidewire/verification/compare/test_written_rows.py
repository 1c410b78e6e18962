"""What stands in the topics of views against a naive engine: right records are clean, and each damage is found."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import deep_examples
from tests.tidewire.verification.simulated_view_topics import OUT_PARTITIONS, SimulatedViewTopics, simulate_view_topics
from tidewire.verification.compare.report import Report
from tidewire.verification.records.journal import Journal, Record, TopicLog
from tidewire.verification.verify import verify

Places = list[Record]


@pytest.mark.deep
@settings(max_examples=deep_examples(80), deadline=None)
@given(st.integers(0, 10**9))
def test_right_records_are_clean(seed: int) -> None:
    engine = simulate_view_topics(seed)
    report = verify(engine.journal())
    assert report.clean and report.unjudged == 0, report.faults
    assert report.right == report.written


def engine_of_lows() -> SimulatedViewTopics:
    """The rows u 1 and v 2, told as they are; then u 0 by 2, v gone by 3, w 5 by 4."""
    engine = SimulatedViewTopics()
    engine.create_written("v")
    publish(engine, 0, "u", 1)
    publish(engine, 1, "v", 2)
    engine.run_batch()
    engine.write("v")
    publish(engine, 2, "u", 0)
    engine.delete_row("p", 1)
    engine.run_batch()
    publish(engine, 3, "w", 5)
    engine.run_batch()
    return engine


def publish(engine: SimulatedViewTopics, id: int, g: str, x: int) -> None:
    engine.publish_row("p", {"id": id, "g": g, "x": x, "y": 1})


def damaged(change: Callable[[TopicLog], None], engine: SimulatedViewTopics | None = None) -> Report:
    journal = (engine or engine_of_lows()).journal()
    change(journal.written["V"])
    return verify(journal)


def place_of(log: TopicLog, key: str, n: int) -> tuple[list[Record], int]:
    """Return where the record of a group stands that is its number `n`."""
    found = [
        (its, i)
        for its in log.records.values()
        for i, one in enumerate(its)
        if json.loads(one.key or b"") == {"g": key}
    ]
    return found[n]


def change(log: TopicLog, key: str, n: int, **members: Any) -> None:
    its, i = place_of(log, key, n)
    its[i] = its[i]._replace(**members)


def remove(log: TopicLog, key: str, n: int) -> None:
    """Take a record out as if it had never been written: those behind it move up."""
    its, i = place_of(log, key, n)
    del its[i]
    renumber(log)


def renumber(log: TopicLog) -> None:
    for partition, its in log.records.items():
        its[:] = [one._replace(offset=offset) for offset, one in enumerate(its)]
        log.end[partition] = len(its)


def insert(log: TopicLog, key: str, n: int, **members: Any) -> None:
    """Write a record again behind itself, with other members."""
    its, i = place_of(log, key, n)
    its.insert(i + 1, its[i]._replace(**members))
    renumber(log)


def head(record: Record, **members: Any) -> bytes:
    return json.dumps(json.loads(record.header or b"") | members).encode()


def number_of(record: Record) -> tuple[int, int]:
    said = json.loads(record.header or b"")
    return said["batch"], said["n"]


def counts(report: Report) -> tuple[int, int, int, int]:
    return report.wrong, report.missed, report.extra, report.gaps


def test_by_hand_all_is_right() -> None:
    report = damaged(lambda log: None)
    assert report.clean and report.right == report.written == 5


def test_another_row_is_wrong() -> None:
    report = damaged(lambda log: change(log, "u", 1, value=b'{"g":"u","low":1,"n":2}'))
    assert counts(report) == (1, 0, 0, 0)
    assert (report.faults[0].expected, report.faults[0].got) == (
        {"g": "u", "low": 0, "n": 2},
        {"g": "u", "low": 1, "n": 2},
    )
    first = damaged(lambda log: change(log, "u", 0, value=b'{"g":"u","low":1,"n":2}'))
    assert counts(first) == (1, 0, 0, 0), "of the rows that were there, too"


def test_a_member_that_is_not_there_is_wrong() -> None:
    assert counts(damaged(lambda log: change(log, "u", 1, value=b'{"g":"u","low":0}'))) == (1, 0, 0, 0)


def test_a_row_instead_of_a_deletion_is_wrong_and_the_other_way_round() -> None:
    assert counts(damaged(lambda log: change(log, "v", 1, value=b'{"g":"v","low":2,"n":1}'))) == (1, 0, 0, 0)
    assert counts(damaged(lambda log: change(log, "w", 0, value=None))) == (1, 0, 0, 0)


@pytest.mark.parametrize(("key", "n", "gaps"), [("u", 0, 1), ("u", 1, 1), ("v", 1, 0)])
def test_what_was_not_written_is_missed(key: str, n: int, gaps: int) -> None:
    """A row that was there, an upsert, a tombstone. The last record of a batch leaves no gap in its numbers."""
    report = damaged(lambda log: remove(log, key, n))
    assert (report.wrong, report.missed, report.extra) == (0, 1, 0) and report.gaps == gaps


def test_nothing_at_all_is_unanswered() -> None:
    def empty(log: TopicLog) -> None:
        log.records = {partition: [] for partition in log.records}
        log.end = dict.fromkeys(log.end, 0)

    report = damaged(empty)
    assert report.unanswered == 1 and not report.clean


def test_a_repeat_with_the_same_bytes_is_allowed() -> None:
    report = damaged(lambda log: insert(log, "u", 1))
    assert report.clean and report.right == report.written == 5


def test_a_repeat_with_other_bytes_is_wrong() -> None:
    assert counts(damaged(lambda log: insert(log, "u", 1, value=b'{"g":"u","low":7,"n":2}'))) == (1, 0, 0, 0)


def test_a_change_that_none_made_is_extra() -> None:
    def more(log: TopicLog) -> None:
        its, i = place_of(log, "w", 0)
        insert(log, "w", 0, header=head(its[i], n=1), value=b'{"g":"w","low":6,"n":1}')

    assert counts(damaged(more)) == (0, 0, 1, 0)


def test_a_change_under_another_publication_is_extra_and_missed() -> None:
    def other(log: TopicLog) -> None:
        its, i = place_of(log, "w", 0)
        at = json.loads(its[i].header or b"")["at"]
        change(log, "w", 0, header=head(its[i], at=at | {"offset": 99}))

    assert counts(damaged(other)) == (0, 1, 1, 0)


def test_a_record_in_another_batch_is_extra_and_missed() -> None:
    def later(log: TopicLog) -> None:
        its, i = place_of(log, "u", 1)
        change(log, "u", 1, header=head(its[i], batch=2, n=1))

    report = damaged(later)
    assert report.missed == 1 and report.extra == 1


def test_of_another_view_or_beyond_what_is_known() -> None:
    def other(log: TopicLog) -> None:
        its, i = place_of(log, "w", 0)
        change(log, "w", 0, header=head(its[i], shard="x/0"))

    assert damaged(other).extra == 1

    def beyond(log: TopicLog) -> None:
        its, i = place_of(log, "w", 0)
        insert(log, "w", 0, header=head(its[i], batch=99))

    report = damaged(beyond)
    assert report.clean and report.unjudged == 1


def test_true_is_not_one() -> None:
    assert damaged(lambda log: change(log, "v", 0, value=b'{"g":"v","low":2,"n":true}')).wrong == 1


def test_the_same_key_in_two_partitions_is_wrong() -> None:
    def moved(log: TopicLog) -> None:
        its, i = place_of(log, "u", 1)
        record = its.pop(i)
        partition = (record.partition + 1) % 3
        there = [*log.records[partition], record._replace(partition=partition)]
        log.records[partition] = sorted(there, key=number_of)
        renumber(log)

    report = damaged(moved)
    assert any("its key stands in partition" in fault.note for fault in report.faults)


def test_what_kafka_removed_is_not_missed() -> None:
    def compacted(log: TopicLog) -> None:
        its, i = place_of(log, "u", 0)
        del its[i]

    report = damaged(compacted)
    assert report.clean and report.unjudged == 1 and report.right == report.written == 4


def with_stray(key: bytes = b'{"g":"old"}', deleted: bool = True) -> SimulatedViewTopics:
    engine, its = SimulatedViewTopics(), crc32(key) % OUT_PARTITIONS
    engine.append_record("V", its, key, b"{}", None)
    engine.create_written("v")
    publish(engine, 0, "u", 1)
    engine.write("v")
    engine.run_batch()
    if not deleted:
        log = engine.logs["V"][its]
        log[:] = [one for one in log if one.value is not None]
        log[:] = [one._replace(offset=offset) for offset, one in enumerate(log)]
    return engine


def test_what_stood_in_the_topic_before_has_to_go() -> None:
    assert verify(with_stray().journal()).clean
    report = verify(with_stray(deleted=False).journal())
    assert (report.missed, report.extra) == (1, 0) and any("since before" in fault.note for fault in report.faults)
    assert verify(with_stray(key=b"\xff", deleted=False).journal()).missed == 0, "no text is nobody's"


def test_another_writer_is_extra() -> None:
    engine = engine_of_lows()
    place = engine.logs["V"]
    partition = next(p for p, its in place.items() if its)
    engine.append_record("V", partition, b'{"g":"z"}', b"{}", None)
    assert verify(engine.journal()).extra == 1


def lost(choose: random.Random, log: TopicLog, its: list[Record], i: int) -> None:
    del its[i]
    renumber(log)


def other_value(choose: random.Random, log: TopicLog, its: list[Record], i: int) -> None:
    value = its[i].value
    row = None if value is None or choose.random() < 0.2 else json.loads(value)
    if row is not None:
        name = choose.choice(list(row))
        row[name] = "other" if row[name] != "other" else None
    elif value is None:
        row = {"g": "back"}
    its[i] = its[i]._replace(value=None if row is None else json.dumps(row).encode())


def invented(choose: random.Random, log: TopicLog, its: list[Record], i: int) -> None:
    n = max(json.loads(one.header or b"")["n"] for all in log.records.values() for one in all)
    its.insert(i + 1, its[i]._replace(header=head(its[i], n=n + 1), value=b'{"x":1}'))
    renumber(log)


DAMAGE = {"lost": lost, "another value": other_value, "invented": invented}


@pytest.mark.deep
@pytest.mark.parametrize("damage", DAMAGE)
def test_each_damage_is_found(damage: str) -> None:
    tried = 0
    for seed in range(400):
        choose, journal = random.Random(seed), simulate_view_topics(seed, 25).journal()
        log = choose.choice(list(journal.written.values()))
        places = [(its, i) for its in log.records.values() for i in range(len(its)) if is_first(its, i)]
        if places:
            DAMAGE[damage](choose, log, *choose.choice(places))
            assert not verify(journal).clean, seed
            tried += 1
        if tried == deep_examples(40):
            return
    raise AssertionError("too few histories")


def is_first(its: list[Record], i: int) -> bool:
    """Whether a record is not said again, and is neither the first of its epoch nor one that only has to be there."""
    told = json.loads(its[i].header or b"")
    same = [one for one in its if one.header == its[i].header]
    return len(same) == 1 and "at" in told


def journal_without_views() -> Journal:
    return SimulatedViewTopics().journal()


def test_nothing_written_is_nothing_to_judge() -> None:
    report = verify(journal_without_views())
    assert report.clean and report.written == 0
