"""SIGKILL falls in turn on what is ready; processes that sleep stand for engine and edge."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from operators.control import Progress as EngineProgress
from tests.tidewire.demo.watched import watch
from tidewire.demo import kills as module
from tidewire.demo.kills import Kills, NotStartedAgain
from tidewire.demo.watch import Watch
from tidewire.stack.data_directory import DataDirectory

SLEEP = ["sleep", "300"]


class Supervisor:
    """Starts again what is dead, if it is to, and says so in the status file; `dead` names what died, in order."""

    def __init__(self, path: Path) -> None:
        self.directory = DataDirectory(path)
        self.directory.run.mkdir()
        self.dead: list[str] = []
        self.starts_again = True
        self._children = {name: subprocess.Popen(SLEEP) for name in ("broker", "engine", "edge-0")}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def close(self) -> None:
        self._ended.set()
        self._thread.join()
        for child in self._children.values():
            child.kill()
            child.wait()

    def _run(self) -> None:
        while not self._ended.wait(0.01):
            gone = [name for name, child in self._children.items() if child.poll() is not None]
            self.dead += gone
            self._tell(gone)
            self._children |= {name: subprocess.Popen(SLEEP) for name in gone if self.starts_again}

    def _tell(self, gone: list[str]) -> None:
        states = [
            {"name": name, "pid": child.pid, "state": "starting" if name in gone else "ready"}
            for name, child in self._children.items()
        ]
        self.directory.write_status({"pid": os.getpid(), "children": states})


@pytest.fixture
def supervisor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Supervisor]:
    monkeypatch.setattr(module, "_JITTER_SECONDS", 0.0)
    supervisor = Supervisor(tmp_path)
    yield supervisor
    supervisor.close()


def cover(seen: Watch, publications: int) -> None:
    seen.committed(EngineProgress(1, publications, 0, "t", {}, {"demo.flight": {"0": publications}}))


def until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_engine_and_edge_are_killed_in_turn_as_publications_stand_in_batches(supervisor: Supervisor) -> None:
    seen = watch()
    with Kills(supervisor.directory, seen, 3, 400) as kills:
        cover(seen, 99)
        time.sleep(0.2)
        assert supervisor.dead == [] and not kills.over()
        cover(seen, 100)
        until(lambda: supervisor.dead == ["engine"])
        cover(seen, 300)
        until(kills.over)
    assert supervisor.dead == ["engine", "edge-0", "engine"] and seen.seen().kills == 3


def test_no_kills_are_over_at_once_and_a_demo_that_ends_waits_for_none(supervisor: Supervisor) -> None:
    with Kills(supervisor.directory, watch(), 0, 400) as kills:
        until(kills.over)
    began = time.monotonic()
    with Kills(supervisor.directory, watch(), 3, 400):
        pass
    assert time.monotonic() - began < 4 and supervisor.dead == []


def test_what_is_not_started_again_is_named(supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_START_SECONDS", 0.5)
    supervisor.starts_again = False
    seen = watch()
    cover(seen, 400)
    with Kills(supervisor.directory, seen, 3, 400) as kills, pytest.raises(NotStartedAgain, match="`engine` is not"):
        until(kills.over)
    assert seen.seen().kills == 1
