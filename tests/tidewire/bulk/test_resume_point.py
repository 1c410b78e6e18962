"""How far a registration came: of the same source only, and whole or not at all."""

from pathlib import Path

import pytest

from tidewire.bulk.resume_point import Reached, ResumePoint, UnwritableResume, source_of


def test_it_is_of_one_source(tmp_path: Path) -> None:
    point = ResumePoint(tmp_path / "r")
    assert point.read("a") is None
    reached = Reached("a", {0: 17, 3: 4}, 50)
    point.write(reached)
    assert point.read("a") == reached
    assert point.read("b") is None
    point.path.write_bytes(b"{")
    assert point.read("a") is None
    point.remove()
    point.remove()
    assert not list(tmp_path.iterdir())


def test_a_file_that_changes_is_another_source(tmp_path: Path) -> None:
    path = tmp_path / "subs.csv"
    path.write_text("a")
    first = source_of(path, "template")
    assert source_of(path, "template") == first != source_of(path, "another")
    path.write_text("ab")
    assert source_of(path, "template") != first
    assert "none" in source_of(tmp_path / "none")


def test_where_it_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(UnwritableResume, match="--resume"):
        ResumePoint(tmp_path / "no" / "r").write(Reached("a", {}))
