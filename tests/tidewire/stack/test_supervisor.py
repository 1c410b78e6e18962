"""The supervisor: its policy with children that only pretend, and with real, small processes what they leave behind."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidewire.stack.child import Child
from tidewire.stack.failure import ChildFailedError, PortInUseError, RequirementError
from tidewire.stack.supervisor import MEND_FIRST, QUICK_DEATHS, USEFUL_SECONDS, Service, Supervisor


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
    supervisor.start(service(tmp_path, "a", "import time; time.sleep(60)", lambda child: next(answers)))
    assert not supervisor.step()
    assert supervisor.describe()[0].state == "starting"
    assert supervisor.step()
    assert supervisor.ready
    assert supervisor.describe()[0].state == "ready"


def test_a_dead_child_starts_again_after_longer_and_longer_pauses(
    tmp_path: Path, supervisor: Supervisor, clock: Clock, said: list[str]
) -> None:
    keep = supervisor.start(service(tmp_path, "a", "raise SystemExit(1)"))
    pauses = []
    for _ in range(QUICK_DEATHS - 1):
        wait_dead(keep.child)
        assert supervisor.step()
        assert supervisor.describe()[0].state == "waiting"
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


@dataclass
class Pretended:
    """A child that the test lets die."""

    exit_code: int | None = None
    pid: int = 1
    started: float = 0.0
    log: Path = Path("a.log")

    @property
    def alive(self) -> bool:
        return self.exit_code is None

    def kill(self) -> None:
        self.exit_code = self.exit_code or -9

    def tail(self) -> str:
        return "the log"

    def reason(self) -> str:
        return "no broker"


@dataclass
class Stand:
    """A supervisor of one service, on a clock that the test moves. `launches` fail while `refuse` holds an error."""

    mend_first: tuple[int, ...] = MEND_FIRST
    now: float = 1000.0
    ready: bool = False
    refuse: Exception | None = None
    child: Pretended = field(default_factory=Pretended)

    def __post_init__(self) -> None:
        self.said: list[str] = []
        begin = datetime(2026, 1, 1, tzinfo=UTC)
        self.supervisor = Supervisor(
            self.said.append, lambda: self.now, lambda: begin + timedelta(seconds=self.now - 1000)
        )
        made: Any = Service("a", self.launch, lambda child: self.ready, self.mend_first)
        self.keep = self.supervisor.start(made)

    def launch(self) -> Any:
        if self.refuse is not None:
            raise self.refuse
        self.child = Pretended(started=self.now)
        return self.child

    def die(self, code: int, after: float = 0.0) -> None:
        self.supervisor.step()
        self.now += after
        self.child.exit_code = code
        self.supervisor.step()

    def start_again(self) -> float:
        """Move to the next start and return how long that takes."""
        began, self.now = self.now, self.keep.again_at
        self.supervisor.step()
        return self.now - began

    def __enter__(self) -> Stand:
        return self

    def __exit__(self, *exception: object) -> None:
        self.supervisor.__exit__()


DEATHS = st.lists(
    st.tuples(
        st.one_of(st.integers(-64, -1), st.integers(0, 255).filter(lambda code: code not in MEND_FIRST)),
        st.floats(0, 20),
        st.booleans(),
    ),
    min_size=1,
    max_size=40,
)


@given(DEATHS)
def test_a_stack_that_was_ready_once_is_never_given_up(deaths: list[tuple[int, float, bool]]) -> None:
    with Stand(ready=True) as stand:
        stand.supervisor.keep_for_ever()
        for number, (code, after, ready) in enumerate(deaths, 1):
            stand.ready = ready
            stand.die(code, after)
            assert stand.supervisor.describe()[0].next_start is not None
            assert 0 < stand.start_again() <= 30.0
            assert stand.keep.restarts == number and stand.child.alive
        assert len(stand.supervisor.describe()[0].last) == min(10, len(deaths))


@given(st.integers(-64, 255), st.booleans())
def test_only_a_command_of_ours_that_says_so_must_be_mended(code: int, ours: bool) -> None:
    """A JVM that runs out of memory ends with 3, which says something else when one of our commands does."""
    with Stand(mend_first=MEND_FIRST if ours else ()) as stand:
        stand.supervisor.keep_for_ever()
        if ours and code in MEND_FIRST:
            with pytest.raises(ChildFailedError, match="cannot run"):
                stand.die(code)
        else:
            stand.die(code)
            stand.start_again()


@given(st.lists(st.one_of(st.just(1), st.just(-9)), min_size=QUICK_DEATHS, max_size=QUICK_DEATHS))
def test_a_stack_that_was_never_ready_is_given_up(codes: list[int]) -> None:
    with Stand() as stand:
        for code in codes[:-1]:
            stand.die(code)
            stand.start_again()
        with pytest.raises(ChildFailedError, match="died 5 times in a row"):
            stand.die(codes[-1])


def test_the_pause_is_never_more_than_half_a_minute() -> None:
    with Stand() as stand:
        stand.supervisor.keep_for_ever()
        pauses = []
        for _ in range(2000):
            stand.die(1)
            pauses.append(stand.start_again())
        assert pauses[:8] == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0] and pauses[-1] == 30.0


def test_a_restart_says_why_and_how_long() -> None:
    with Stand(ready=True) as stand:
        stand.die(-9, after=10)
        [state] = stand.supervisor.describe()
        assert (state.state, state.next_start, state.pid) == ("waiting", "2026-01-01T00:00:10+00:00", None)
        stand.ready = False
        stand.start_again()
        stand.die(1, after=3)
        stand.start_again()
        stand.ready = True
        stand.now += 7
        stand.supervisor.step()
        [state] = stand.supervisor.describe()
        assert (state.state, state.restarts, state.deaths, state.ready_after_s) == ("ready", 2, 2, 7.0)
        first, second = state.last
        assert (first.at, first.why, first.said) == ("2026-01-01T00:00:10+00:00", "SIGKILL", "")
        assert (second.why, second.said) == ("exit code 1", "no broker")
        assert (first.down_s, first.ready_after_s) == (0.5, 11.5)
        assert (second.down_s, second.ready_after_s) == (1.0, 8.0)


@pytest.mark.parametrize("error", [PortInUseError("port 1 is in use"), OSError(11, "no process can be had")])
def test_a_launch_that_fails_for_now_is_tried_again(error: Exception) -> None:
    with Stand(ready=True) as stand:
        stand.supervisor.keep_for_ever()
        stand.die(-9)
        stand.refuse = error
        assert [stand.start_again() for _ in range(3)] == [0.5, 1.0, 2.0]
        [state] = stand.supervisor.describe()
        assert (state.state, state.restarts) == ("waiting", 0)
        assert (state.last[-1].why, state.last[-1].said) == ("not launched", str(error))
        stand.refuse = None
        stand.start_again()
        stand.supervisor.step()
        assert stand.supervisor.ready
        assert [one.down_s for one in stand.supervisor.describe()[0].last] == [7.5, 7.0, 6.0, 4.0]


def test_a_launch_that_can_never_be_ends_the_stack() -> None:
    with Stand(ready=True) as stand:
        stand.supervisor.keep_for_ever()
        stand.die(-9)
        stand.refuse = RequirementError("Java is missing")
        with pytest.raises(RequirementError):
            stand.start_again()
