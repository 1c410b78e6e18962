"""The warden kills the sessions under guard when its pipe ends, and only those."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tidewire.stack import parent_watch


@pytest.fixture
def sleepers() -> Iterator[list[subprocess.Popen[bytes]]]:
    started = [subprocess.Popen(["sleep", "60"], start_new_session=True) for _ in range(2)]
    yield started
    for process in started:
        process.kill()
        process.wait()


def test_sessions_under_guard_end_with_the_pipe(sleepers: list[subprocess.Popen[bytes]]) -> None:
    guarded, released = sleepers
    command = [sys.executable, "-I", "-S", parent_watch.__file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdin is not None
        process.stdin.write(f"+ {guarded.pid}\n+ {released.pid}\n- {released.pid}\n".encode())
        process.stdin.flush()
        with pytest.raises(subprocess.TimeoutExpired):
            guarded.wait(0.3)
        process.stdin.close()
        assert guarded.wait(120) == -signal.SIGKILL
        assert process.wait(120) == 0
    assert released.poll() is None


def test_processes_without_proc_come_from_ps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "isdir", lambda path: False)
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: subprocess.CompletedProcess(a, 0, stdout="  1\n 22\n"))
    assert parent_watch.processes() == [1, 22]


def test_killing_no_session_looks_once() -> None:
    parent_watch.kill_sessions({2**22 + 5})
