"""Aggregates over ticks of which some are unknown, as spans: each the hull of what can come out.

    k events known, their sum s; u ticks unknown, each of which is silent or an event in least..greatest

    MAX     greatest known .. greatest        NULL too if k = 0
    COUNT   k .. k + u
    SUM     s + u * min(least, 0) .. s + u * max(greatest, 0)
    AVG     the extremes have all u unknown at one end, or none of them

An unknown tick may be silent. So the least that a sum can become moves by min(least, 0) and not by `least` with each.
*Cost*: O(ticks).
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from state.lattices.span import Number, Span
from state.lattices.tick import Tick


def maximum(ticks: Iterable[Tick], least: Number, greatest: Number) -> Span:
    """Return what MAX can be; NULL of no event."""
    known, unknown = _counted(ticks)
    if not unknown or not known:
        return Span.of(max(known, default=None)) if not unknown else Span(least, greatest)
    most = max(known)
    return Span(most, greatest, False, most)


def minimum(ticks: Iterable[Tick], least: Number, greatest: Number) -> Span:
    """Return what MIN can be; NULL of no event."""
    known, unknown = _counted(ticks)
    if not unknown or not known:
        return Span.of(min(known, default=None)) if not unknown else Span(least, greatest)
    fewest = min(known)
    return Span(least, fewest, False, fewest)


def count(ticks: Iterable[Tick]) -> Span:
    """Return how many events there can be."""
    known, unknown = _counted(ticks)
    return Span(len(known), len(known) + unknown, False, len(known))


def total(ticks: Iterable[Tick], least: Number, greatest: Number) -> Span:
    """Return what SUM can be; NULL of no event, so that where none is known either at least one comes or none."""
    known, unknown = _counted(ticks)
    if not known:
        lows, highs = (least, least * unknown), (greatest, greatest * unknown)
        return Span(min(lows), max(highs)) if unknown else Span.of(None)
    held = sum(known)
    return Span(held + unknown * min(least, 0), held + unknown * max(greatest, 0), False, held)


def mean(ticks: Iterable[Tick], least: int | Fraction, greatest: int | Fraction) -> Span:
    """Return what AVG can be, exactly; NULL of no event."""
    known, unknown = _counted(ticks)
    if not known:
        return Span(least, greatest) if unknown else Span.of(None)
    held, here = Fraction(sum(known)), len(known)
    with_least, with_greatest = (Fraction(held + unknown * end, here + unknown) for end in (least, greatest))
    now = held / here
    return Span(min(now, with_least), max(now, with_greatest), False, now)


def _counted(ticks: Iterable[Tick]) -> tuple[list[int | Fraction], int]:
    """Return the events that are known, and how many ticks are unknown."""
    known: list[int | Fraction] = []
    unknown = 0
    for tick in ticks:
        if not tick.known:
            unknown += 1
        elif isinstance(tick.value, int | Fraction):
            known.append(tick.value)
    return known, unknown
