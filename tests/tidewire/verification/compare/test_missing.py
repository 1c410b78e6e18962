"""What is due and has not come."""

from __future__ import annotations

import pytest

from tests.tidewire.verification.simulated_engine import Asked, SimulatedEngine
from tests.tidewire.verification.told_journal import (
    deliveries_of,
    engine_by_hand,
    lose,
    verdict,
)
from tidewire.verification.verify import verify


@pytest.fixture
def engine() -> SimulatedEngine:
    return engine_by_hand()


def test_a_version_that_was_replaced_need_not_have_been_resynced() -> None:
    engine = SimulatedEngine()
    engine.subscribe("s", Asked())
    engine.run_batch()
    engine.begin_epoch()
    engine.subscribe("s", Asked("MAX"))
    engine.run_batch()
    report = verify(engine.journal())
    assert report.clean and report.right == 2


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
