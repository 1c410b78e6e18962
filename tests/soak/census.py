"""What a running stack holds at a moment: memory by process, disk by kind, how far it has come."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from connectors.kafka.admin import Admin
from connectors.kafka.failure import KafkaFailure
from tests.soak.trend import Memory
from tests.stack.live_stack import LiveStack
from tests.stack.ways import is_daemon
from tidewire.stack.child import session_members
from tidewire.stack.process_state import ProcessState, processes_in
from tidewire.status.overview import read_health


@dataclass(frozen=True, slots=True)
class Moment:
    """One look. `time` is in seconds of the run; memory and disk are in MB; None: nobody answered."""

    time: float
    memory: list[tuple[str, Memory]]
    disk: dict[str, float]
    lag: int | None = None
    live: int | None = None
    deliveries: int | None = None


class Census(threading.Thread):
    """Looks every `period` seconds, from `began` (`time.monotonic`) on; `moments` is what was seen.

    `note` gets the processes at each look.
    """

    def __init__(
        self,
        stack: LiveStack,
        began: float,
        period: float = 10.0,
        note: Callable[[list[ProcessState]], None] = lambda processes: None,
    ) -> None:
        super().__init__(daemon=True)
        self.stack = stack
        self.began = began
        self.period = period
        self.moments: list[Moment] = []
        self._note = note
        self._ended = threading.Event()
        self._admin = Admin(stack.kafka, timeout=5.0)

    def run(self) -> None:
        while not self._ended.wait(self.period):
            self.moments.append(self.look())

    def finish(self) -> None:
        """Look for the last time."""
        self._ended.set()
        self.join()
        self.moments.append(self.look())

    def look(self) -> Moment:
        now = time.monotonic() - self.began
        memory, disk = list(self._memory(now)), disk_by_kind(self.stack.directory.path)
        return Moment(now, memory, disk, self._lag(), live_subscriptions(self.stack), self._deliveries())

    def _memory(self, now: float) -> Iterator[tuple[str, Memory]]:
        status = self.stack.directory.read_status()
        self._note(processes_in(status))
        if status is None:
            return
        pids = [("up", status["pid"])] + [(c["name"], m) for c in status["children"] for m in members(c["pid"])]
        for name, pid in pids:
            with contextlib.suppress(psutil.Error):
                process = psutil.Process(pid)
                with process.oneshot():
                    age, size = time.time() - process.create_time(), process.memory_info().rss / 1e6
                    yield role_of(name, process), Memory(now, hash((pid, process.create_time())), age, size)

    def _lag(self) -> int | None:
        with contextlib.suppress(KafkaFailure, OSError):
            return sum(table.lag or 0 for table in self.stack.look().tables)
        return None

    def _deliveries(self) -> int | None:
        with contextlib.suppress(KafkaFailure):
            return sum(self._admin.end_offsets(self.stack.topics.deliveries).values())
        return None


def members(pid: int | None) -> list[int]:
    """Return a child's processes; none while it is not there."""
    return session_members(pid) if pid is not None else []


def role_of(child: str, process: psutil.Process) -> str:
    """Return what a process of the stack is."""
    if child != "engine":
        return child
    if process.name() == "java":
        return "engine jvm"
    if not is_daemon(process):
        return "engine driver"
    parent = process.parent()
    return "worker" if parent is not None and is_daemon(parent) else "worker daemon"


def live_subscriptions(stack: LiveStack) -> int | None:
    """Return how many subscriptions the edges hold alive; None while not all of them answer."""
    status = stack.directory.read_status()
    addresses = [] if status is None else [url.removeprefix("http://") for url in status["http"]]
    return live_of([read_health(address) for address in addresses])


def live_of(answers: Sequence[Mapping[str, Any] | None]) -> int | None:
    """Return how many subscriptions are alive by what edges say; one that is busy says nothing of it."""
    told = [body["virtual_edges"] for body in answers if body is not None and "virtual_edges" in body]
    if not answers or len(told) < len(answers):
        return None
    return sum(edge["live"] for edges in told for edge in edges.values())


def disk_by_kind(folder: Path) -> dict[str, float]:
    """Return the MB that are taken: by topic, and `checkpoint`, `log table`, `logs`, `other`."""
    sizes: dict[str, float] = defaultdict(float)
    for place, _, names in os.walk(folder):
        kind = kind_of(Path(place).relative_to(folder).parts)
        for name in names:
            with contextlib.suppress(OSError):
                sizes[kind] += Path(place, name).lstat().st_blocks * 512 / 1e6
    return dict(sizes)


def kind_of(parts: tuple[str, ...]) -> str:
    """Return what a folder of a data directory, given relative to it, belongs to.

    >>> kind_of(("broker", "log", "tw.engines-0")), kind_of(("log", "publications", "_delta_log")), kind_of(("run",))
    ('tw.engines', 'log table', 'other')
    """
    if parts[:2] == ("broker", "log") and len(parts) > 2:
        return parts[2].rpartition("-")[0] or parts[2]
    return {"checkpoint": "checkpoint", "log": "log table", "logs": "logs"}.get(parts[0] if parts else "", "other")
