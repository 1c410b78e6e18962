"""Which files beside commits are deleted; that Delta does without them shows in test_log_keeper."""

from __future__ import annotations

from pathlib import Path

import pytest

from streaming.log.checksums import drop_checksums

KEPT = ["00000000000000000001.json", "00000000000000000100.checkpoint.parquet", "_last_checkpoint", "_staged_commits"]
KEPT += [".00000000000000000100.checkpoint.parquet.crc", "._last_checkpoint.crc", "7.crc", "x00000000000000000001.crc"]
YOUNG = ["00000000000000000100.crc", ".00000000000000000100.json.crc", ".00000000000000000101.crc.crc"]
OLD = ["00000000000000000001.crc", ".00000000000000000099.json.crc", ".00000000000000000099.crc.crc"]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_those_of_commits_before_the_checkpoint(tmp_path: Path) -> None:
    for name in [*KEPT, *YOUNG, *OLD]:
        (tmp_path / name).touch()
    (tmp_path / "_last_checkpoint").write_text('{"version": 100, "size": 3}')
    assert drop_checksums(tmp_path) == len(OLD)
    assert names(tmp_path) == sorted([*KEPT, *YOUNG])
    assert drop_checksums(tmp_path) == 0


@pytest.mark.parametrize("checkpoint", [None, "", "{", "{}", '{"version": "x"}'])
def test_none_where_no_checkpoint_is_known(tmp_path: Path, checkpoint: str | None) -> None:
    (tmp_path / OLD[0]).touch()
    if checkpoint is not None:
        (tmp_path / "_last_checkpoint").write_text(checkpoint)
    assert drop_checksums(tmp_path) == 0
    assert OLD[0] in names(tmp_path)


def test_a_table_that_is_not_there(tmp_path: Path) -> None:
    assert drop_checksums(tmp_path / "_delta_log") == 0
