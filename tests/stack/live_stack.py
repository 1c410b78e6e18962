"""A running stack whose processes a test can kill, and that it can start again on the same data directory."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

from connectors.kafka.properties import KafkaProperties
from connectors.kafka.reader import Reader
from connectors.topics import Topics
from tidewire.settings import Settings, load_settings
from tidewire.stack.child import session_members
from tidewire.stack.data_directory import DataDirectory
from tidewire.stack.embedded import PROGRAM
from tidewire.stack.port import is_listening
from tidewire.stack.running import running_stack
from tidewire.status.overview import Observer, Overview

PATIENCE = 600.0


def eventually(holds: Callable[[], Any], what: str, seconds: float = PATIENCE) -> Any:
    """Return the first true value of `holds()`; fail, saying `what` was waited for, after `seconds`."""
    deadline = time.monotonic() + seconds
    while True:
        found = holds()
        if found:
            return found
        assert time.monotonic() < deadline, f"waited {seconds:g} s for {what}"
        time.sleep(0.05)


def steady_port() -> int:
    """Return a port outside the range from which outgoing connections take theirs.

    A client that goes on trying while the broker is dead would otherwise, once in a while, connect to itself there.
    Tests of two processes start at ports some way apart, as either may take one that the other has not opened yet.
    """
    return next(port for port in range(20_000 + 16 * os.getpid() % 5_000, 30_000) if not is_listening(port))


class LiveStack:
    """`tidewire up` on `data_dir`, with a broker port that stays the same over restarts."""

    def __init__(self, data_dir: Path, program: Sequence[str] = PROGRAM, **settings: Any) -> None:
        chosen = {"broker_port": steady_port(), "http_port": 0, "edges": 2, "virtual_edges": 4} | settings
        self.settings: Settings = load_settings(data_dir=data_dir, **chosen)
        self.directory = DataDirectory(data_dir)
        self.kafka = KafkaProperties(self.settings.address)
        self.topics = Topics(self.settings.prefix)
        self.kills = 0
        self._program = program
        self._block = contextlib.ExitStack()

    def start(self) -> None:
        """Start and wait until everything is ready."""
        self._block.enter_context(running_stack(self.settings, PATIENCE, self._program))

    def stop(self) -> None:
        """Stop it as Ctrl-C does; nothing if it has ended."""
        self._block.close()

    def child(self, name: str) -> dict[str, Any]:
        """Return what the status file says of a child; its pid is None while there is none."""
        status = self.directory.read_status()
        assert status is not None, f"the stack has ended: {self.said()}"
        found: dict[str, Any] = next(child for child in status["children"] if child["name"] == name)
        return found

    def said(self) -> str:
        """Return what `up` has said so far."""
        return (self.directory.logs / "up.log").read_text()

    def is_ready(self, *names: str) -> bool:
        return all(self.child(name)["state"] == "ready" for name in names)

    def await_ready(self, *names: str) -> None:
        eventually(lambda: self.is_ready(*names), f"{', '.join(names)} to be ready")

    def kill(self, name: str, pick: Callable[[psutil.Process], bool] | None = None) -> None:
        """SIGKILL a child's own process, or the first process of its session that `pick` takes; wait until it is gone.

        Returns once the supervisor has noticed, or another process that `pick` takes has begun in its place: Spark does
        not miss a worker that had nothing to do.
        """
        before = eventually(lambda: self.child(name)["pid"], f"{name} to be started")
        there = {pid: psutil.Process(pid) for pid in (session_members(before) if pick else [before])}
        victim = next((process for process in there.values() if pick is None or pick(process)), psutil.Process(before))
        self.shoot([victim.pid])
        eventually(
            lambda: self.child(name)["pid"] not in (before, None) or _another(before, there, pick),
            f"{name} to be started again",
        )

    def await_restart(self, name: str, before: int) -> None:
        eventually(lambda: self.child(name)["pid"] not in (before, None), f"{name} to be started again")

    def kill_session(self, name: str) -> None:
        """SIGKILL a child and everything that it started, and wait until they are gone; not for the next start."""
        pid = eventually(lambda: self.child(name)["pid"], f"{name} to be started")
        self.shoot(session_members(pid))
        eventually(lambda: not session_members(pid), f"{name} to be dead", 20)

    def cut_power(self) -> None:
        """SIGKILL `up` and everything that it started, at once."""
        status = self.directory.read_status()
        assert status is not None
        children = [child["pid"] for child in status["children"] if child["pid"] is not None]
        members = [member for pid in children for member in session_members(pid)]
        self.shoot([status["pid"], *members])
        eventually(lambda: not any(session_members(pid) for pid in children), "everything to be dead", 20)
        self._block.close()

    def look(self) -> Overview:
        """Return what `tidewire status` sees."""
        reader = Reader(self.kafka)
        return Observer(reader, self.settings.address, self.topics, lambda: datetime.now(UTC)).look()

    def await_all_read(self) -> Overview:
        """Wait until a committed batch has read everything that stands in the tables' topics."""
        return eventually(lambda: (seen := self.look()) and not any(t.lag for t in seen.tables) and seen, "no lag")

    def shoot(self, pids: Sequence[int]) -> None:
        """SIGKILL processes, and return at once; those that are gone already do not matter."""
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.kills += 1


class Checkpoint:
    """The logs of a stack's checkpoint, as files."""

    def __init__(self, stack: LiveStack) -> None:
        self._folder = Path(stack.settings.checkpoint_location)

    def newest(self, log: str) -> int:
        names = [path.name for path in (self._folder / log).glob("[0-9]*")]
        return max((int(name) for name in names if name.isdigit()), default=-1)

    def is_between_batches(self) -> bool:
        return self.newest("offsets") == self.newest("commits") >= 0

    def lose_newest_commit(self) -> bool:
        """Delete the newest commit record, as if the crash had come before it; False if a later batch was planned.

        (Then the kill fell into that batch, and no crash could lose the commit before it.)
        """
        newest = self.newest("commits")
        if not self.is_between_batches():
            return False
        for name in (str(newest), f".{newest}.crc"):
            (self._folder / "commits" / name).unlink(missing_ok=name.startswith("."))
        return True


def _another(child: int, there: Collection[int], pick: Callable[[psutil.Process], bool] | None) -> bool:
    """Whether a process that `pick` takes has begun beside those that were `there` in a child's session."""
    with contextlib.suppress(psutil.Error):
        fresh = [psutil.Process(pid) for pid in session_members(child) if pid not in there]
        return pick is not None and any(pick(process) for process in fresh)
    return False
