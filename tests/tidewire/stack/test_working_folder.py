"""The folder of Spark's working files: one's own, empty, and nobody else's is touched while they live."""

from __future__ import annotations

import os
from pathlib import Path

from tidewire.stack.working_folder import working_folder


def test_without_a_data_directory_there_is_none(tmp_path: Path) -> None:
    assert working_folder(tmp_path / "none") is None


def test_an_engine_gets_an_empty_folder_and_leaves_a_living_one_alone(tmp_path: Path) -> None:
    living, dead, own, old = (tmp_path / "spark" / name for name in (str(os.getppid()), "4194999", "", "blockmgr-1"))
    own = own / str(os.getpid())
    for folder in (living, dead, own, old):
        folder.mkdir(parents=True)
        (folder / "file").touch()
    assert working_folder(tmp_path) == own
    assert list(own.iterdir()) == []
    assert (living / "file").exists()
    assert not dead.exists() and not old.exists()
