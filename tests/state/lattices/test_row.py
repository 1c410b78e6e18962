from __future__ import annotations

from itertools import product

from state.lattices.row import Row
from state.lattices.tick import Tick
from tests.state.lattices.law import check_law, contradicts
from tests.state.lattices.test_truth import TRUTHS

TICKS = [Tick(), Tick.of(None), Tick.of(1)]


def test_law() -> None:
    check_law([Row((tick.copy(), truth.copy())) for tick, truth in product(TICKS, TRUTHS)])


def test_a_merge_takes_effect_whole_or_not() -> None:
    contradicts(Row((Tick(), Tick.of(1))), Row((Tick.of(1), Tick.of(2))))
    row = Row((Tick(), Tick.of(1)))
    assert row.merge(Row((Tick.of(5), Tick()))) and row.now == (5, 1) and row.final
