"""Deliveries of a life, each kind of fault alone, in one journal by hand; and what cannot be judged."""

from __future__ import annotations

import json

import pytest

from tests.tidewire.verification.simulated_engine import Asked, SimulatedEngine, home
from tests.tidewire.verification.told_journal import (
    body,
    deliveries_of,
    engine_by_hand,
    lose,
    repeat,
    replace,
    verdict,
)
from tidewire.verification.compare.report import rows_of
from tidewire.verification.records.journal import Journal, Record
from tidewire.verification.verify import verify


@pytest.fixture
def engine() -> SimulatedEngine:
    return engine_by_hand()


def test_the_journal_by_hand_is_clean(engine: SimulatedEngine) -> None:
    report = verify(engine.journal())
    assert report.clean
    assert (report.right, report.publications, report.dead_letters, report.batches) == (4, 5, 1, 3)
    assert report.horizon == (3, 2)


def test_a_wrong_value_is_wrong(engine: SimulatedEngine) -> None:
    report = verdict(engine, lambda journal, d: replace(journal, d[2].partition, d[2].offset, new=4))
    assert (report.right, report.wrong, report.missed, report.extra) == (3, 1, 0, 0)
    assert report.faults[0].expected == {"old": 5, "new": 3}


def test_true_is_not_one(engine: SimulatedEngine) -> None:
    engine.publish(1, "u", 1, 1)
    engine.run_batch()
    report = verdict(engine, lambda journal, d: replace(journal, d[-1].partition, d[-1].offset, new=True))
    assert report.wrong == 1


def test_a_wrong_batch_is_wrong(engine: SimulatedEngine) -> None:
    def change(journal: Journal, d: list[Record]) -> None:
        where = body(journal, d[1].partition, d[1].offset)["at"]
        replace(journal, d[1].partition, d[1].offset, at=where | {"batch": 2})

    report = verdict(engine, change)
    assert report.wrong == 1


def test_a_lost_delivery_is_missed_and_a_gap(engine: SimulatedEngine) -> None:
    report = verdict(engine, lambda journal, d: lose(journal, d[2].partition, d[2].offset))
    assert (report.right, report.missed, report.gaps) == (3, 1, 1)


def test_a_lost_snapshot_is_missed(engine: SimulatedEngine) -> None:
    report = verdict(engine, lambda journal, d: lose(journal, d[0].partition, d[0].offset))
    assert (report.right, report.missed) == (3, 1)


def test_a_repeat_is_extra_and_a_duplicate(engine: SimulatedEngine) -> None:
    report = verdict(engine, lambda journal, d: repeat(journal, d[2].partition, d[2].offset))
    assert (report.right, report.extra, report.duplicates, report.gaps) == (4, 1, 1, 0)


def test_a_delivery_that_nothing_caused_is_extra(engine: SimulatedEngine) -> None:
    engine._deliver(
        engine.live["s"],
        "change",
        5,
        (5,),
        (6,),
        {"epoch": 3, "batch": 2, "topic": "points", "partition": 1, "offset": 0},
    )
    report = verify(engine.journal())
    assert (report.right, report.extra) == (4, 1)


def test_a_gap_in_n_alone_is_found(engine: SimulatedEngine) -> None:
    report = verdict(engine, lambda journal, d: replace(journal, d[3].partition, d[3].offset, n=9))
    assert (report.right, report.gaps, report.missed) == (4, 1, 0)


def test_swapped_deliveries_are_out_of_order(engine: SimulatedEngine) -> None:
    def change(journal: Journal, d: list[Record]) -> None:
        records = journal.deliveries.records[d[1].partition]
        one, other = records.index(d[1]), records.index(d[2])
        records[one], records[other] = records[other], records[one]

    report = verdict(engine, change)
    assert report.wrong >= 1 and report.gaps >= 1


def test_a_snapshot_of_another_sql_is_wrong(engine: SimulatedEngine) -> None:
    report = verdict(
        engine, lambda journal, d: replace(journal, d[0].partition, d[0].offset, sql="SELECT MAX(y) FROM p")
    )
    assert report.wrong == 1


def test_nothing_beyond_the_last_batch_is_judged(engine: SimulatedEngine) -> None:
    journal = engine.journal()
    journal.batches.records[0].pop()
    report = verify(journal)
    assert report.clean
    assert (report.right, report.unjudged) == (3, 1)


def test_trimmed_input_is_told_and_judged_without_values(engine: SimulatedEngine) -> None:
    journal = engine.journal()
    log = journal.relations["points"]
    log.records[1], log.begin[1] = log.records[1][1:], 1
    report = verify(journal)
    assert report.limits and "nothing before offset 1" in report.limits[0]
    assert (report.right, report.wrong, report.unjudged) == (0, 0, 4)
    report = verdict(engine, lambda journal, d: None)
    assert report.clean


def test_an_epoch_after_the_trimming_is_judged_again(engine: SimulatedEngine) -> None:
    engine.begin_epoch()
    engine.read = {0: 0, 1: 1}
    engine.run_batch()
    engine.run_batch()
    journal = engine.journal()
    log = journal.relations["points"]
    log.records[1], log.begin[1] = log.records[1][1:], 1
    report = verify(journal)
    assert report.clean and len(report.limits) == 1
    assert (report.right, report.unjudged) == (4, 4)


