"""The sweep against every moment looked at by itself."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tidewire.verification.answers import Answers, running_extremum
from tidewire.verification.history import FOREVER

intervals = st.tuples(st.integers(1, 9), st.integers(1, 6) | st.just(FOREVER), st.integers(1, 4))


@settings(max_examples=200, deadline=None)
@given(st.lists(intervals, max_size=8), st.booleans())
def test_the_sweep_finds_every_change(drawn: list[tuple[int, int, int]], largest: bool) -> None:
    held = sorted((start, FOREVER if length == FOREVER else start + length, rank) for start, length, rank in drawn)
    seqs, places = running_extremum(*([i[n] for i in held] for n in range(3)), largest=largest)
    expected, before = [], None
    for moment in range(20):
        ranks = [rank for start, end, rank in held if start <= moment < end]
        now = (max if largest else min)(ranks, default=None)
        if now != before:
            expected.append((moment, now))
        before = now
    assert list(zip(seqs, places, strict=True)) == expected


def test_answers_at_and_between() -> None:
    answers = Answers([3, 5, 9], ["a", None, "b"])
    assert [answers.at(seq) for seq in (0, 2, 3, 4, 5, 8, 9, 99)] == [None, None, "a", "a", None, None, "b", "b"]
    assert answers.between(3, 9) == [(5, "a", None), (9, None, "b")]
    assert answers.between(0, 3) == [(3, None, "a")]
    assert answers.between(9, 3) == []
