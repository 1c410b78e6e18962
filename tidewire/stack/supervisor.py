"""Runs the processes of a stack as one group: starts them in order, restarts what dies, stops them in order.

    service     what to run: how to launch it, how to see that it is ready
    keep        its child now, how often it died, when it is started again

A child that dies, or cannot be launched, is started again after 0.5 s, then 1 s, 2 s ... up to 30 s; one that was
ready for `USEFUL_SECONDS`, or ran for a minute, starts counting anew.

Only two things end the whole stack, with the tail of that child's log: a child that says that something must be mended
first (exit codes 2, 3, 7, 9), and, as long as the stack was never ready, `QUICK_DEATHS` deaths in a row: a stack that
cannot start should say so. After `keep_for_ever` no number of deaths does: what ran once runs again when whatever kills
it has gone. All this happens in one thread: `step` is called a few times a second, and nothing else starts or stops
processes.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tidewire.stack import parent_watch
from tidewire.stack.child import Child
from tidewire.stack.failure import ChildFailedError, StackError
from tidewire.stack.process_state import KEPT_RESTARTS, ProcessState, Restart, why_it_ended

QUICK_DEATHS = 5
USEFUL_SECONDS = 8.0
_LONG_LIFE = 60.0
_FIRST_DELAY = 0.5
_LONGEST_DELAY = 30.0
_DOUBLINGS = 6
"""So many double the first delay to the longest."""
STOP_SECONDS = 40.0
"""How long a child may take to end: an engine waits 10 s for its batch, and the log as long again for its commit."""
MEND_FIRST = (2, 3, 7, 9)
"""Exit codes with which a command of ours says that something must be mended first."""


@dataclass(frozen=True, slots=True)
class Service:
    """A process to keep running. `ready` is asked until it says yes once per start; it must answer within a second.

    `mend_first` are the exit codes after which starting it again does not help.
    """

    name: str
    launch: Callable[[], Child]
    ready: Callable[[Child], bool]
    mend_first: Sequence[int] = MEND_FIRST


@dataclass(slots=True)
class Keep:
    """A service, its present child, and the deaths before it. `died` says when each of `last` was, on our clock."""

    service: Service
    child: Child | None = None
    ready: bool = False
    started: float = 0.0
    ready_at: float = 0.0
    deaths: int = 0
    restarts: int = 0
    again_at: float = 0.0
    last: deque[Restart] = field(default_factory=lambda: deque(maxlen=KEPT_RESTARTS))
    died: deque[float] = field(default_factory=lambda: deque(maxlen=KEPT_RESTARTS))

    def note_death(self, restart: Restart, now: float) -> None:
        """Begin the account of a restart."""
        self.last.append(restart)
        self.died.append(now)
        self.child, self.ready = None, False

    def note_start(self, child: Child, now: float) -> None:
        """The service has been launched."""
        self.child, self.ready, self.started = child, False, now
        for restart, died in zip(self.last, self.died, strict=True):
            if restart.down_s is None:
                restart.down_s = round(now - died, 1)

    def note_ready(self, now: float) -> None:
        """The service is ready, and with it every restart that has not come so far."""
        self.ready, self.ready_at = True, now
        for restart, died in zip(self.last, self.died, strict=True):
            if restart.ready_after_s is None:
                restart.ready_after_s = round(now - died, 1)


class Supervisor:
    """Keeps services running. Use as a context manager: leaving it leaves no process behind.

    Args:
        say: gets a remark for a person whenever a child dies.
        clock: seconds, monotonic.
        now: the present moment, for what is written down.
    """

    def __init__(
        self,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.keeps: list[Keep] = []
        self._say = say
        self._clock = clock
        self._now = now
        self._for_ever = False
        self._warden = _start_warden()

    def __enter__(self) -> Supervisor:
        return self

    def __exit__(self, *exception: object) -> None:
        for keep in self.keeps:
            if keep.child is not None:
                keep.child.kill()
        if self._warden.stdin is not None:
            self._warden.stdin.close()
        self._warden.wait()

    @property
    def ready(self) -> bool:
        """Whether every service is."""
        return all(keep.ready for keep in self.keeps)

    def keep_for_ever(self) -> None:
        """Give up no child any more for the number of its deaths: the stack has been ready."""
        self._for_ever = True

    def describe(self) -> list[ProcessState]:
        """Return how each child is."""
        return [self._state(keep) for keep in self.keeps]

    def start(self, service: Service) -> Keep:
        """Launch a service and keep it from now on. *Raises* what its `launch` raises."""
        keep = Keep(service)
        self.keeps.append(keep)
        self._launch(keep)
        return keep

    def step(self) -> bool:
        """Look after every child once; return whether anything changed.

        Raises:
            ChildFailedError: a child says that something must be mended, or died `QUICK_DEATHS` times in a row before
                the stack was ready.
            StackError: a child cannot be launched, and never will.
        """
        changed = [self._look_after(keep) for keep in self.keeps]
        return any(changed)

    def stop(self, groups: Sequence[Sequence[str]]) -> None:
        """Stop the services named in each group together, group by group, and leave nothing of them.

        A child that does not end within 40 s is killed.
        """
        for names in groups:
            children = [keep.child for keep in self.keeps if keep.service.name in names and keep.child is not None]
            for child in children:
                child.ask_to_stop()
            deadline = self._clock() + STOP_SECONDS
            for child in children:
                child.await_end(max(0.0, deadline - self._clock()))
                self._tell_warden("-", child)

    def _look_after(self, keep: Keep) -> bool:
        if keep.child is None:
            if self._clock() < keep.again_at:
                return False
            self._launch_again(keep)
            return True
        if not keep.child.alive:
            self._bury(keep, keep.child)
            return True
        if not keep.ready and keep.service.ready(keep.child):
            keep.note_ready(self._clock())
            return True
        return False

    def _launch(self, keep: Keep) -> None:
        child = keep.service.launch()
        keep.note_start(child, self._clock())
        self._tell_warden("+", child)

    def _launch_again(self, keep: Keep) -> None:
        """Launch; a port or a process that cannot be had just now counts as a death."""
        try:
            self._launch(keep)
            keep.restarts += 1
        except (StackError, OSError) as error:
            if isinstance(error, StackError) and not error.retry_helps:
                raise
            keep.deaths += 1
            self._plan_restart(keep, Restart(at=self._stamp(), why="not launched", said=str(error)))

    def _bury(self, keep: Keep, child: Child) -> None:
        """Kill what is left of a dead child's session, and decide when it starts again."""
        exit_code, useful = child.exit_code, self._was_useful(keep, child)
        child.kill()
        self._tell_warden("-", child)
        if exit_code in keep.service.mend_first:
            raise ChildFailedError(
                f"the {keep.service.name} cannot run. Its log `{child.log}` ends with:\n{child.tail()}"
            )
        why = why_it_ended(exit_code)
        keep.deaths = 1 if useful else keep.deaths + 1
        said = child.reason() if exit_code is not None and exit_code > 0 else ""
        self._plan_restart(keep, Restart(at=self._stamp(), why=why, said=said), child)

    def _plan_restart(self, keep: Keep, restart: Restart, child: Child | None = None) -> None:
        """Note a death and when the next start is. *Raises* ChildFailedError if there is to be none."""
        name, log = keep.service.name, f" Its log `{child.log}` ends with:\n{child.tail()}" if child else ""
        keep.note_death(restart, self._clock())
        if keep.deaths >= QUICK_DEATHS and not self._for_ever:
            raise ChildFailedError(f"{name} died {keep.deaths} times in a row, the last time with {restart.why}.{log}")
        delay = min(_LONGEST_DELAY, _FIRST_DELAY * 2.0 ** min(keep.deaths - 1, _DOUBLINGS))
        keep.again_at = self._clock() + delay
        where = f", log {child.log}" if child else ""
        self._say(f"{name} ended ({restart.why}); it starts again in {delay:g} s{where}")

    def _state(self, keep: Keep) -> ProcessState:
        child, now = keep.child, self._clock()
        alive = child is not None and child.alive
        return ProcessState(
            name=keep.service.name,
            state="ready" if keep.ready and alive else "starting" if alive else "waiting",
            pid=child.pid if child else None,
            log=str(child.log) if child else None,
            restarts=keep.restarts,
            deaths=keep.deaths,
            started=self._stamp(keep.started - now) if child else None,
            ready_after_s=round(keep.ready_at - keep.started, 1) if child and keep.ready else None,
            next_start=None if child else self._stamp(keep.again_at - now),
            last=list(keep.last),
        )

    def _stamp(self, seconds: float = 0.0) -> str:
        """Return the moment so many seconds from now."""
        return (self._now() + timedelta(seconds=seconds)).isoformat(timespec="seconds")

    def _was_useful(self, keep: Keep, child: Child) -> bool:
        """Whether its death says nothing about the next start."""
        now = self._clock()
        return (keep.ready and now - keep.ready_at >= USEFUL_SECONDS) or now - child.started > _LONG_LIFE

    def _tell_warden(self, sign: str, child: Child) -> None:
        if self._warden.stdin is not None:
            self._warden.stdin.write(f"{sign} {child.pid}\n".encode())
            self._warden.stdin.flush()


def _start_warden() -> subprocess.Popen[bytes]:
    """Start the warden in a session of its own: a signal to our group or terminal does not reach it."""
    command = [sys.executable, "-I", "-S", str(Path(parent_watch.__file__))]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True, cwd="/")
