from __future__ import annotations

from pathlib import Path

import pytest

from state.errors import StateError
from streaming.checkpoint.checkpoint import SIDECAR, CatalogFrom, Checkpoint, CheckpointError, Sidecar
from streaming.checkpoint.files import LocalFiles
from tests.streaming.spark_logs import commit, plan


@pytest.fixture
def checkpoint(tmp_path: Path) -> Checkpoint:
    return Checkpoint(LocalFiles(tmp_path), str(tmp_path))


def test_an_empty_folder_has_nothing(checkpoint: Checkpoint) -> None:
    assert checkpoint.load() is None
    assert (checkpoint.last_planned(), checkpoint.first_committed(), checkpoint.last_committed()) == (-1, -1, -1)


def test_the_logs_are_read_and_other_files_ignored(checkpoint: Checkpoint, tmp_path: Path) -> None:
    for batch in (8, 9, 10):
        commit(tmp_path, batch, {"a": {"0": batch}})
    plan(tmp_path, 11, {"a": {"0": 11, "1": 4}, "b": {"0": 7}})
    (tmp_path / "commits" / ".10.crc").write_text("")
    (tmp_path / "commits" / "12.tmp").write_text("")
    assert (checkpoint.last_planned(), checkpoint.first_committed(), checkpoint.last_committed()) == (11, 8, 10)
    assert checkpoint.is_committed(10)
    assert not checkpoint.is_committed(11)
    assert checkpoint.ranges(11) == (
        {"a": {"0": 10, "1": 0}, "b": {"0": 0}},
        {"a": {"0": 11, "1": 4}, "b": {"0": 7}},
    )


def test_a_dropped_topic_is_in_no_range(checkpoint: Checkpoint, tmp_path: Path) -> None:
    plan(tmp_path, 0, {"a": {"0": 1}, "b": {"0": 7}})
    plan(tmp_path, 1, {"a": {"0": 1}})
    assert checkpoint.ranges(1) == ({"a": {"0": 1}}, {"a": {"0": 1}})


def test_a_log_that_is_not_ours_is_named(checkpoint: Checkpoint, tmp_path: Path) -> None:
    plan(tmp_path, 0, {})
    (tmp_path / "offsets" / "0").write_text("v1\n{}\n{}\n{}")
    with pytest.raises(CheckpointError, match="unexpected form in batch 0"):
        checkpoint.end_offsets(0)
    with pytest.raises(CheckpointError, match="batch 5 is not in the offset log"):
        checkpoint.end_offsets(5)


def test_the_sidecar_comes_back_as_it_was(checkpoint: Checkpoint) -> None:
    sidecar = Sidecar(claim="x", epoch=3, catalogs=[CatalogFrom(0, 2)], topic_ids={"a": "1"}, catch_up={"a": {"0": 1}})
    checkpoint.store(sidecar)
    assert checkpoint.load() == sidecar


@pytest.mark.parametrize("text", ["{", '{"claim": 1}', "[]"])
def test_a_damaged_sidecar_is_an_error(checkpoint: Checkpoint, tmp_path: Path, text: str) -> None:
    checkpoint.store(Sidecar(claim="x"))
    (tmp_path / SIDECAR).write_text(text)
    with pytest.raises(StateError, match=r"engine\.json"):
        checkpoint.load()


def test_a_sidecar_of_another_format_names_both(checkpoint: Checkpoint) -> None:
    checkpoint.store(Sidecar(claim="x", format=9))
    with pytest.raises(StateError, match="format 9, this tidewire writes format 1"):
        checkpoint.load()
