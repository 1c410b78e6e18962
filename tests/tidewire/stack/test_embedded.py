"""`tidewire up` as a group of real processes: start, second start, stop, kill, restart, full disk."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tidewire.stack.child import session_members
from tidewire.stack.port import is_listening

pytestmark = [pytest.mark.stack, pytest.mark.timeout(1800)]
FAKES = Path(__file__).with_name("up_with_fakes.py")


class Up:
    """A running `up` with fakes, on the broker of the test run."""

    def __init__(self, data_dir: Path, environment: dict[str, str]) -> None:
        self.data_dir = data_dir
        rooms = {"PYTHONPATH": str(Path(__file__).parents[3]), "TIDEWIRE_DATA_DIR": str(data_dir)}
        self.process = subprocess.Popen(
            [sys.executable, str(FAKES)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | rooms | environment,
        )
        self.status: dict[str, Any] = {}

    def await_ready(self) -> Up:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.communicate()[1]
        self.status = json.loads(line)
        return self

    def now(self) -> dict[str, Any]:
        return dict(json.loads((self.data_dir / "run" / "status.json").read_text()))

    def child(self, name: str) -> dict[str, Any]:
        return next(child for child in self.now()["children"] if child["name"] == name)

    def sessions(self) -> list[int]:
        return [child["pid"] for child in self.status["children"]]

    def leaves_nothing(self) -> bool:
        ports = [int(address.rsplit(":", 1)[1]) for address in self.status["http"]]
        return not any(session_members(pid) for pid in self.sessions()) and not any(map(is_listening, ports))

    def end(self) -> tuple[int, str]:
        _, said = self.process.communicate(timeout=240)
        return self.process.returncode, said


@pytest.fixture
def up(tmp_path: Path, broker: str, prefix: str) -> Iterator[Callable[..., Up]]:
    started: list[Up] = []

    def start(data_dir: Path = tmp_path / "d", **more: str) -> Up:
        settings = {"BOOTSTRAP": broker, "PREFIX": prefix, "VIRTUAL_EDGES": "2", "EDGES": "2", "HTTP_PORT": "0"} | more
        started.append(
            Up(data_dir, {name if "FAKE" in name else f"TIDEWIRE_{name}": v for name, v in settings.items()})
        )
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.wait()


def eventually(condition: Callable[[], bool], seconds: float = 300.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return condition()


def test_a_stack_starts_once_and_sigterm_leaves_nothing(up: Callable[..., Up]) -> None:
    first = up().await_ready()
    assert {child["name"]: child["state"] for child in first.now()["children"]} == {
        "engine": "ready",
        "edge-0": "ready",
        "edge-1": "ready",
    }
    code, said = up().end()
    assert code == 4
    assert f"in use by another `tidewire up` (process {first.process.pid})" in said
    first.process.send_signal(signal.SIGTERM)
    code, said = first.end()
    assert (code, said.strip()) == (0, "stopping")
    assert first.leaves_nothing()
    assert not (first.data_dir / "run" / "status.json").exists()
    assert up().await_ready().status["state"] == "ready"


def test_sigkill_leaves_nothing_and_the_directory_can_be_used_again(up: Callable[..., Up]) -> None:
    first = up().await_ready()
    assert len(session_members(first.child("engine")["pid"])) == 2
    first.process.kill()
    assert eventually(first.leaves_nothing)
    second = up().await_ready()
    assert second.status["pid"] == second.process.pid


def test_a_directory_that_was_open_is_closed_and_that_is_said_once(up: Callable[..., Up], tmp_path: Path) -> None:
    for folder in (tmp_path / "d", tmp_path / "d" / "checkpoint"):
        folder.mkdir()
        folder.chmod(0o755)
    for expected in (
        f"other users could read what is in `{tmp_path / 'd'}`; it is closed to them now\nstopping",
        "stopping",
    ):
        running = up().await_ready()
        assert not [one for one in (tmp_path / "d").rglob("*") if one.stat().st_mode & 0o077]
        running.process.send_signal(signal.SIGTERM)
        assert running.end()[1].strip() == expected


def test_a_dead_child_is_swept_and_started_again(up: Callable[..., Up]) -> None:
    running = up().await_ready()
    engine = running.child("engine")
    os.kill(engine["pid"], signal.SIGKILL)
    assert eventually(lambda: running.child("engine")["restarts"] == 1)
    assert session_members(engine["pid"]) == []
    assert eventually(lambda: running.child("engine")["state"] == "ready")
    assert psutil.pid_exists(running.child("engine")["pid"])
    assert running.child("edge-0")["restarts"] == 0


def test_a_child_that_refuses_ends_the_stack_with_its_words(up: Callable[..., Up]) -> None:
    code, said = up(FAKE_ENGINE="refuse").end()
    assert code == 8
    assert "engine cannot run" in said
    assert "setting `x`: no" in said


def test_a_disk_that_fills_up_stops_the_stack_cleanly(up: Callable[..., Up], tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=50m", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a tmpfs")
    try:
        running = up(disk / "d", DISK_FLOOR_MB="20").await_ready()
        (disk / "filler").write_bytes(bytes(40_000_000))
        code, said = running.end()
        assert code == 6
        assert "too little disk" in said
        assert running.leaves_nothing()
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_taken_port_and_a_missing_java_are_named_before_anything_starts(
    up: Callable[..., Up], broker: str, tmp_path: Path
) -> None:
    code, said = up(HTTP_PORT=broker.rsplit(":", 1)[1], EDGES="1").end()
    assert (code, "an edge's HTTP, is in use" in said) == (5, True)
    environment = {"PATH": "/nowhere", "JAVA_HOME": "", "TIDEWIRE_BOOTSTRAP": broker}
    process = Up(tmp_path / "d", environment)
    code, said = process.end()
    assert (code, "Java is missing" in said) == (3, True)
