from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from connectors.unresolved import Position

PLACES = st.tuples(st.integers(0, 2), st.integers(0, 2))


@given(PLACES, PLACES, st.integers(0, 3), st.integers(0, 3))
def test_a_place_ascends_by_the_commit_then_by_its_own_and_never_by_time(
    one: tuple[int, int], other: tuple[int, int], time: int, other_time: int
) -> None:
    first, second = Position("pg", *one, time), Position("pg", *other, other_time)
    assert (first.place < second.place) is (one < other)
    assert (first.place == second.place) is (one == other)