def test_trimmed_batches_are_judged_from_the_first_that_is_left(engine: SimulatedEngine) -> None:
    journal = engine.journal()
    records = journal.batches.records[0]
    journal.batches.records[0], journal.batches.begin[0] = records[2:], 2
    report = verify(journal)
    assert report.clean and report.limits == ["batches of epoch 3 are kept from 2 on"]
    assert (report.right, report.unjudged) == (1, 3)


def test_trimmed_deliveries_are_judged_from_the_first_progress(engine: SimulatedEngine) -> None:
    journal = engine.journal()
    partition = deliveries_of(engine)[0].partition
    records = journal.deliveries.records[partition]
    first_kept = next(i for i, r in enumerate(records) if i > 0 and records[i - 1].key == b"@progress" and i > 2)
    journal.deliveries.records[partition] = records[first_kept:]
    journal.deliveries.begin[partition] = records[first_kept].offset
    report = verify(journal)
    assert report.clean, report
    assert report.limits


def test_a_template_is_run_with_its_parameters() -> None:
    engine = SimulatedEngine()
    value = {"template": "SELECT MIN(y) FROM p WHERE x BETWEEN ? AND ?", "params": [0, 9]}
    engine.subscribe("s", Asked("MIN", 0, 9))
    log = engine.logs["subscriptions"][0] or engine.logs["subscriptions"][1]
    log[0] = log[0]._replace(value=json.dumps(value).encode())
    engine.publish(1, None, 4, 4)
    engine.run_batch()
    report = verify(engine.journal())
    assert report.clean and report.right == 2


def pushed(engine: SimulatedEngine) -> SimulatedEngine:
    engine.subscribe("p", Asked("MIN", 0, 9, push=True))
    engine.run_batch()
    engine.publish(1, "u", 1, 1)
    engine.run_batch()
    return engine


def test_what_is_only_pushed_is_counted_and_not_missed(engine: SimulatedEngine) -> None:
    report = verify(pushed(engine).journal())
    assert report.clean and (report.right, report.pushed) == (5, 1)
    assert ("not judged: push", 1) in rows_of(report)


def test_a_record_of_what_is_only_pushed_is_extra(engine: SimulatedEngine) -> None:
    told = {"id": "p", "kind": "snapshot", "version": 1, "n": 1, "old": None, "new": 5, "at": {"epoch": 3, "batch": 1}}
    pushed(engine)
    told["version"] = engine.logs["subscriptions"][home("p")][-1].offset
    engine._append("deliveries", home("p"), b"p", json.dumps(told).encode())
    assert verify(engine.journal()).extra == 1


def test_the_ack_of_what_is_only_pushed_is_judged(engine: SimulatedEngine) -> None:
    journal = pushed(engine).journal()
    acks = journal.acks.records[home("p")]
    acks[-1] = acks[-1]._replace(value=(acks[-1].value or b"").replace(b"MIN", b"MAX"))
    assert verify(journal).wrong == 1
    acks.pop()
    assert verify(journal).unanswered == 1


def test_a_replacement_that_is_only_pushed_ends_what_was_written(engine: SimulatedEngine) -> None:
    engine.subscribe("s", Asked("MIN", 0, 9, push=True))
    engine.run_batch()
    engine.publish(1, "u", 1, 1)
    engine.run_batch()
    report = verify(engine.journal())
    assert report.clean and (report.right, report.pushed) == (4, 1)


def test_a_policy_that_only_a_compacted_record_said_gives_no_false_alarm() -> None:
    engine = SimulatedEngine()
    engine.subscribe("s", Asked("MIN", 0, 9, policy="2"))
    engine.run_batch()
    for y in (5, 4, 9):
        engine.publish(1, "u", 1, y)
    engine.run_batch()
    journal = engine.journal()
    snapshot = deliveries_of(engine)[0]
    plain = Asked("MIN", 0, 9).sql
    journal.subscriptions.records[home("s")].clear()
    replace(journal, snapshot.partition, snapshot.offset, sql=plain)
    journal.acks.records[home("s")].clear()
    report = verify(journal)
    assert report.clean and (report.right, report.unjudged) == (0, 3)
    replace(journal, snapshot.partition, snapshot.offset, sql=plain + " NOTIFY MIN CHANGE 2")
    assert verify(journal).right == 3
    last = deliveries_of(engine)[-1]
    replace(journal, last.partition, last.offset, n=9)
    replace(journal, snapshot.partition, snapshot.offset, sql=plain)
    assert verify(journal).gaps == 1, "numbers are judged all the same"


def without_ranges(journal: Journal, batch: int) -> None:
    records = journal.batches.records[0]
    for i, record in enumerate(records):
        told = json.loads(record.value or b"")
        if told["batch"] == batch:
            bare = {name: value for name, value in told.items() if name not in ("start", "end")}
            records[i] = record._replace(value=json.dumps(bare).encode())


def test_batches_without_ranges_are_a_floor(engine: SimulatedEngine) -> None:
    journal = engine.journal()
    without_ranges(journal, 1)
    report = verify(journal)
    assert report.clean and (report.right, report.unjudged) == (1, 3)
    assert report.limits == ["batches of epoch 3 are kept from 2 on"]


def test_the_last_batch_without_a_range_is_not_judged_yet(engine: SimulatedEngine) -> None:
    journal = engine.journal()
    without_ranges(journal, 2)
    report = verify(journal)
    assert report.clean and (report.right, report.unjudged, report.horizon) == (3, 1, (3, 1))
