"""Equal large messages are one object, and not many are kept."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from overlay.push.answers import MOST_BYTES, SHARED_BYTES, SharedAnswers
from overlay.push.message import answer_message


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
            assert shared.message(dict(one), conflated).line is told.line


def test_what_is_kept_is_bounded() -> None:
    shared = SharedAnswers()
    for number in range(100):
        shared.message(body(str(number), 1, MOST_BYTES // 10), False)
        assert sum(map(len, shared._lines.values())) == shared._bytes <= MOST_BYTES
