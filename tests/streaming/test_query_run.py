from __future__ import annotations

import pytest

from streaming.query_run import Reading


def test_a_first_run_is_strict() -> None:
    reading = Reading.plan(["a", "r"], ["a", "r"], [], {})
    assert not reading.relaxed
    assert not reading.again


@pytest.mark.parametrize(
    ("wanted", "existing", "last", "relaxed"),
    [
        ("ar", "ar", "ar", False),
        ("abr", "ar", "ar", False),
        ("abr", "abr", "ar", True),
        ("r", "ar", "ar", True),
    ],
)
def test_a_run_is_relaxed_when_the_topics_that_exist_have_changed(
    wanted: str, existing: str, last: str, relaxed: bool
) -> None:
    reading = Reading.plan(wanted, existing, [], {topic: {"0": 1} for topic in last})
    assert reading.relaxed is relaxed
    assert reading.again is relaxed


def test_topics_to_reset_are_left_out_and_wanted_again() -> None:
    reading = Reading.plan("ar", "ar", ["a"], {"a": {}, "r": {}})
    assert reading.wanted == {"r"}
    assert reading.relaxed
    assert reading.again


def test_a_run_is_settled_once_a_batch_has_the_topics_wanted() -> None:
    reading = Reading.plan("abr", "ar", [], {"c": {}, "r": {}})
    assert not reading.settled({"c": {}, "r": {}})
    assert not reading.settled({"a": {}, "c": {}, "r": {}})
    assert not reading.settled({"r": {}})
    assert reading.settled({"a": {}, "r": {}})
    assert reading.settled({"a": {}, "b": {}, "r": {}})
