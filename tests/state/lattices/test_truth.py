from __future__ import annotations

from itertools import product

import pytest

from state.lattices.span_of_ticks import maximum
from state.lattices.tick import Tick
from state.lattices.truth import Truth, less
from tests.state.lattices.law import check_law, check_meaning, contradicts, upper
from tests.state.lattices.test_span import SPANS, outcomes

TRUTHS = [Truth(), Truth(estimate=True), Truth.of(True), Truth.of(False)]


def test_law() -> None:
    check_law(TRUTHS)
    check_meaning(TRUTHS, [True, False])
    contradicts(Truth.of(True), Truth.of(False))


def test_an_estimate_is_an_outcome() -> None:
    for wrong in ((False, True, True), (True, False, False), (False, False, False)):
        with pytest.raises(ValueError, match="is none of its outcomes"):
            Truth(*wrong)


def test_the_five_values_of_the_paper_are_no_lattice() -> None:
    """Temporarily true and temporarily false have upper bounds, and no least one."""
    final = {("?", "T"), ("?", "F"), ("t", "T"), ("t", "F"), ("f", "T"), ("f", "F")}
    order = final | {("?", "t"), ("?", "f")} | {(each, each) for each in "?tfTF"}
    above = [each for each in "?tfTF" if ("t", each) in order and ("f", each) in order]
    assert above == ["T", "F"]
    assert not [least for least in above if all((least, each) in order for each in above)]


def test_readings_of_two_places_differ_and_their_outcomes_do_not() -> None:
    """MAX(a) < MAX(b), where two places know other ticks: only of the arguments can the reading be merged."""
    a, b = [Tick.of(5), Tick()], [Tick.of(3), Tick()]
    other_a, other_b = [Tick(), Tick.of(1)], [Tick(), Tick.of(4)]
    spans = [maximum(ticks, 0, 9) for ticks in (a, b, other_a, other_b)]
    one, other = less(spans[0], spans[1]), less(spans[2], spans[3])
    assert (one.now, other.now) == (False, True) and not one.final and not other.final
    assert upper(one, other) == Truth()
    assert not less(upper(spans[0], spans[2]), upper(spans[1], spans[3])).now


def test_less_in_every_world() -> None:
    for one, other in product(SPANS, repeat=2):
        made = less(one, other)
        worlds = {x is not None and y is not None and x < y for x, y in product(outcomes(one), outcomes(other))}
        assert {outcome for outcome in (True, False) if made.admits(outcome)} == worlds
        for more in SPANS:
            assert not one.leq(more) or made.leq(less(more, other))
            assert not other.leq(more) or made.leq(less(one, more))
