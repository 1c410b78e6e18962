"""What a stack keeps is closed to other users, and nothing else is touched."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidewire.stack.private_files import OURS, Closing, close_to_others, kept_private


def mode(place: Path) -> int:
    return place.lstat().st_mode & 0o7777


def wide(folder: Path, *names: str) -> Path:
    """Make folders as an earlier version left them, each with a file."""
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    for name in names:
        (folder / name).mkdir()
        (folder / name).chmod(0o755)
        (folder / name / "file").write_text("secret")
        (folder / name / "file").chmod(0o644)
    return folder


def test_what_an_earlier_version_left_is_closed(tmp_path: Path) -> None:
    folder = wide(tmp_path / "d", *OURS)
    (folder / "lock").touch(0o644)
    done = close_to_others(folder)
    assert folder in done.closed and folder / "logs" / "file" in done.closed and done.open == []
    assert [mode(folder / name) for name in ("", *OURS)] == [0o700] * (1 + len(OURS))
    assert [mode(folder / name) for name in ("lock", "broker/file", "logs/file", "run/file")] == [0o600] * 4
    assert done.within_reach
    assert close_to_others(folder) == Closing(), "a second time changes nothing"
    (folder / "checkpoint").chmod(0o755)
    assert close_to_others(folder) == Closing([folder / "checkpoint"]), "nobody could get to it"


@pytest.mark.parametrize("other", ["notes.txt", ".hidden", "Broker"])
def test_a_folder_with_other_things_stays_the_users(tmp_path: Path, other: str) -> None:
    folder = wide(tmp_path / "d", "broker", "logs")
    (folder / other).touch(0o644)
    (folder / other).chmod(0o644)
    assert close_to_others(folder).open == []
    assert (mode(folder), mode(folder / other)) == (0o755, 0o644)
    assert (mode(folder / "broker"), mode(folder / "logs")) == (0o700, 0o700)


def test_what_is_behind_a_link_is_not_ours(tmp_path: Path) -> None:
    elsewhere = wide(tmp_path / "elsewhere", "x")
    folder = wide(tmp_path / "d", "logs")
    (folder / "checkpoint").symlink_to(elsewhere)
    assert close_to_others(folder).open == []
    assert (mode(elsewhere), mode(folder)) == (0o755, 0o700)


@pytest.mark.parametrize("name", ["log", "logs", "broker"])
def test_a_file_or_a_lost_link_where_a_folder_should_be_is_for_others_to_say(tmp_path: Path, name: str) -> None:
    (tmp_path / name).symlink_to(tmp_path / "nowhere")
    (tmp_path / "run").touch()
    with kept_private(tmp_path) as closing:
        assert closing.open == []


def test_a_data_directory_may_be_named_by_a_link(tmp_path: Path) -> None:
    folder = wide(tmp_path / "d", "logs")
    (tmp_path / "link").symlink_to(folder)
    assert close_to_others(tmp_path / "link").closed[0] == folder
    assert mode(folder) == 0o700


@given(st.integers(0, 0o777).map(lambda bits: bits | 0o700))
def test_nothing_is_opened_or_taken_from_the_owner(tmp_path_factory: pytest.TempPathFactory, bits: int) -> None:
    folder = wide(tmp_path_factory.mktemp("d"), "logs")
    folder.chmod(bits)
    assert close_to_others(folder).open == []
    assert mode(folder) == 0o700


def test_what_belongs_to_another_user_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = wide(tmp_path / "d", "logs")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert close_to_others(folder).open == [folder, folder / "logs", folder / "logs" / "file"]
    assert mode(folder) == 0o755


def test_children_make_nothing_that_others_can_read(tmp_path: Path) -> None:
    before = os.umask(0o022)
    tmp_path.chmod(0o700)
    try:
        with kept_private(tmp_path) as closing:
            assert closing == Closing()
            code = "import os; os.makedirs('a/b'); open('a/b/c', 'w')"
            subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
        (tmp_path / "after").mkdir()
        made = [mode(tmp_path / name) for name in ("a", "a/b", "a/b/c", "after")]
        assert made == [0o700, 0o700, 0o600, 0o755]
    finally:
        os.umask(before)
