"""Equal large messages are one object, and not many are kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.push import answers
from overlay.push.answers import MOST_BYTES, SHARED_BYTES, SharedAnswers
from overlay.push.message import Told, answer_message


def body(name: str, n: int, size: int) -> dict[str, object]:
    return {"id": name, "version": 1, "n": n, "answer": "x" * size}


BODIES = st.builds(body, st.sampled_from("ab"), st.integers(0, 1), st.sampled_from([1, SHARED_BYTES, SHARED_BYTES * 2]))


@given(st.lists(st.tuples(BODIES, st.booleans()), max_size=20))
def test_it_says_what_it_would_say_alone(asked: list[tuple[dict[str, object], bool]]) -> None:
    shared = SharedAnswers()
    for one, conflated in asked:
        told = shared.message(one, conflated)
        assert told == answer_message(one, conflated)
        if len(told.line) > SHARED_BYTES:
            assert shared.message(dict(one), conflated) is told


def test_of_the_same_answer_it_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Told] = []

    def make(one: dict[str, object], conflated: bool) -> Told:
        made.append(answer_message(one, conflated))
        return made[-1]

    monkeypatch.setattr(answers, "answer_message", make)
    shared, large = SharedAnswers(), body("a", 1, SHARED_BYTES)
    for conflated in (False, True):
        for _ in range(300):
            assert shared.message(large, conflated) == answer_message(large, conflated)
    assert len(made) == 2
    shared.message(large | {"n": 2}, False)
    assert shared.message(large, False) == answer_message(large, False)


def test_what_is_kept_is_bounded() -> None:
    shared = SharedAnswers()
    for number in range(100):
        shared.message(body(str(number), 1, MOST_BYTES // 10), False)
        kept = [told.line for _, told in shared._kept.values()]
        assert 2 * sum(map(len, kept)) == shared._bytes <= MOST_BYTES
