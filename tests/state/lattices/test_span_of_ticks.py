"""The aggregates in every world of up to 3 ticks: no outcome is lost, each span is the hull, and only grows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import pytest

from state.lattices.span import Span
from state.lattices.span_of_ticks import count, maximum, mean, minimum, total
from state.lattices.tick import Tick
from tests.state.lattices.worlds import GREATEST, LEAST, UNKNOWN, one_more, partly_known, worlds

Events = Sequence[int]
AGGREGATES: dict[str, tuple[Callable[[Sequence[Tick]], Span], Callable[[Events], int | Fraction | None]]] = {
    "max": (lambda ticks: maximum(ticks, LEAST, GREATEST), lambda events: max(events, default=None)),
    "min": (lambda ticks: minimum(ticks, LEAST, GREATEST), lambda events: min(events, default=None)),
    "count": (count, len),
    "sum": (lambda ticks: total(ticks, LEAST, GREATEST), lambda events: sum(events) if events else None),
    "avg": (
        lambda ticks: mean(ticks, LEAST, GREATEST),
        lambda events: Fraction(sum(events), len(events)) if events else None,
    ),
}


@pytest.mark.parametrize("name", AGGREGATES)
def test_in_every_world(name: str) -> None:
    aggregate, truth = AGGREGATES[name]
    for ticks in partly_known(3):
        span, outcomes = aggregate(ticks), {truth(events) for events in worlds(ticks)}
        numbers = [outcome for outcome in outcomes if outcome is not None]
        assert span.null == (None in outcomes)
        assert (span.low, span.high) == (min(numbers), max(numbers)) if numbers else span == Span.of(None)
        assert span.now == truth([tick.value for tick in ticks if tick.value is not None])
        assert span.final == (len(outcomes) == 1)
        for more in one_more(ticks):
            assert span.leq(aggregate(more))


def test_an_unknown_tick_may_be_silent() -> None:
    """With events of 1..9, 2 and one unknown tick sum up to 2 at least, and not to 3."""
    assert total([Tick.of(2), UNKNOWN], 1, 9) == Span(2, 11, False, 2)


def test_without_ends_only_bounds_that_events_give() -> None:
    infinite = float("inf")
    assert maximum([Tick.of(5), UNKNOWN], -infinite, infinite) == Span(5, infinite, False, 5)
    assert minimum([Tick.of(5), UNKNOWN], -infinite, infinite) == Span(-infinite, 5, False, 5)
    assert total([Tick.of(5), UNKNOWN], 0, infinite) == Span(5, infinite, False, 5)
