"""Verification against a naive engine: its journals are clean, and every fault put into one is found."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import deep_examples, examples
from tests.tidewire.verification.asked_rows import random_rows
from tests.tidewire.verification.simulated_engine import Asked, SimulatedEngine, home
from tidewire.verification.compare.report import Report, rows_of
from tidewire.verification.records.journal import Journal, Record
from tidewire.verification.records.sample import Sample
from tidewire.verification.verify import verify

IDS = ["a", "b", "c", "d"]


def simulate(seed: int, steps: int = 60) -> SimulatedEngine:
    """Run a random history; at its end everything is read, answered and told."""
    choose = random.Random(seed)
    engine = SimulatedEngine()
    for _ in range(steps):
        action = choose.random()
        if action < 0.5:
            values = (choose.choice(["u", "v", None]), choose.choice([None, 0, 1, 2]), choose.choice([None, 1, 2, 3]))
            engine.publish(choose.randrange(5), *values, back=choose.choice([0, 0, 5]))
        elif action < 0.62:
            engine.delete(choose.randrange(5))
        elif action < 0.66:
            engine.publish_garbage(choose.randrange(5), back=-3)
        elif action < 0.71:
            engine.subscribe(choose.choice(IDS), random_rows(choose))
        elif action < 0.76:
            aggregate = choose.choice(["MIN", "MAX", "COUNT", "SUM", "AVG", "DISTINCT", "COUNT,AVG,MAX"])
            policies = (
                ["", "", "LATEST"] if aggregate in ("DISTINCT", "COUNT,AVG,MAX") else ["", "", "LATEST", "0", "2"]
            )
            asked = Asked(
                aggregate,
                choose.randrange(3),
                choose.randrange(3),
                choose.choice([None, "u"]),
                choose.choice(policies),
                choose.random() < 0.2,
            )
            engine.subscribe(choose.choice(IDS), asked)
        elif action < 0.8:
            engine.unsubscribe(choose.choice(IDS))
        elif action < 0.83:
            engine.begin_epoch()
        elif action < 0.87:
            engine.idle()
        else:
            engine.run_batch({0: choose.randrange(6), 1: choose.randrange(6)})
    engine.run_batch()
    engine.run_batch()
    return engine


@pytest.mark.deep
@settings(max_examples=deep_examples(40), deadline=None)
@given(st.integers(0, 10**9))
def test_a_right_engine_is_clean(seed: int) -> None:
    journal = simulate(seed).journal()
    report = verify(journal)
    assert report.clean, report
    deliveries = [r for r in journal.deliveries.all() if r.key != b"@progress"]
    assert report.right == len(deliveries) == report.deliveries
    assert report.unjudged == 0 and not report.limits


@pytest.mark.deep
@settings(max_examples=examples(40), deadline=None)  # each draws one of the faults
@given(st.integers(0, 10**9), st.data())
def test_a_delivery_that_is_changed_lost_or_repeated_is_found(seed: int, data: st.DataObject) -> None:
    engine = simulate(seed, 40)
    journal = engine.journal()
    places = [(r.partition, r.offset) for r in journal.deliveries.all() if r.key != b"@progress"]
    if not places:
        return
    partition, offset = data.draw(st.sampled_from(places))
    fault = data.draw(st.sampled_from(list(FAULTS)))
    told = body(journal, partition, offset)
    live = engine.live.get(told["id"])
    passed = told["at"]["epoch"] < engine.epoch or live is None or live.version != told["version"]
    if fault == "lost" and told["kind"] == "resync" and passed:
        return  # as `due` says: whether it was due cannot be told from outside
    FAULTS[fault](journal, partition, offset)
    assert not verify(journal).clean


def body(journal: Journal, partition: int, offset: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(at(journal, partition, offset).value or b"")
    return found


def at(journal: Journal, partition: int, offset: int) -> Record:
    return next(r for r in journal.deliveries.records[partition] if r.offset == offset)


def replace(journal: Journal, partition: int, offset: int, **changes: Any) -> None:
    record = at(journal, partition, offset)
    value = json.dumps(json.loads(record.value or b"") | changes).encode()
    records = journal.deliveries.records[partition]
    records[records.index(record)] = record._replace(value=value)


def change_new(journal: Journal, partition: int, offset: int) -> None:
    told = body(journal, partition, offset)
    if "added" in told:
        replace(journal, partition, offset, added=[*told["added"], 17])
    elif isinstance(told["new"], list):
        replace(journal, partition, offset, new=told["new"][:-1])
    elif isinstance(told["new"], str):
        replace(journal, partition, offset, new=told["new"] + "1")
    else:
        replace(journal, partition, offset, new=17 if told["new"] is None else told["new"] + 1)


def change_old(journal: Journal, partition: int, offset: int) -> None:
    told = body(journal, partition, offset)
    if "added" in told:
        replace(journal, partition, offset, removed=[17, *told["removed"]])
    else:
        replace(journal, partition, offset, old=17 if told["old"] is None else None)


def change_changes(journal: Journal, partition: int, offset: int) -> None:
    replace(journal, partition, offset, changes=body(journal, partition, offset).get("changes", 1) + 1)


def change_n(journal: Journal, partition: int, offset: int) -> None:
    replace(journal, partition, offset, n=body(journal, partition, offset)["n"] + 1)


def lose(journal: Journal, partition: int, offset: int) -> None:
    journal.deliveries.records[partition].remove(at(journal, partition, offset))


def repeat(journal: Journal, partition: int, offset: int) -> None:
    records = journal.deliveries.records[partition]
    records.insert(records.index(at(journal, partition, offset)), at(journal, partition, offset))


FAULTS: dict[str, Callable[[Journal, int, int], None]] = {
    "new": change_new,
    "old": change_old,
    "n": change_n,
    "changes": change_changes,
    "lost": lose,
    "repeated": repeat,
}


def test_a_version_that_was_replaced_need_not_have_been_resynced() -> None:
    engine = SimulatedEngine()
    engine.subscribe("s", Asked())
    engine.run_batch()
    engine.begin_epoch()
    engine.subscribe("s", Asked("MAX"))
    engine.run_batch()
    report = verify(engine.journal())
    assert report.clean and report.right == 2


# one journal by hand, each kind of fault alone ---------------------------------------------------------------------


@pytest.fixture
def engine() -> SimulatedEngine:
    """`s` asks MIN(y) of x in 0..9: snapshot null, then 5, 3, 5 by records 0, 2, 4 of partition 1 and its like."""
    engine = SimulatedEngine()
    engine.subscribe("s", Asked("MIN", 0, 9))
    engine.run_batch()
    engine.publish(1, "u", 1, 5)
    engine.publish(2, "u", 2, 7)
    engine.publish(3, "u", 3, 3)
    engine.run_batch()
    engine.delete(3)
    engine.publish_garbage(1)
    engine.run_batch()
    return engine


def deliveries_of(engine: SimulatedEngine) -> list[Record]:
    return [r for logs in engine.logs["deliveries"].values() for r in logs if r.key != b"@progress"]


def verdict(engine: SimulatedEngine, change: Callable[[Journal, list[Record]], None]) -> Report:
    journal = engine.journal()
    change(journal, deliveries_of(engine))
    return verify(journal)


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


def test_a_subscription_without_answer_is_unanswered(engine: SimulatedEngine) -> None:
    engine.subscribe("t", Asked())
    report = verify(engine.journal())
    assert (report.unanswered, report.missed, report.clean) == (1, 0, False)


def test_an_unsubscription_without_end_is_unanswered(engine: SimulatedEngine) -> None:
    engine.live.pop("s")
    engine.unsubscribe("s")
    assert verify(engine.journal()).unanswered == 1


def test_an_end_is_due_though_a_version_that_never_began_stood_between(engine: SimulatedEngine) -> None:
    engine.subscribe("s", Asked("MAX"))
    engine.unsubscribe("s")
    ended = deliveries_of(engine)[-1]
    engine.subscribe("s", Asked())
    engine.run_batch()
    assert verify(engine.journal()).clean
    report = verdict(engine, lambda journal, d: lose(journal, ended.partition, ended.offset))
    assert (report.unanswered, report.missed) == (1, 0)


def test_a_missing_resync_is_unanswered(engine: SimulatedEngine) -> None:
    engine.begin_epoch()
    engine.resyncing = {}
    engine.run_batch()
    assert verify(engine.journal()).unanswered == 1


def test_an_edge_that_is_behind_is_named(engine: SimulatedEngine) -> None:
    journal = engine.journal()
    told = [r for r in journal.deliveries.records[0] if r.key == b"@progress"]
    journal.deliveries.records[0].remove(told[-1])
    report = verify(journal)
    assert report.behind == [0] and not report.clean


def test_nothing_beyond_the_last_batch_is_judged(engine: SimulatedEngine) -> None:
    journal = engine.journal()
    journal.batches.records[0].pop()
    report = verify(journal)
    assert report.clean
    assert (report.right, report.unjudged) == (3, 1)


def test_records_wrongly_refused_or_taken_are_found(engine: SimulatedEngine) -> None:
    engine._append("dead-letters", 0, None, json.dumps({"topic": "points", "partition": 0, "offset": 0}).encode())
    report = verify(engine.journal())
    assert (report.refused_wrongly, report.taken_wrongly) == (1, 0)
    engine.logs["dead-letters"].clear()
    report = verify(engine.journal())
    assert (report.refused_wrongly, report.taken_wrongly) == (0, 1)


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


def test_an_empty_journal_is_clean() -> None:
    assert verify(SimulatedEngine().journal()).clean


# ends that nobody asked for, each with the right last value -----------------------------------------------------------


def forge_end(engine: SimulatedEngine, reason: str) -> None:
    """End the live `s`, as the last thing that happens."""
    live = engine.live.pop("s")
    at = {"epoch": engine._last_epoch, "batch": engine._last_batch}
    engine._deliver(live, "ended", live.n + 1, live.value, None, at, reason=reason)


@pytest.mark.parametrize("reason", ["unsubscribed", "table dropped", "quota", "expired", "because"])
def test_an_end_that_nobody_asked_for_is_wrong(engine: SimulatedEngine, reason: str) -> None:
    forge_end(engine, reason)
    report = verify(engine.journal())
    assert (report.right, report.wrong, report.missed, report.extra) == (4, 1, 0, 0)
    assert "an end" in report.faults[0].note


def test_an_end_is_not_that_of_a_later_versions_tombstone(engine: SimulatedEngine) -> None:
    forge_end(engine, "unsubscribed")
    engine.subscribe("s", Asked("MAX"))
    engine.run_batch()
    engine.unsubscribe("s")
    assert verify(engine.journal()).wrong == 1


def test_a_tombstone_that_came_while_verify_was_reading_counts(engine: SimulatedEngine) -> None:
    engine.unsubscribe("s")
    journal = engine.journal()
    partition = home("s")
    late = journal.subscriptions.records[partition].pop()
    journal.subscriptions.end[partition] -= 1
    assert late.value is None and verify(journal).wrong == 1
    journal.later_tombstones = [late]
    assert verify(journal).clean


def test_a_tombstone_that_may_be_compacted_away_is_not_demanded(engine: SimulatedEngine) -> None:
    engine.unsubscribe("s")
    engine.subscribe("s", Asked("MAX"))
    engine.run_batch()
    journal = engine.journal()
    records = journal.subscriptions.records[home("s")]
    records.remove(next(record for record in records if record.value is None))
    report = verify(journal)
    assert report.clean and report.unjudged == 1


def test_the_end_of_a_dropped_table_is_due(engine: SimulatedEngine) -> None:
    forge_end(engine, "table dropped")
    engine._append("catalog", 0, None, b"DROP TABLE p")
    report = verify(engine.journal())
    assert report.clean and report.right == 5


# what is told over HTTP alone ----------------------------------------------------------------------------------------


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


@pytest.mark.parametrize(("replaced_at", "unanswered"), [(30, 0), (59, 0), (60, 1), (61, 1)])
def test_no_end_by_ttl_is_due_of_what_a_replacement_ended_that_is_only_pushed(
    replaced_at: int, unanswered: int
) -> None:
    engine = SimulatedEngine()

    def batch_at(second: int) -> None:
        engine.time = f"2026-03-01T00:{second // 60:02}:{second % 60:02}Z"
        engine.run_batch()

    batch_at(0)
    engine.subscribe("s", Asked("MIN", 0, 9, ttl=60))
    batch_at(0)
    batch_at(replaced_at)
    engine.subscribe("s", Asked("MIN", 0, 9, push=True))
    for second in (100, 200):
        batch_at(second)
    assert verify(engine.journal()).unanswered == unanswered


# what cannot be known is not judged -----------------------------------------------------------------------------------


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


@pytest.mark.deep
@settings(max_examples=deep_examples(20), deadline=None)
@given(st.integers(0, 10**9), st.sampled_from([0.0, 0.3, 0.6, 1.0]))
def test_a_sample_is_judged_as_in_the_whole_and_the_rest_is_not(seed: int, share: float) -> None:
    whole, sample = simulate(seed, 40).journal(), Sample(share)
    part = simulate(seed, 40).journal()
    part.sample = sample
    for partition, records in part.deliveries.records.items():
        part.deliveries.records[partition] = [record for record in records if sample.takes(record.key)]
    full, report = verify(whole), verify(part)
    assert report.clean and full.clean
    told = [r for r in whole.deliveries.all() if r.key is not None and r.key != b"@progress"]
    assert report.right == sum(sample.has(r.key) for r in told if r.key is not None)
    assert report.publications == full.publications
    assert bool(report.limits) == (report.subscriptions < full.subscriptions)
