"""Ends that nobody asked for, each with the right last value."""

from __future__ import annotations

import pytest

from tests.tidewire.verification.simulated_engine import Asked, SimulatedEngine, home
from tests.tidewire.verification.told_journal import (
    engine_by_hand,
)
from tidewire.verification.verify import verify


@pytest.fixture
def engine() -> SimulatedEngine:
    return engine_by_hand()


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
