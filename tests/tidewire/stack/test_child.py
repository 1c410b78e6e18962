"""Children: logs, stopping, and nothing that outlives its parent."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tidewire.stack.child import Child, session_members, sweep, tail

GRANDCHILD = "import subprocess,sys,time; subprocess.Popen(['sleep','60'], process_group=0); time.sleep(60)"


def run(tmp_path: Path, *code: str) -> Child:
    return Child("test", [sys.executable, "-c", *code], tmp_path / "test.log", tmp_path, os.environ)


def wait_until(condition: object, seconds: float = 120.0) -> bool:
    assert callable(condition)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return bool(condition())


def test_output_goes_to_the_log_and_the_tail_of_it_into_messages(tmp_path: Path) -> None:
    child = run(tmp_path, "import sys; [print('line', i) for i in range(100)]; sys.stderr.write('bad\\n'); sys.exit(3)")
    assert wait_until(lambda: not child.alive)
    assert child.exit_code == 3
    assert set(child.tail(2).splitlines()) == {"line 99", "bad"} or "bad" in child.tail()
    assert len(child.tail(5).splitlines()) == 5
    assert tail(tmp_path / "none") == "(no log)"


def test_a_big_log_is_set_aside(tmp_path: Path) -> None:
    (tmp_path / "test.log").write_bytes(bytes(20_000_001))
    child = run(tmp_path, "print('new')")
    assert wait_until(lambda: not child.alive)
    assert child.tail() == "new"
    assert (tmp_path / "test.log.1").stat().st_size == 20_000_001


def test_stop_asks_first_and_kills_after_a_while(tmp_path: Path) -> None:
    polite = run(tmp_path, "import time; time.sleep(60)")
    polite.stop()
    assert polite.exit_code == -15
    stubborn = run(
        tmp_path, "import signal,time; signal.signal(15, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)"
    )
    assert wait_until(lambda: "deaf" in stubborn.tail())
    stubborn.stop(patience=0.2)
    assert stubborn.exit_code == -9


def test_kill_leaves_nothing_of_the_session_also_not_other_process_groups(tmp_path: Path) -> None:
    child = run(tmp_path, GRANDCHILD)
    assert wait_until(lambda: len(session_members(child.pid)) == 2)
    child.kill()
    assert session_members(child.pid) == []
    assert sweep(child.pid) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="PR_SET_PDEATHSIG is Linux")
def test_a_child_dies_with_its_parent(tmp_path: Path) -> None:
    code = (
        "import os, sys, time; from pathlib import Path; from tidewire.stack.child import Child; p = Path(sys.argv[1]);"
        "c = Child('x', ['sleep', '60'], p / 'x.log', p, os.environ); print(c.pid, flush=True); time.sleep(60)"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert psutil.pid_exists(pid)
        parent.kill()
    assert wait_until(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == "zombie")


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        ("", ""),
        ("a\\nb\\n\\n", "b"),
        ("tidewire: no broker\\nThis is not one of the errors\\n", "no broker"),
        ("tidewire: first\\ntidewire: last\\nmore\\n", "last"),
        ("x" * 1000, "x" * 300),
    ],
)
def test_the_reason_is_what_this_process_said_and_no_earlier_one(tmp_path: Path, printed: str, reason: str) -> None:
    (tmp_path / "test.log").write_text("tidewire: of yesterday\n")
    child = run(tmp_path, f"print('{printed}', end='')")
    assert wait_until(lambda: not child.alive)
    assert child.reason() == reason
