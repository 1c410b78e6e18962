"""The lock of a data directory and its status file."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path
from typing import IO

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
    directory.run.mkdir(parents=True)
    directory.write_status({"pid": 2**22 + 1})
    assert directory.read_status() is None
    directory.status_file.write_text("{")
    assert directory.read_status() is None


def refused(path: Path) -> str:
    with pytest.raises(NoPermissionError) as error, DataDirectory(path).held():
        pass
    return str(error.value)


def test_a_file_in_the_way_is_named_and_nothing_is_left(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for path in (file, file / "d", file / "d" / "e"):
        assert f"`{file}` is a file, not a directory. Choose a directory by --data-dir" in refused(path)
    for name in ("logs", "run"):
        directory = tmp_path / name
        directory.mkdir()
        (directory / name).touch()
        assert f"`{directory / name}` is a file, not a directory" in refused(directory)
        assert [one.name for one in directory.iterdir()] == [name]
    (tmp_path / "d" / "lock").mkdir(parents=True)
    assert f"Is a directory (`{tmp_path / 'd' / 'lock'}`)" in refused(tmp_path / "d")
    assert [one.name for one in (tmp_path / "d").iterdir()] == ["lock"]


@pytest.mark.parametrize("path", ["/proc", "/proc/tidewire", "/sys/tidewire/d", "{}/" + "x" * 300, "{}/a\0b"])
def test_a_place_that_cannot_be_used_is_named_and_no_file_of_a_random_name(tmp_path: Path, path: str) -> None:
    said = refused(Path(path.format(tmp_path)))
    assert "cannot be used: " in said and "--data-dir (setting `data_dir`)" in said
    [named] = [word.strip("(`).") for word in said.split() if word.startswith("(`")]
    assert named.startswith(path.format(tmp_path)) and "tmp" not in Path(named).name
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_without_the_right_to_write_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert f"Permission denied (`{tmp_path / 'd'}`)" in refused(tmp_path / "d")


@pytest.mark.parametrize("there", [[], ["a"], ["a", "a/d"], ["a", "a/d", "a/d/logs"], ["a", "a/d", "a/d/jars"]])
def test_a_start_that_fails_leaves_what_was_there(tmp_path: Path, there: list[str]) -> None:
    for name in there:
        (tmp_path / name).mkdir()
    with pytest.raises(KeyboardInterrupt), DataDirectory(tmp_path / "a" / "d").held():
        raise KeyboardInterrupt
    assert sorted(str(one.relative_to(tmp_path)) for one in tmp_path.rglob("*")) == there


@pytest.mark.parametrize("kept", ["logs/engine.log", "broker/x", "checkpoint/x", "run/x"])
def test_what_was_kept_stays_with_its_lock(tmp_path: Path, kept: str) -> None:
    directory = DataDirectory(tmp_path / "d")
    with directory.held():
        (directory.path / kept).parent.mkdir(exist_ok=True)
        (directory.path / kept).touch()
        directory.write_status({"pid": 1})
    assert (directory.path / kept).exists() and (directory.path / "lock").exists()
    assert not directory.status_file.exists()


def test_a_lock_that_was_removed_meanwhile_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory, flock = DataDirectory(tmp_path / "d"), fcntl.flock
    removed: list[Path] = []

    def first_removed(lock: IO[bytes], how: int) -> None:
        if not removed:
            removed.append(directory.path / "lock")
            removed[0].unlink()
        flock(lock, how)

    monkeypatch.setattr(fcntl, "flock", first_removed)
    with directory.held(), pytest.raises(DirectoryInUseError), DataDirectory(directory.path).held():
        pass
    assert removed


def test_a_status_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    directory = DataDirectory(tmp_path)
    directory.status_file.mkdir(parents=True)
    assert directory.read_status() is None
    directory.status_file.rmdir()
    for text in ("[]", '{"pid":"x"}', '{"pid":null}', "\xff", "5"):
        directory.status_file.write_text(text, encoding="latin-1")
        assert directory.read_status() is None


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
