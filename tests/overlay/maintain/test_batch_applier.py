"""A batch's messages in bounded steps give what one step gives."""

from __future__ import annotations

import pytest

from operators.control import Progress
from overlay.maintain import batch_applier
from tests.overlay.edge_bench import Bench


@pytest.mark.parametrize("step", [1, 2, 3, 4096])
def test_the_size_of_steps_changes_nothing(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_applier, "STEP", step)
    bench = Bench()
    bench.live("a", "b")
    bench.take()
    bench.message(1, 5, 5, 7, None, 7)
    bench.control(Progress(5, 1, 0, "t"))
    told = [(d["n"], d["old"], d["new"]) for d in bench.lines() if d.get("id") == "a"]
    assert told == [(2, "10.25", "0.05"), (3, "0.05", "0.07"), (4, "0.07", None), (5, None, "0.07")]
    assert bench.edge.counters.suppressed == 2 and bench.edge.counters.messages == 5


def test_messages_of_shapes_and_groups_that_nobody_has_are_dropped() -> None:
    bench = Bench()
    bench.live("a", sql="SELECT MAX(price) FROM stock")
    bench.take()
    bench.message(1, 5, 6)
    bench.control(Progress(5, 1, 0, "t"))
    assert [d["kind"] for d in bench.lines()] == ["progress"]
