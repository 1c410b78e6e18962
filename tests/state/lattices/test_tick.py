from __future__ import annotations

from state.lattices.tick import Tick
from tests.state.lattices.law import check_law, check_meaning, contradicts
from tests.state.lattices.worlds import EVENTS, TICKS, UNKNOWN


def test_law() -> None:
    check_law(TICKS)
    check_meaning(TICKS, [None, *EVENTS])


def test_unknown_is_not_silent() -> None:
    assert (UNKNOWN.now, Tick.of(None).now) == (None, None)
    assert (UNKNOWN.final, Tick.of(None).final) == (False, True)


def test_two_publishers_at_one_tick_contradict_each_other() -> None:
    """So what merges publishers is keyed by (domain, tick): see `test_rows.py`."""
    contradicts(Tick.of(1), Tick.of(2))
