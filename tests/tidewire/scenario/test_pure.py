from pathlib import Path

import pytest

from tidewire.scenario.pure import PureEngine
from tidewire.scenario.run import run_scenario
from tidewire.scenario.script import read_scenario

FOUND = sorted((Path(__file__).parents[2] / "scenarios").glob("**/*.jsonl"))
FILES = [path for path in FOUND if not read_scenario(path).unsupported]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_scenario_holds_on_the_pure_pipeline(path):
    assert run_scenario(path, read_scenario(path), PureEngine(virtual_edges=4)) is None
