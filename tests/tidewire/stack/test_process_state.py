"""What is told of a process: to everybody, and in short to whoever reaches an edge."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from tidewire.stack.data_directory import DataDirectory
from tidewire.stack.process_state import ProcessState, Restart, processes_in, told_beside, troubles

LAST = Restart(at="2026-01-01T00:00:00+00:00", why="exit code 1", said="no broker at /home/you")
ENGINE = ProcessState(name="engine", state="waiting", restarts=3, deaths=4, next_start="12:00", last=[LAST, LAST])
EDGE = ProcessState(name="edge-0", state="ready", pid=os.getpid(), log="/home/you/edge-0.log", last=[LAST])


@pytest.fixture
def directory(tmp_path: Path) -> DataDirectory:
    made = DataDirectory(tmp_path / "d")
    made.run.mkdir(parents=True)
    made.write_status({"pid": os.getpid(), "children": msgspec.to_builtins([ENGINE, EDGE])})
    return made


def test_what_is_written_down_is_read_again(directory: DataDirectory) -> None:
    assert processes_in(directory.read_status()) == [ENGINE, EDGE]


@pytest.mark.parametrize("status", [None, {}, {"children": [{"pid": 1}]}, {"processes": 5}, {"children": None}])
def test_what_says_nothing_of_processes_tells_none(status: dict[str, object] | None) -> None:
    assert processes_in(status) == []


def test_an_older_status_file_is_read(directory: DataDirectory) -> None:
    directory.write_status(
        {"pid": os.getpid(), "children": [{"name": "a", "pid": 1, "state": "ready", "restarts": 2, "log": "l"}]}
    )
    assert processes_in(directory.read_status()) == [ProcessState(name="a", state="ready", pid=1, log="l", restarts=2)]


def test_an_edge_tells_its_own_stack_without_files_and_logs(directory: DataDirectory) -> None:
    told = told_beside(directory, os.getpid())
    assert [one["name"] for one in told] == ["engine", "edge-0"]
    assert "/home/you" not in str(told)
    assert processes_in({"processes": told})[0].last[0].why == "exit code 1"
    assert told_beside(directory, os.getpid() + 1) == []


def test_who_is_not_ready_again_is_named_with_the_reason() -> None:
    [said] = troubles([ENGINE, EDGE])
    assert "engine ended at 2026-01-01T00:00:00+00:00 (exit code 1; 4 times in a row)" in said
    assert said.endswith("and starts again at 12:00. It said: no broker at /home/you")
    starting = ProcessState(name="edge-1", state="starting", deaths=1, last=[Restart(at="t", why="SIGKILL")])
    assert troubles([starting]) == ["edge-1 ended at t (SIGKILL), and is starting."]
    assert troubles([ProcessState(name="engine", state="starting")]) == []
