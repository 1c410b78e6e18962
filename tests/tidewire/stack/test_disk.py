"""Room on the disk."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tidewire.stack.disk import free_megabytes, require_room
from tidewire.stack.failure import DiskFullError


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 20 MB."""
    mounted = (
        os.geteuid() == 0
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", str(tmp_path)], capture_output=True, check=False
        ).returncode
    )
    if not mounted:
        pytest.skip("needs the right to mount a tmpfs")
    yield tmp_path
    subprocess.run(["umount", "-l", str(tmp_path)], check=True)


def test_a_directory_that_does_not_exist_yet_is_on_its_parents_disk(tmp_path: Path) -> None:
    assert abs(free_megabytes(tmp_path / "a" / "b") - free_megabytes(tmp_path)) < 100
    require_room(tmp_path / "a" / "b", 1)


def test_too_little_is_one_message_with_both_numbers(small_disk: Path) -> None:
    require_room(small_disk, 15)
    (small_disk / "filler").write_bytes(bytes(10_000_000))
    with pytest.raises(DiskFullError, match=r"expected at least 15 MB free, got 1\d MB\. Make room"):
        require_room(small_disk, 15)
