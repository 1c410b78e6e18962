"""Scenarios on a real stack: they share it, and each meets it as if it were new."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidewire.scenario.engine import Refusal
from tidewire.scenario.run import run_scenario
from tidewire.scenario.script import read_scenario
from tidewire.scenario.stack import StackEngine, embedded_engines

FILE = Path(__file__).parents[2] / "scenarios" / "policies.jsonl"
ASKED = "SELECT MIN(y) FROM t"


def rows_of(engine: StackEngine, id: str) -> list[object]:
    return [delivery["new"] for delivery in engine.deliveries(id)]


@pytest.mark.stack
@pytest.mark.timeout(1800)
def test_scenarios_share_a_stack_and_know_nothing_of_each_other() -> None:
    with embedded_engines() as make:
        with make() as first:
            first.declare("CREATE TABLE t (id INTEGER PRIMARY KEY, y INTEGER)")
            assert first.subscribe("a", ASKED) is None
            first.publish("t", [{"id": 1, "y": 7}])
            assert rows_of(first, "a") == [None, 7]
            for _ in range(2):
                first.unsubscribe("a")
                assert first.subscribe("a", ASKED) is None
                assert [delivery["kind"] for delivery in first.deliveries("a")] == ["ended", "snapshot"]
        with make() as second:
            refused = second.subscribe("a", ASKED)
            assert isinstance(refused, Refusal) and refused.code == "unknown_table"
            assert second.deliveries("a") == []
            second.declare("CREATE TABLE t (id INTEGER PRIMARY KEY, y DOUBLE)")
            assert second.subscribe("a", ASKED) is None
            assert rows_of(second, "a") == [None]
            second.publish("t", [{"id": 2, "y": 9}])
            second.restart()
            second.delete("t", [{"id": 2}])
            assert rows_of(second, "a") == [9, None]
        with make() as third:
            assert run_scenario(FILE, read_scenario(FILE), third) is None
