"""Scenarios of rows hold where a database is asked again after each publication, and do not where they are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tidewire.scenario.naive_rows import NaiveRows
from tidewire.scenario.run import run_scenario
from tidewire.scenario.script import read_scenario

FILES = sorted((Path(__file__).parents[2] / "scenarios" / "rows").glob("*.jsonl"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_they_hold(path: Path) -> None:
    assert run_scenario(path, read_scenario(path), NaiveRows()) is None


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ('[["Bremen", "2.5"], ["Bremen", "2.50"]]', '[["Bremen", "2.5"]]'),
        ('[["Oslo", "2.50"], [null, null]]', '[["Oslo", "2.50"], ["Oslo", "2.50"]]'),
        ('"notified": 0', '"notified": 1'),
        ('[["z"], ["x"], ["x"]], "ordered": true', '[["x"], ["z"], ["x"]], "ordered": true'),
    ],
)
def test_what_is_wrong_is_found(tmp_path: Path, right: str, wrong: str) -> None:
    [text] = [text for path in FILES if right in (text := path.read_text()) and path.stem != "conditions"][:1]
    path = tmp_path / "wrong.jsonl"
    path.write_text(text.replace(right, wrong, 1))
    failure = run_scenario(path, read_scenario(path), NaiveRows())
    assert failure is not None and ": expect " in failure.step
