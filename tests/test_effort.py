"""Few examples are drawn every day, all of them in thorough runs; only those are random."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.effort import DEEP, QUICK, THOROUGH, deep_examples, drawn_from, examples


@pytest.fixture(autouse=True)
def chosen() -> Iterator[None]:
    """The profile of this run is chosen again after the test."""
    before = settings.get_current_profile_name()
    yield
    settings.load_profile(before)


@pytest.mark.parametrize(("profile", "many", "dear"), [(QUICK, 20, 5), (DEEP, 20, 20), (THOROUGH, 400, 400)])
def test_as_many_as_the_profile_says(profile: str, many: int, dear: int) -> None:
    settings.load_profile(profile)
    assert (examples(400), deep_examples(400)) == (many, dear)


@pytest.mark.parametrize(("profile", "few", "dear"), [(QUICK, 8, 3), (DEEP, 8, 5), (THOROUGH, 8, 8)])
def test_where_there_are_few_most_are_drawn(profile: str, few: int, dear: int) -> None:
    settings.load_profile(profile)
    assert (examples(8), deep_examples(8)) == (few, dear)


@pytest.mark.parametrize(("profile", "same"), [(QUICK, True), (DEEP, True), (THOROUGH, False)])
def test_only_thorough_runs_draw_anew(profile: str, same: bool) -> None:
    settings.load_profile(profile)
    assert settings().derandomize is same
    assert (drawn_from().random() == drawn_from().random()) is same
