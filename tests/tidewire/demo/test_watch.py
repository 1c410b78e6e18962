"""What the demo counts of what it is told."""

from __future__ import annotations

import datetime as dt

from operators.control import Progress as EngineProgress
from tests.tidewire.demo.test_streams_seen import CATALOG, counted
from tests.tidewire.demo.watched import changed, watch
from tidewire.client.records import Progress


def test_lag_latency_and_the_newest_answers() -> None:
    seen = watch()
    seen.published("demo.flight", 0, 0)
    seen.published("demo.flight", 0, 1)
    seen.told(0, changed(2))
    seen.told(0, changed(2, id="other"))
    seen.told(0, changed(3, offset=1))
    numbers = seen.seen()
    assert (numbers.published, numbers.deliveries, numbers.changes, numbers.lag) == (2, 3, 3, 2)
    assert 0 <= numbers.latency_p50 < 1_000
    assert [delivery.new for delivery in seen.newest_answers()] == [2, 3]


def test_it_is_complete_when_edges_have_told_the_batch_that_covers_everything() -> None:
    seen = watch()
    seen.published("demo.flight", 0, 0)
    seen.committed(EngineProgress(1, 4, 0, "t", {}, {"demo.flight": {"0": 1}}))
    assert not seen.complete()
    seen.told(0, Progress(1, 4))
    seen.told(1, Progress(1, 3))
    assert not seen.complete()
    seen.told(1, Progress(1, 4))
    assert seen.complete()
    seen.published("demo.flight", 0, 1)
    assert not seen.complete()


def test_what_was_killed_is_counted_and_everything_told_is_passed_on() -> None:
    heard: list[object] = []

    class Claim:
        told = heard.append

    seen = watch(Claim)
    seen.killed()
    seen.told(0, changed(2))
    assert seen.seen().kills == 1 and heard == [changed(2)]
    assert seen.covered == 0
    seen.committed(EngineProgress(1, 4, 0, "t", {}, {"demo.flight": {"0": 3, "1": 1}}))
    assert seen.covered == 4


def test_latency_is_that_of_the_record_of_the_right_topic() -> None:
    seen = watch()
    seen.published("demo.weather", 0, 0)
    seen.told(0, changed(2))
    assert seen.seen().latency_p50 == 0.0
    seen.published("demo.flight", 0, 0)
    seen.told(0, changed(3))
    assert seen.seen().latency_p50 > 0.0


def test_a_silence_is_over_with_when_edges_have_told_the_batch_in_which_it_counted() -> None:
    seen, relation, upto = watch(catalog=CATALOG), CATALOG.relations["s"], dt.datetime(1970, 1, 1, 0, 0, 40)
    seen.told(0, Progress(1, 3))
    seen.counted(counted(4, 40, 39))
    assert not seen.silent(relation, upto)
    seen.counted(counted(5, 40, 40))
    assert not seen.silent(relation, upto)
    seen.told(0, Progress(1, 5))
    assert seen.silent(relation, upto)
