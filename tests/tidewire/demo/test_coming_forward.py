"""When a demo is over, and when it stands still."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from operators.control import Progress as EngineProgress
from tests.tidewire.demo.watched import watch
from tidewire.client.records import Progress
from tidewire.demo import coming_forward as module
from tidewire.demo.coming_forward import ComingForward, NotCaughtUp
from tidewire.demo.kills import Kills
from tidewire.demo.watch import Watch
from tidewire.stack.data_directory import DataDirectory


def cover(seen: Watch, publications: int) -> None:
    seen.committed(EngineProgress(1, publications, 0, "t", {}, {"demo.flight": {"0": publications}}))


def test_it_is_over_when_all_is_told_and_no_kill_is_left(tmp_path: Path) -> None:
    seen = watch()
    with Kills(DataDirectory(tmp_path), seen, 0, 2) as none, Kills(DataDirectory(tmp_path), seen, 1, 2) as one:
        seen.published("demo.flight", 0, 0)
        assert not ComingForward(seen, none).over()
        cover(seen, 1)
        seen.told(0, Progress(1, 1))
        assert ComingForward(seen, none).over() and not ComingForward(seen, one).over()


def test_it_stands_still_while_nothing_comes_into_a_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, seen = 0.0, watch()
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock))
    kills = Kills(DataDirectory(tmp_path), seen, 0, 2)
    with kills:
        pass
    forward = ComingForward(seen, kills)
    cover(seen, 0)
    seen.told(0, Progress(1, 0))
    clock = 1_000.0
    assert forward.over(), "a quiet night in the data is no fault"
    seen.published("demo.flight", 0, 0)
    seen.published("demo.flight", 0, 1)
    clock += 250
    assert not forward.over()
    cover(seen, 1)
    clock += 250
    assert not forward.over()
    seen.killed()
    clock += 250
    assert not forward.over()
    clock += 301
    with pytest.raises(NotCaughtUp, match="1 publications are in no batch"):
        forward.over()


def test_what_goes_wrong_elsewhere_is_raised(tmp_path: Path) -> None:
    seen = watch()
    seen.failure = OSError("no broker")
    with Kills(DataDirectory(tmp_path), seen, 0, 2) as kills, pytest.raises(OSError, match="no broker"):
        ComingForward(seen, kills).over()
