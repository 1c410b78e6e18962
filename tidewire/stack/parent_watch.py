"""The process that outlives a killed `tidewire up` for as long as it takes to kill what that had started.

Run by path (`python -I -S warden.py`), so that it needs nothing but the interpreter: 10 MB. It reads lines from its
standard input, a pipe whose other end only `up` holds: `+ N` puts session N under guard, `- N` releases it. When the
pipe ends, however `up` ended, every process of the sessions under guard is killed: the JVMs, and Spark's Python
workers, which are in process groups of their own.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time


def processes() -> list[int]:
    """Return the numbers of all processes."""
    if os.path.isdir("/proc/self"):  # noqa: PTH112 (pathlib would double the start time)
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208
    listed = subprocess.run(["ps", "-axo", "pid="], capture_output=True, text=True, check=False).stdout
    return [int(pid) for pid in listed.split()]


def kill_sessions(sessions: set[int], patience: float = 10.0) -> None:
    """Kill every process of `sessions`; look again until none is left or `patience` seconds are over."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        left = False
        for pid in processes():
            with contextlib.suppress(OSError):
                if os.getsid(pid) in sessions and not _is_dead(pid):
                    left = True
                    os.kill(pid, signal.SIGKILL)
        if not left:
            return
        time.sleep(0.05)


def _is_dead(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
            return file.read().rpartition(b")")[2].split()[0] in (b"Z", b"X")
    except OSError:
        return not os.path.isdir("/proc/self")  # noqa: PTH112


def guard() -> None:
    """Keep the list until the pipe ends, then kill."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    sessions: set[int] = set()
    for line in sys.stdin:
        sign, _, number = line.partition(" ")
        (sessions.add if sign == "+" else sessions.discard)(int(number))
    if sessions:
        kill_sessions(sessions)


if __name__ == "__main__":
    guard()
