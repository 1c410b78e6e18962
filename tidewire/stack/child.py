"""A child process that cannot outlive its parent, with its own session and its own log file.

How a child is tied to us:

1. It leads an own session, so that Ctrl-C in the terminal reaches only the parent, which stops children in order,
   and so that everything it starts (a JVM, Spark's Python workers) can be found by the session's number.
2. On Linux it asks the kernel for SIGKILL when the thread that started it ends (`PR_SET_PDEATHSIG`).
3. What the child itself started is not covered by 2: `sweep` kills what is left of its session, and
   `tidewire.stack.parent_watch` does it when the parent is no longer there to do so.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psutil

_PR_SET_PDEATHSIG = 1
_TAIL_BYTES = 16_384
_LOG_BYTES = 20_000_000
_OWN_WORDS = "tidewire: "
"""How the message begins with which a command of ours ends."""
_REASON_CHARACTERS = 300


class Child:
    """A running process of the stack. `pid` is also the number of its session."""

    def __init__(self, name: str, command: Sequence[str], log: Path, cwd: Path, environment: Mapping[str, str]) -> None:
        """Start `command`; its output is appended to `log`, which is set aside when it has grown beyond 20 MB.

        Raises:
            OSError: the program cannot be run, or the log cannot be written.
        """
        self.name = name
        self.log = log
        self.started = time.monotonic()
        if log.exists() and log.stat().st_size > _LOG_BYTES:
            log.replace(log.with_name(log.name + ".1"))
        with log.open("ab") as output:
            self._log_begin = output.tell()
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=cwd,
                env=dict(environment),
                start_new_session=True,
                preexec_fn=_die_with_parent(),
            )
        self.pid = self._process.pid

    @property
    def exit_code(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        return self._process.poll()

    @property
    def alive(self) -> bool:
        """Whether the process itself (not what it started) still runs."""
        return self.exit_code is None

    def stop(self, patience: float = 10.0) -> None:
        """Ask with SIGTERM, kill after `patience` seconds, and leave nothing of its session."""
        self.ask_to_stop()
        self.await_end(patience)

    def await_end(self, patience: float) -> None:
        """Wait for a child that was asked to stop; kill it after `patience` seconds, and all of its session.

        It is not asked again: a second SIGTERM while it is already ending would cut its ending short.
        """
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)
        self.kill()

    def ask_to_stop(self) -> None:
        """Send SIGTERM and return at once."""
        if self.alive:
            self._process.terminate()

    def kill(self) -> None:
        """Kill the process and all of its session at once, and wait until they are gone."""
        if self.alive:
            self._process.kill()
        self._process.wait()
        sweep(self.pid)

    def tail(self, lines: int = 12) -> str:
        """Return the last lines of the log, for an error message."""
        return tail(self.log, lines)

    def reason(self) -> str:
        """Return what this process, not an earlier one, said last: its own message if it ended with one.

        *Cost*: reads 16 kB at most.
        """
        try:
            lines = _end_of(self.log, self._log_begin).splitlines()
        except OSError:
            return ""
        said = [line.strip() for line in lines if line.strip()]
        own = [line for line in said if line.startswith(_OWN_WORDS)]
        return ([*said[-1:], *own[-1:]] or [""])[-1].removeprefix(_OWN_WORDS)[:_REASON_CHARACTERS]


def _end_of(log: Path, begin: int = 0) -> str:
    """Return the last 16 kB of a log that stand behind `begin`. *Raises* OSError."""
    with log.open("rb") as file:
        file.seek(max(begin, log.stat().st_size - _TAIL_BYTES))
        return file.read().decode("utf-8", "replace")


def tail(log: Path, lines: int = 12) -> str:
    """Return the last `lines` lines of a log file, or a remark when there is none. *Cost*: reads 16 kB at most."""
    try:
        text = _end_of(log)
    except OSError:
        return "(no log)"
    return "\n".join(text.splitlines()[-lines:]) or "(the log is empty)"


def sweep(session: int, patience: float = 5.0) -> int:
    """Kill every process of `session`; return how many there were. *Cost*: one look at each process, about 2 ms."""
    killed = 0
    deadline = time.monotonic() + patience
    while members := session_members(session):
        for pid in members:
            killed += 1
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > deadline:
            break
        time.sleep(0.05)
    return killed


def session_members(session: int) -> list[int]:
    """Return the processes of `session` that still run (zombies are dead already)."""
    members: list[int] = []
    for pid in psutil.pids():
        with contextlib.suppress(ProcessLookupError, PermissionError, psutil.Error):
            if os.getsid(pid) == session and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                members.append(pid)
    return members


def _die_with_parent() -> Callable[[], None] | None:
    """Return what a child runs before it becomes its program: bound here, since it may not import or allocate much."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    parent = os.getpid()

    def bind() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it died between fork and prctl
            os._exit(1)

    return bind
