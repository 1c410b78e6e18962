"""Answers by kind: their parts, their size, and what does not belong together."""

from __future__ import annotations

import pytest

from operators.answer import Extremum, Members, Tally
from overlay.answers.answer import SetAnswer, answer_of, over_quota, pair_of, parts_of


@pytest.mark.parametrize(
    "parts",
    [(Members((None, 1, 5)),), (Members(("a", "b")),), (Members(),), (Extremum(3), Tally.of(2, -(2**80)), Extremum())],
)
def test_parts_go_in_and_out(parts: tuple) -> None:
    assert parts_of(answer_of(parts)) == parts


def test_the_kind_follows_from_the_parts() -> None:
    assert isinstance(answer_of((Members((1,)),)), SetAnswer)
    assert answer_of((Tally.of(2, 7), Extremum(1))) == ((2, 7), 1)
    with pytest.raises(ValueError, match="expected them alone"):
        answer_of((Members((1,)), Extremum(1)))
    with pytest.raises(ValueError, match="expected a count and a total"):
        pair_of(3)


def test_the_size_of_texts_follows_the_members() -> None:
    answer = SetAnswer({"a", None})
    assert answer.size == 4
    answer.turn("bb", True)
    answer.turn("a", False)
    assert answer.size == 5 and answer == {"bb", None} and not over_quota(answer)
    unasked = SetAnswer({"a"})
    unasked.turn("bb", True)
    assert unasked.size == 9
