"""Every start of every process of a stack: when, why the one before had ended, and how long until it was ready.

The status file keeps the last few of each process, and a new `up` begins a new one; so it is looked at often, and what
was seen is put together here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tidewire.stack.child import tail
from tidewire.stack.process_state import ProcessState

SLOW_SECONDS = 60.0
"""A process that takes longer to be ready is shown with the end of its log."""
_LOG_LINES = 40


class Restarts:
    """Collects what the status file said, at any number of looks and in any order."""

    def __init__(self) -> None:
        self._deaths: dict[tuple[str, str, str], dict[str, Any]] = {}
        self._starts: dict[tuple[str, str], dict[str, Any]] = {}

    def note(self, processes: Iterable[ProcessState]) -> None:
        """Take in one look; what has become known since the last one replaces what was not."""
        for process in processes:
            for one in process.last:
                self._deaths[process.name, one.at, one.why] = {
                    "process": process.name,
                    "ended": one.at,
                    "why": one.why,
                    "said": one.said,
                    "down_s": one.down_s,
                    "ready_after_s": one.ready_after_s,
                }
            if process.started is not None:
                start = {"process": process.name, "started": process.started, "ready_after_s": process.ready_after_s}
                self._starts[process.name, process.started] = start

    @property
    def deaths(self) -> list[dict[str, Any]]:
        """Each process that ended and was started again, by time; seconds count from its end."""
        return sorted(self._deaths.values(), key=lambda one: (one["ended"], one["process"]))

    @property
    def starts(self) -> list[dict[str, Any]]:
        """Each start that was seen, also the first ones after a power cut, by time; seconds count from the start."""
        return sorted(self._starts.values(), key=lambda one: (one["started"], one["process"]))


def logs_of_slow(processes: Iterable[ProcessState], waited: float) -> Iterator[dict[str, Any]]:
    """Yield the end of the logs of all processes if somebody `waited` so long for them that it must be explained."""
    if waited >= SLOW_SECONDS:
        for process in processes:
            if process.log is not None:
                lines = tail(Path(process.log), _LOG_LINES).splitlines()
                yield {"process": process.name, "ready_after_s": process.ready_after_s, "log": lines}
