"""SIGKILL falls on the engine and the edge of a demo's own stack, in turn, while its story is told."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import threading
import time
from collections.abc import Callable

from state.errors import TidewireError
from tidewire.demo.watch import Watch
from tidewire.stack.data_directory import DataDirectory

_VICTIMS = ("engine", "edge-0")
_SEED = 2013
_LOOK_SECONDS = 0.05
_JITTER_SECONDS = 0.5
_START_SECONDS = 420.0


class NotStartedAgain(TidewireError):
    """What was killed has not come back."""

    code = "demo_not_started_again"
    retry_helps = True


class _Stopped(Exception):
    """The demo is over before the kills are."""


class Kills:
    """`count` kills, spread evenly over `events` publications; each waits until the victim of the last one is back.

    A kill falls up to half a second after its share of the publications stands in batches, so it may meet the engine
    anywhere in one. The supervisor of the stack starts again what dies, as it would any time. Use it with `with`.
    """

    def __init__(self, directory: DataDirectory, watch: Watch, count: int, events: int) -> None:
        self._directory = directory
        self._watch = watch
        self._places = [(number + 1) * events // (count + 1) for number in range(count)]
        self._choose = random.Random(_SEED)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._failure: Exception | None = None

    def __enter__(self) -> Kills:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join(5)

    def over(self) -> bool:
        """Whether all have fallen and everything runs again. Raises what went wrong with them."""
        if self._failure is not None:
            raise self._failure
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            for number, place in enumerate(self._places):
                self._await(lambda place=place: self._watch.covered >= place)  # type: ignore[misc]
                self._kill(_VICTIMS[number % len(_VICTIMS)])
        except _Stopped:
            return
        except Exception as error:  # raised again by `over`, in the thread of the one who looks
            self._failure = error

    def _kill(self, name: str) -> None:
        self._pause(self._choose.uniform(0, _JITTER_SECONDS))
        until = time.monotonic() + _START_SECONDS
        before = self._await(lambda: self._ready(name), name, until)
        with contextlib.suppress(ProcessLookupError):
            os.kill(before, signal.SIGKILL)
            self._watch.killed()
        self._await(lambda: self._ready(name) not in (0, before), name, until)

    def _ready(self, name: str) -> int:
        """Return the process of a child that is ready, 0 while there is none."""
        status = self._directory.read_status() or {"children": []}
        children = [child for child in status["children"] if child["name"] == name and child["state"] == "ready"]
        return int(children[0]["pid"] or 0) if children else 0

    def _await(self, holds: Callable[[], int], name: str = "", until: float = float("inf")) -> int:
        while not (found := holds()):
            if time.monotonic() > until:
                raise NotStartedAgain(f"`{name}` is not ready {_START_SECONDS:g} s after it was to be killed.")
            self._pause(_LOOK_SECONDS)
        return found

    def _pause(self, seconds: float) -> None:
        if self._stopped.wait(seconds):
            raise _Stopped
