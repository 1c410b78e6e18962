"""Runs the processes of a stack as one group: starts them in order, restarts what dies, stops them in order.

    service     what to run: how to launch it, how to see that it is ready
    keep        its child now, how often it died, when it is started again

A child that dies is started again after 0.5 s, then 1 s, 2 s ... up to 30 s; one that was ready for `USEFUL_SECONDS`,
or ran for a minute, starts counting anew: whoever kills one now and then does not end the stack. One that says that
something must be mended first (exit codes 2, 3, 7, 9), or died `QUICK_DEATHS` times in a row, is not started again: the
whole stack stops with the tail of that child's log. All this happens in one thread: `step` is called a few times a
second, and nothing else starts or stops processes.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidewire.stack import warden
from tidewire.stack.child import Child
from tidewire.stack.failure import ChildFailedError

QUICK_DEATHS = 5
USEFUL_SECONDS = 8.0
_LONG_LIFE = 60.0
_FIRST_DELAY = 0.5
_LONGEST_DELAY = 30.0
_STOP_SECONDS = 15.0
_HOPELESS = (2, 3, 7, 9)
"""Exit codes with which a command says that something must be mended first."""


@dataclass(frozen=True, slots=True)
class Service:
    """A process to keep running. `ready` is asked until it says yes once per start; it must answer within a second."""

    name: str
    launch: Callable[[], Child]
    ready: Callable[[Child], bool]


@dataclass(slots=True)
class Keep:
    """A service and its present child."""

    service: Service
    child: Child | None = None
    ready: bool = False
    ready_at: float = 0.0
    deaths: int = 0
    restarts: int = 0
    again_at: float = 0.0

    def describe(self) -> dict[str, Any]:
        """Return what the status file says about it."""
        alive = self.child is not None and self.child.alive
        state = "ready" if self.ready and alive else "starting" if alive else "waiting"
        log = str(self.child.log) if self.child else None
        pid = self.child.pid if self.child else None
        return {"name": self.service.name, "pid": pid, "state": state, "restarts": self.restarts, "log": log}


class Supervisor:
    """Keeps services running. Use as a context manager: leaving it leaves no process behind.

    Args:
        say: gets a remark for a person whenever a child dies.
        clock: seconds, monotonic.
    """

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self.keeps: list[Keep] = []
        self._say = say
        self._clock = clock
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

    def start(self, service: Service) -> Keep:
        """Launch a service and keep it from now on. *Raises* what its `launch` raises."""
        keep = Keep(service)
        self.keeps.append(keep)
        self._launch(keep)
        return keep

    def step(self) -> bool:
        """Look after every child once; return whether anything changed.

        Raises:
            ChildFailedError: a child died `QUICK_DEATHS` times in a row.
        """
        changed = [self._look_after(keep) for keep in self.keeps]
        return any(changed)

    def stop(self, groups: Sequence[Sequence[str]]) -> None:
        """Stop the services named in each group together, group by group, and leave nothing of them.

        A child that does not end within 15 s is killed.
        """
        for names in groups:
            children = [keep.child for keep in self.keeps if keep.service.name in names and keep.child is not None]
            for child in children:
                child.ask_to_stop()
            deadline = self._clock() + _STOP_SECONDS
            for child in children:
                child.await_end(max(0.0, deadline - self._clock()))
                self._tell_warden("-", child)

    def _look_after(self, keep: Keep) -> bool:
        if keep.child is None:
            if self._clock() < keep.again_at:
                return False
            keep.restarts += 1
            self._launch(keep)
            return True
        if not keep.child.alive:
            self._bury(keep, keep.child)
            return True
        if not keep.ready and keep.service.ready(keep.child):
            keep.ready, keep.ready_at = True, self._clock()
            return True
        return False

    def _launch(self, keep: Keep) -> None:
        keep.ready = False
        keep.child = keep.service.launch()
        self._tell_warden("+", keep.child)

    def _bury(self, keep: Keep, child: Child) -> None:
        """Kill what is left of a dead child's session, and decide when it starts again."""
        exit_code = child.exit_code
        child.kill()
        self._tell_warden("-", child)
        useful = self._was_useful(keep, child)
        keep.child, keep.ready = None, False
        if exit_code in _HOPELESS:
            raise ChildFailedError(
                f"the {keep.service.name} cannot run. Its log `{child.log}` ends with:\n{child.tail()}"
            )
        keep.deaths = 1 if useful else keep.deaths + 1
        if keep.deaths >= QUICK_DEATHS:
            raise ChildFailedError(
                f"{keep.service.name} died {keep.deaths} times in a row, the last time with exit code {exit_code}. "
                f"Its log `{child.log}` ends with:\n{child.tail()}"
            )
        delay = min(_LONGEST_DELAY, _FIRST_DELAY * 2 ** (keep.deaths - 1))
        keep.again_at = self._clock() + delay
        self._say(f"{keep.service.name} ended (exit code {exit_code}); it starts again in {delay:g} s, log {child.log}")

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
    command = [sys.executable, "-I", "-S", str(Path(warden.__file__))]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True, cwd="/")
