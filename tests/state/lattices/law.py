"""The law of `state/lattices/lattice.py` as one check that every type calls, over all values of a tiny domain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any

import pytest

from state.lattices.lattice import Contradiction, Lattice

TogetherTrue = Callable[..., bool]
"""Whether statements can all be true of one history; others may contradict each other, or not be found to."""


def check_law(values: Sequence[Any], together: TogetherTrue | None = None, alike: bool = False) -> None:
    """Check the invariants, for all pairs and triples.

    alike: two final values may show the same and not be equal.
    """
    for value in values:
        check_value(value)
    order = {(i, j): one.leq(other) for i, one in enumerate(values) for j, other in enumerate(values)}
    for (i, one), (j, other) in product(enumerate(values), repeat=2):
        assert (one == other) == (order[i, j] and order[j, i])
        if one.final and order[i, j]:
            assert other.final and other.now == one.now, f"{one} is final, and evolves to {other}"
            assert alike or other == one
        if together is None or together(one, other):
            check_pair(
                one, other, [u for k, u in enumerate(values) if order[i, k] and order[j, k]], together is not None
            )
    bounds = {(i, j): upper(values[i], values[j]) for i, j in order}
    for i, j, k in product(range(len(values)), repeat=3):
        if together is None or together(values[i], values[j], values[k]):
            assert not (order[i, j] and order[j, k]) or order[i, k]
            left, right = upper(bounds[i, j], values[k]), upper(values[i], bounds[j, k])
            assert (left is None) == (right is None) and left == right


def check_value(value: Lattice) -> None:
    twin = value.copy()
    assert twin is not value and twin == value and value.leq(value)
    assert not twin.merge(value) and twin == value and repr(twin) == repr(value)


def check_pair(one: Any, other: Any, above: Sequence[Any], true: bool) -> None:
    bound, back = upper(one, other), upper(other, one)
    if bound is None:
        assert back is None and not above and not true, f"{one} and {other} do not contradict each other"
        contradicts(one, other)
        return
    assert bound == back and one.leq(bound) and other.leq(bound)
    assert bound is not one and bound is not other
    assert all(bound.leq(each) for each in above), f"{bound} is not the least that {one} and {other} evolve to"
    grown = one.copy()
    assert grown.merge(other) == (not other.leq(one)) and grown == bound


def contradicts(one: Any, other: Any) -> None:
    """Check that merging raises, names both, and changes neither."""
    before = repr(one), repr(other)
    with pytest.raises(Contradiction) as raised:
        one.merge(other)
    assert (repr(one), repr(other)) == before
    assert (raised.value.one, raised.value.other) == (one, other)
    assert all(name in str(raised.value) for name in before)


def check_meaning(values: Sequence[Any], outcomes: Iterable[Any], early: bool = True) -> None:
    """Check that a value is the set of outcomes that it admits: order is inclusion, merging is intersection.

    early: a value with one outcome left is final.
    """
    every = list(outcomes)
    held = [frozenset(i for i, outcome in enumerate(every) if value.admits(outcome)) for value in values]
    for value, left in zip(values, held, strict=True):
        assert left, value
        assert value.admits(value.now) or not any(outcome == value.now for outcome in every), value
        assert not value.final or len(left) == 1
        assert not early or value.final == (len(left) == 1), value
    for (one, mine), (other, theirs) in product(zip(values, held, strict=True), repeat=2):
        assert one.leq(other) == (theirs <= mine), (one, other)
        bound = upper(one, other)
        assert (bound is None) == (not mine & theirs), (one, other)
        if bound is not None:
            assert {i for i, outcome in enumerate(every) if bound.admits(outcome)} == mine & theirs


def upper(one: Any, other: Any) -> Any:
    """Return the least upper bound of two, None where they contradict each other, or either is None."""
    return None if one is None or other is None else one.bound(other)
