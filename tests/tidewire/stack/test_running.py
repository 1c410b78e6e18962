"""The whole stack, with nothing pretended: it starts, `status` sees it, and it ends with its block."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import psutil
import pytest

from tidewire import cli
from tidewire.settings import load_settings
from tidewire.stack.child import session_members
from tidewire.stack.failure import ChildFailedError
from tidewire.stack.jars import jar_directories, read_jar_sets, require_jars
from tidewire.stack.running import running_stack

pytestmark = [pytest.mark.stack, pytest.mark.timeout(1800)]


def copy(files: list[Path], folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for file in files:
        shutil.copy(file, folder)


def test_a_real_stack_runs_as_long_as_its_block_also_in_paths_with_a_blank(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    jars = tmp_path / "my jars"
    for jar_set in read_jar_sets().values():
        copy(require_jars(jar_set, jar_directories(tmp_path)), jars)
    home = tmp_path / "dä ta"
    settings = load_settings(data_dir=home, jars_dir=jars, broker_port=0, http_port=0, edges=2, virtual_edges=4)
    with running_stack(settings) as status:
        assert cli.run(["status", "--json", "--bootstrap", status["bootstrap"]]) == 0
        seen = json.loads(capsys.readouterr().out)
        assert seen["virtual_edges"] == 4
        assert sorted(number for edge in seen["edges"] for number in edge["virtual_edges"]) == [0, 1, 2, 3]
        assert seen["engine"]["checkpoint"].endswith("checkpoint")
        assert seen["engine"]["age"] < 300
        assert [warning for warning in seen["warnings"] if "engine" in warning] == []
        assert cli.run(["status", "--bootstrap", status["bootstrap"]]) == 0
        assert "epoch" in capsys.readouterr().out
    assert not psutil.pid_exists(status["pid"])
    assert not any(session_members(child["pid"]) for child in status["children"])


def test_what_keeps_a_stack_from_starting_is_passed_on(tmp_path: Path) -> None:
    settings = load_settings(data_dir=tmp_path / "d", broker_port=0, http_port=0, disk_floor_mb=10**9)
    with pytest.raises(ChildFailedError, match=r"(?s)exit code 6.*too little disk"), running_stack(settings):
        pass
