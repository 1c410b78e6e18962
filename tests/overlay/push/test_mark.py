"""Marks: written and read again, and nothing else is read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.push.mark import Mark, read_mark

heard = st.none() | st.tuples(st.integers(0, 10**18 - 1), st.integers(0, 10**18 - 1))


@given(st.integers(-1, 10**9), st.lists(heard, min_size=1, max_size=5))
def test_it_comes_back(epoch: int, places: list[tuple[int, int] | None]) -> None:
    mark = Mark(epoch, tuple(places))
    assert read_mark(mark.text, len(places)) == mark
    assert read_mark(mark.text, len(places) + 1) is None


def test_its_text() -> None:
    assert Mark(3, ((7, 2), None)).text == "3:7.2,-"


@pytest.mark.parametrize(
    "text", ["", "1", "1:", "1:2", "1:2.3,", "-2:1.1", "1:1.1\n", "1:\u0661.1", "1:" + "9" * 19 + ".1", "x:1.1"]
)
def test_others_are_none(text: str) -> None:
    assert read_mark(text, 1) is None


@given(st.text(max_size=40))
def test_any_text_is_read_or_not(text: str) -> None:
    mark = read_mark(text, 1)
    assert mark is None or mark.text.split(":")[0] == str(mark.epoch)
