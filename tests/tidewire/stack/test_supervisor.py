"""The supervisor with real, small processes: back-off, giving up, and stopping in order."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tidewire.stack.child import Child
from tidewire.stack.failure import ChildFailedError
from tidewire.stack.supervisor import QUICK_DEATHS, USEFUL_SECONDS, Service, Supervisor


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = time.monotonic()

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def supervisor(said: list[str], clock: Clock) -> Iterator[Supervisor]:
    with Supervisor(said.append, clock) as made:
        yield made


def service(tmp_path: Path, name: str, code: str, ready: Callable[[Child], bool] = lambda child: True) -> Service:
    def launch() -> Child:
        return Child(name, [sys.executable, "-c", code], tmp_path / f"{name}.log", tmp_path, os.environ)

    return Service(name, launch, ready)


def wait_dead(child: Child | None) -> None:
    assert child is not None
    deadline = time.monotonic() + 120
    while child.alive and time.monotonic() < deadline:
        time.sleep(0.02)


def test_ready_when_every_service_says_so(tmp_path: Path, supervisor: Supervisor) -> None:
    answers = iter([False, True])
    keep = supervisor.start(service(tmp_path, "a", "import time; time.sleep(60)", lambda child: next(answers)))
    assert not supervisor.step()
    assert keep.describe()["state"] == "starting"
    assert supervisor.step()
    assert supervisor.ready
    assert keep.describe()["state"] == "ready"


def test_a_dead_child_starts_again_after_longer_and_longer_pauses(
    tmp_path: Path, supervisor: Supervisor, clock: Clock, said: list[str]
) -> None:
    keep = supervisor.start(service(tmp_path, "a", "raise SystemExit(1)"))
    pauses = []
    for _ in range(QUICK_DEATHS - 1):
        wait_dead(keep.child)
        assert supervisor.step()
        assert keep.describe()["state"] == "waiting"
        pauses.append(keep.again_at - clock.now)
        assert not supervisor.step()
        clock.now = keep.again_at
        assert supervisor.step()
    assert pauses == [0.5, 1.0, 2.0, 4.0]
    assert keep.restarts == 4
    assert "a ended (exit code 1); it starts again in 4 s" in said[-1]
    wait_dead(keep.child)
    with pytest.raises(ChildFailedError, match="died 5 times in a row, the last time with exit code 1"):
        supervisor.step()


def test_a_long_life_begins_the_count_anew(tmp_path: Path, supervisor: Supervisor, clock: Clock) -> None:
    keep = supervisor.start(service(tmp_path, "a", "raise SystemExit(1)"))
    keep.deaths = QUICK_DEATHS - 1
    clock.now += 100
    wait_dead(keep.child)
    supervisor.step()
    assert keep.deaths == 1


@pytest.mark.parametrize(("useful", "deaths"), [(USEFUL_SECONDS, 1), (USEFUL_SECONDS - 1, QUICK_DEATHS - 1)])
def test_a_child_that_was_of_use_before_it_was_killed_begins_the_count_anew(
    tmp_path: Path, supervisor: Supervisor, clock: Clock, useful: float, deaths: int
) -> None:
    keep = supervisor.start(service(tmp_path, "a", "import time; time.sleep(60)"))
    keep.deaths = QUICK_DEATHS - 2
    supervisor.step()
    assert keep.ready and keep.child is not None
    clock.now += useful
    keep.child.kill()
    supervisor.step()
    assert keep.deaths == deaths


def test_a_child_that_is_killed_now_and_then_never_ends_the_stack(
    tmp_path: Path, supervisor: Supervisor, clock: Clock
) -> None:
    keep = supervisor.start(service(tmp_path, "a", "import time; time.sleep(60)"))
    for _ in range(QUICK_DEATHS + 2):
        supervisor.step()
        assert keep.ready and keep.child is not None
        clock.now += USEFUL_SECONDS
        keep.child.kill()
        supervisor.step()
        clock.now = keep.again_at
        supervisor.step()
    assert keep.restarts == QUICK_DEATHS + 2


def test_a_child_that_says_something_must_be_mended_is_not_started_again(
    tmp_path: Path, supervisor: Supervisor
) -> None:
    keep = supervisor.start(service(tmp_path, "a", "print('setting `x`: no'); raise SystemExit(2)"))
    wait_dead(keep.child)
    with pytest.raises(ChildFailedError, match=r"(?s)a cannot run.*setting `x`: no"):
        supervisor.step()


def test_stop_is_in_order_and_leaves_nothing(tmp_path: Path, supervisor: Supervisor) -> None:
    write = "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, [15]); open('{}.up', 'w');"
    write += "signal.sigwait([15]); open('order', 'a').write('{}')"
    keeps = [supervisor.start(service(tmp_path, name, write.format(name, name))) for name in "abc"]
    deadline = time.monotonic() + 120
    while not all((tmp_path / f"{name}.up").exists() for name in "abc"):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    supervisor.stop([["b", "c"], ["a"]])
    assert (tmp_path / "order").read_text()[-1] == "a"
    assert [keep.child and keep.child.exit_code for keep in keeps] == [0, 0, 0]


def test_leaving_kills_what_was_not_stopped(tmp_path: Path, said: list[str]) -> None:
    with Supervisor(said.append) as supervisor:
        keep = supervisor.start(service(tmp_path, "a", "import time; time.sleep(60)"))
    assert keep.child is not None
    assert keep.child.exit_code == -9
