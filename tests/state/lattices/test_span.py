from __future__ import annotations

from itertools import product
from math import inf

import pytest

from state.lattices.span import Span, difference
from state.lattices.span_of_ticks import maximum
from state.lattices.tick import Tick
from tests.state.lattices.law import check_law, check_meaning, contradicts, upper

SPANS = [
    Span(low, high, null, None if null else low) for low in range(3) for high in range(low, 3) for null in (False, True)
] + [Span.of(None)]
NUMBERS = range(-1, 4)


def outcomes(span: Span) -> list[int | None]:
    return [number for number in (None, *NUMBERS) if span.admits(number)]


def test_law() -> None:
    check_law(SPANS)
    check_meaning(SPANS, [None, *NUMBERS])


def test_the_unbounded_ones_obey_it_too() -> None:
    check_law([Span(), *(Span(low, inf, False, low) for low in range(3)), *map(Span.of, (None, 0, 1, 2, 3))])


def test_an_estimate_is_an_outcome() -> None:
    with pytest.raises(ValueError, match="is none of its outcomes"):
        Span(1, 2, False, 3)
    with pytest.raises(ValueError, match="is none of its outcomes"):
        Span(2, 1, False)
    estimates = [
        Span(low, 4, low < 2, now)
        for low in range(3)
        for now in (None, 0, 1, 2, 4)
        if Span(low, 4, low < 2, low).admits(now)
    ]
    for one, other in product(estimates, repeat=2):
        bound = one.copy()
        bound.merge(other)
        assert bound.admits(bound.now)
        if one.leq(other) and not other.leq(one):
            assert bound.now == other.now
        if other.leq(one):
            assert bound.now == one.now


def test_over_a_domain_with_ends_the_greatest_is_final_at_once() -> None:
    """Figure 2(b) has >=3 and =3 over 0..3: they are one set of outcomes."""
    assert maximum([Tick.of(3), Tick()], 0, 3) == Span.of(3)
    assert maximum([Tick.of(3), Tick()], 0, 3).final
    assert not maximum([Tick.of(2), Tick()], 0, 3).final


def test_differences_in_every_world() -> None:
    for one, other in product(SPANS, repeat=2):
        made = difference(one, other)
        assert one.now is None or other.now is None or made.now == one.now - other.now
        for x, y in product(outcomes(one), outcomes(other)):
            assert made.admits(None if x is None or y is None else x - y)
        assert not (one.final and other.final) or made.final


def test_differences_only_grow() -> None:
    for one, other, third in product(SPANS, repeat=3):
        if one.leq(other):
            assert difference(one, third).leq(difference(other, third))
            assert difference(third, one).leq(difference(third, other))


def test_what_has_no_common_outcome() -> None:
    contradicts(Span.of(1), Span.of(2))
    contradicts(Span(0, 1, False, 0), Span.of(None))
    assert upper(Span(0, 1, True), Span(2, 3, True)) == Span.of(None)
