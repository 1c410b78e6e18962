"""The sweeps against every moment looked at by itself."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import examples
from tidewire.verification.recompute.history import FOREVER
from tidewire.verification.recompute.sweep import running_extremum, running_members, running_totals

intervals = st.tuples(st.integers(1, 9), st.integers(1, 6) | st.just(FOREVER), st.integers(1, 4))
drawn = st.lists(intervals, max_size=8).map(
    lambda those: sorted(
        (start, FOREVER if length == FOREVER else start + length, rank) for start, length, rank in those
    )
)
Held = list[tuple[int, int, int]]


def columns(held: Held) -> list[list[int]]:
    return [[interval[n] for interval in held] for n in range(3)]


def holding(held: Held, moment: int) -> list[int]:
    return [rank for start, end, rank in held if start <= moment < end]


@settings(max_examples=examples(200), deadline=None)
@given(drawn, st.booleans())
def test_the_extremum(held: Held, largest: bool) -> None:
    seqs, places = running_extremum(*columns(held), largest=largest)
    expected, before = [], None
    for moment in range(20):
        now = (max if largest else min)(holding(held, moment), default=None)
        if now != before:
            expected.append((moment, now))
        before = now
    assert list(zip(seqs, places, strict=True)) == expected


@settings(max_examples=examples(200), deadline=None)
@given(drawn)
def test_totals_and_members(held: Held) -> None:
    totals = {moment: (count, total) for moment, count, total in running_totals(*columns(held))}
    members = {moment: (gone, come) for moment, gone, come in running_members(*columns(held))}
    count = total = 0
    now: frozenset[int] = frozenset()
    for moment in range(20):
        count, total = totals.get(moment, (count, total))
        ranks = holding(held, moment)
        assert (count, total) == (len(ranks), sum(ranks))
        gone, come = members.get(moment, (frozenset(), frozenset()))
        assert gone <= now and not come & now
        now = now - gone | come
        assert now == set(ranks)
