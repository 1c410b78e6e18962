"""How a process of a stack is, and why it was started again: what `up` writes down and everybody else reads.

`up` writes it into the status file of the data directory. An edge tells the short form, which names no file and
nothing that a log says, in its `/health`: so the page and a `status` on another machine have it, too.
"""

from __future__ import annotations

import signal
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from tidewire.stack.data_directory import DataDirectory

KEPT_RESTARTS = 10
"""So many of the last restarts of each process are kept."""


class Restart(msgspec.Struct, kw_only=True):
    """A death and what followed: `at` is its moment (UTC), `why` an exit code or a signal, `said` the log's reason.

    Seconds count from the death: `down_s` until the next start, `ready_after_s` until the process was ready again;
    None while that has not come.
    """

    at: str
    why: str
    said: str = ""
    down_s: float | None = None
    ready_after_s: float | None = None


class ProcessState(msgspec.Struct, kw_only=True):
    """A process: `state` is ready, starting or waiting (for `next_start`); `deaths` are those in a row.

    `started` is the moment of its present start, and `ready_after_s` how many seconds later it was ready.
    """

    name: str
    state: str
    pid: int | None = None
    log: str | None = None
    restarts: int = 0
    deaths: int = 0
    started: str | None = None
    ready_after_s: float | None = None
    next_start: str | None = None
    last: list[Restart] = []

    def short(self) -> ProcessState:
        """Return what may be told to whoever reaches an edge: the newest restart, no process number, file or log."""
        last = [msgspec.structs.replace(one, said="") for one in self.last[-1:]]
        return msgspec.structs.replace(self, pid=None, log=None, last=last)


def why_it_ended(exit_code: int | None) -> str:
    """Say an exit code as a person does.

    >>> why_it_ended(-9), why_it_ended(1), why_it_ended(-34)
    ('SIGKILL', 'exit code 1', 'signal 34')
    """
    if exit_code is None or exit_code >= 0:
        return f"exit code {exit_code}"
    try:
        return signal.Signals(-exit_code).name
    except ValueError:
        return f"signal {-exit_code}"


def processes_in(status: Mapping[str, Any] | None) -> list[ProcessState]:
    """Return the processes that a status file, or the body of an edge's `/health`, tells of; none if it does not."""
    told = (status or {}).get("children") or (status or {}).get("processes") or []
    try:
        return msgspec.convert(told, list[ProcessState])
    except msgspec.ValidationError:
        return []


def told_beside(directory: DataDirectory, pid: int) -> list[dict[str, Any]]:
    """Return the short form of all processes of the stack of which process `pid` is one, none if it is of no stack."""
    processes = processes_in(directory.read_status())
    if pid not in [process.pid for process in processes]:
        return []
    return [msgspec.to_builtins(process.short()) for process in processes]


def troubles(processes: Iterable[ProcessState]) -> list[str]:
    """Return a sentence for each process that ended and is not ready again."""
    found = []
    for process in processes:
        if process.state == "ready" or not process.last:
            continue
        last = process.last[-1]
        times = "" if process.deaths < 2 else f"; {process.deaths} times in a row"
        then = f"starts again at {process.next_start}" if process.next_start else "is starting"
        said = f" It said: {last.said}" if last.said else ""
        found.append(f"{process.name} ended at {last.at} ({last.why}{times}), and {then}.{said}")
    return found
