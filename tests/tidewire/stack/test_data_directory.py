"""The lock of a data directory and its status file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tidewire.stack.data_directory import DataDirectory, remember
from tidewire.stack.failure import DirectoryInUseError, NoPermissionError

HOLD = """
import sys, time
from pathlib import Path
from tidewire.stack.data_directory import DataDirectory
with DataDirectory(Path(sys.argv[1])).held():
    print("held", flush=True)
    time.sleep(60)
"""


def test_only_one_process_holds_it_and_a_kill_lets_go(tmp_path: Path) -> None:
    directory = DataDirectory(tmp_path / "d")
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}
    command = [sys.executable, "-c", HOLD, str(directory.path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(DirectoryInUseError, match=rf"in use by another `tidewire up` \(process {holder.pid}\)"):
            directory.held().__enter__()
        holder.kill()
    with directory.held():
        pass


def test_the_status_is_there_only_while_its_process_lives(tmp_path: Path) -> None:
    directory = DataDirectory(tmp_path / "d")
    assert directory.read_status() is None
    with directory.held():
        directory.write_status({"pid": os.getpid(), "state": "ready"})
        assert directory.read_status() == {"pid": os.getpid(), "state": "ready"}
    assert directory.read_status() is None
    directory.write_status({"pid": 2**22 + 1})
    assert directory.read_status() is None
    directory.status_file.write_text("{")
    assert directory.read_status() is None


def test_a_path_that_cannot_be_a_directory_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NoPermissionError, match=r"cannot be used: Not a directory .*choose another `data_dir`"):
        DataDirectory(tmp_path / "file" / "d").held().__enter__()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_without_the_right_to_write_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(NoPermissionError, match="Permission denied"):
        DataDirectory(tmp_path / "d").held().__enter__()


def test_a_directory_is_new_until_something_was_kept(tmp_path: Path) -> None:
    directory = DataDirectory(tmp_path)
    assert directory.is_new
    (tmp_path / "broker").mkdir()
    assert not directory.is_new


def test_yesterdays_directory_is_remembered(tmp_path: Path) -> None:
    a, b, cache = tmp_path / "a", tmp_path / "b", tmp_path / "cache"
    a.mkdir()
    assert remember(a, cache) is None
    assert remember(a, cache) is None
    assert remember(b, cache) == a
    assert remember(a, cache) is None, "b was never made"
    assert remember(a, None) is None
