"""The checkpoint is the one that the running engine names, unless the user says another; an absent one is told."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tidewire.settings import load_settings
from tidewire.status.engine_checkpoint import NoCheckpoint, locate_checkpoint
from tidewire.status.overview import EngineState


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two stacks' data, `one` and `two`, and what a working directory has from long ago."""
    for name in list(os.environ):
        if name.startswith("TIDEWIRE_"):
            monkeypatch.delenv(name)
    for name in ("one", "two", "tidewire-data"):
        (tmp_path / name / "checkpoint").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def located(data_dir: Path | None, claimed: str | None, checkpoint: str | None = None) -> str:
    settings = load_settings(data_dir=data_dir, checkpoint=checkpoint)
    return locate_checkpoint(settings, data_dir, EngineState(checkpoint=claimed))


def test_whose_checkpoint_it_is(folders: Path) -> None:
    one, two = (str(folders / name / "checkpoint") for name in ("one", "two"))
    assert located(None, one) == one
    assert located(folders / "two", one) == two
    assert located(None, one, two) == two
    assert located(None, "s3a://bucket/c") == "s3a://bucket/c"
    assert located(None, None) == str(folders / "tidewire-data" / "checkpoint")


@pytest.mark.parametrize(
    ("data_dir", "claimed", "checkpoint"),
    [(None, "/no/such/place", None), ("nothing", None, None), (None, None, "nothing"), ("nothing", "/", None)],
)
def test_none_is_told(folders: Path, data_dir: str | None, claimed: str | None, checkpoint: str | None) -> None:
    with pytest.raises(NoCheckpoint, match=r"checkpoint.*(place|nothing).*--data-dir.*--checkpoint"):
        located(None if data_dir is None else folders / data_dir, claimed, checkpoint)
