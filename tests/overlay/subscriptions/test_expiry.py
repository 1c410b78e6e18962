"""TTLs run on the time of progress records, from the first one after a subscription was taken."""

from __future__ import annotations

import pytest

from operators.control import Progress
from overlay.subscriptions.expiry import seconds
from tests.overlay.edge_bench import ASK, Bench


@pytest.mark.parametrize(
    ("time", "at"),
    [("1970-01-01T00:01:00", 60), ("1970-01-01T00:01:00.999Z", 60), ("1970-01-01T01:00:00+01:00", 0), ("noon", None)],
)
def test_times_of_progress(time: str, at: int | None) -> None:
    assert seconds(time) == at


def test_a_subscription_ends_when_its_time_is_over() -> None:
    bench = Bench()
    bench.ask(0, "a", ASK + " TTL 5 SECONDS")
    bench.ask(1, "b")
    bench.take()
    bench.snapshot(0, {0: 1025, 1: 1025})
    for batch, second in enumerate(["10", "12", "14.999", "15", "16"]):
        bench.control(Progress(5, batch, 0, f"2026-03-01T00:00:{second}Z"))
        bench.again() if bench.take() else None
    assert bench.edge.counters.expired == 1 and bench.edge.find(b"a") is None
    assert bench.edge.counts == {"live": 1, "accepted": 0, "held": 0}


def test_the_end_says_expired_and_stands_before_the_progress() -> None:
    bench = Bench()
    bench.live("a", sql=ASK + " TTL 1 SECONDS")
    bench.control(Progress(5, 0, 0, "2026-03-01T00:00:00Z"))
    bench.take()
    bench.edge = bench.again()
    bench.control(Progress(5, 0, 0, "2026-03-01T00:00:01Z"))
    ended, progress = bench.lines()
    assert (ended["kind"], ended["reason"], ended["at"]) == ("ended", "expired", {"epoch": 5, "batch": 0})
    assert progress["kind"] == "progress"


def test_a_replacement_without_a_ttl_lives_on() -> None:
    bench = Bench()
    bench.live("a", sql=ASK + " TTL 1 SECONDS")
    bench.control(Progress(5, 0, 0, "2026-03-01T00:00:00Z"))
    bench.ask(7, "a")
    bench.take()
    bench.snapshot(1, {7: 5})
    bench.control(Progress(5, 1, 0, "2026-03-01T00:00:00.5Z"))
    bench.control(Progress(5, 1, 0, "2026-03-01T00:10:00Z"))
    assert bench.edge.counters.expired == 0
