"""The members of a DISTINCT through a batch: values that come, go, come back, and are too many."""

from __future__ import annotations

import pytest

from overlay.answers import quota
from overlay.answers.answer import SetAnswer
from tests.overlay.maintain.one_answer import OneAnswer


def test_members_that_leave_and_return_within_a_cause_are_no_change() -> None:
    world = OneAnswer("distinct", SetAnswer({1}))
    maintainer = world.follow()
    hits = [world.hit(1, -1, 1), world.hit(1, 1, 1), world.hit(2, 1, 1), world.hit(3, 1, 4), world.hit(3, -1, 1)]
    assert maintainer.take(hits, 0, 5, world.answers)
    assert world.told("n", "removed", "added", "at") == [(2, [1], [4], 3)]
    assert world.notifier.suppressed == 1 and world.stored.answer == {4}


@pytest.mark.parametrize("latest", [False, True])
def test_over_its_quota_it_holds_what_was_told_last(latest: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quota, "MEMBERS", 2)
    world = OneAnswer("distinct", SetAnswer({1}))
    maintainer = world.follow(latest)
    assert not maintainer.take([world.hit(1, 1, 2), world.hit(2, 1, 3)], 0, 2, world.answers)
    maintainer.end()
    assert world.stored.answer == ({1} if latest else {1, 2})
    assert world.told("added") == ([] if latest else [([2],)])
