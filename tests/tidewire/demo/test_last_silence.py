"""A demo's streams end when everybody was told; a watch that failed and one that stands still are told."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from connectors.kafka.properties import KafkaProperties
from connectors.topics import Topics
from state.errors import TidewireError
from tidewire.demo import last_silence as module
from tidewire.demo.coming_forward import NotCaughtUp

DDL = "CREATE STREAM departure (ts TIMESTAMP) WITH ('event_time'='ts', 'lateness'='1 s')"
STREAM = apply_ddl(Catalog(), DDL, 0).relations["departure"]
NOON = dt.datetime(2013, 7, 8, 12)


class Saying:
    """A client; `said` is what it was told to say, in which cluster."""

    said: list[tuple[object, ...]]
    open = 0

    def __init__(self, bootstrap: str, prefix: str) -> None:
        self._where = bootstrap, prefix

    def __enter__(self) -> Saying:
        Saying.open += 1
        return self

    def __exit__(self, *_: object) -> None:
        Saying.open -= 1

    def silence(self, stream: str, upto: dt.datetime, timeout: float) -> None:
        Saying.said.append((*self._where, stream, upto, timeout))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[], float]:
    """Goes forward by itself while somebody sleeps."""
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=sleep))
    monkeypatch.setattr(module, "Client", Saying)
    Saying.said, Saying.open = [], 0
    return lambda: now[0]


class Watching:
    """A watch to whom a stream is silent from the look `at` on; with the look `fails` it has a failure."""

    failure: TidewireError | None = None

    def __init__(self, at: int = 10**9, fails: int = 10**9) -> None:
        self.at, self.fails, self.looks = at, fails, 0

    def silent(self, stream: object, upto: dt.datetime) -> bool:
        assert (stream, upto, Saying.open) == (STREAM, NOON, 0)
        self.looks += 1
        if self.looks >= self.fails:
            self.failure = TidewireError("the broker is gone")
        return self.looks >= self.at


def silence(watch: Any) -> None:
    module.silence(KafkaProperties("host:1"), Topics("demo."), STREAM, NOON, watch)


@pytest.mark.parametrize(("at", "seconds"), [(1, 0.0), (2, 0.1), (31, 3.0)])
def test_it_is_said_once_and_over_when_everybody_was_told(clock: Callable[[], float], at: int, seconds: float) -> None:
    watch = Watching(at)
    silence(watch)
    assert Saying.said == [("host:1", "demo.", "departure", NOON, 300.0)]
    assert watch.looks == at and clock() == pytest.approx(seconds)


def test_a_watch_that_failed_says_so_at_once(clock: Callable[[], float]) -> None:
    with pytest.raises(TidewireError, match="the broker is gone"):
        silence(Watching(fails=3))
    assert clock() == pytest.approx(0.2)


def test_nobody_waits_for_ever(clock: Callable[[], float]) -> None:
    with pytest.raises(NotCaughtUp, match="`departure` was said to be silent five minutes ago"):
        silence(Watching())
    assert 300 < clock() < 301
