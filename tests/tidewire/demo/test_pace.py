"""When events may be published."""

from __future__ import annotations

import time

from tidewire.demo.flights import FIRST_DAY
from tidewire.demo.pace import AsItHappened, FullSpeed


def test_as_it_happened_the_first_at_once_and_the_others_as_far_apart_as_they_were() -> None:
    pace = AsItHappened(FIRST_DAY, 60.0)
    assert pace.wait(0, -90.0, 0) <= 0, "half past ten the day before"
    assert 59 < pace.wait(1, -30.0, 0) <= 60, "an hour later, sixty times as fast"
    time.sleep(0.01)
    assert pace.wait(1, -30.0, 0) < 59.995
    assert pace.clock(0, -90.0) == "2013-07-07 22:30" and pace.about == "60 times as fast as they were"


def test_at_full_speed_no_more_are_under_way_than_may_be() -> None:
    pace = FullSpeed(1_000, 3)
    assert [pace.wait(number, 0.0, 0) > 0 for number in range(5)] == [False, False, False, True, True]
    assert pace.wait(4, 0.0, 1) > 0 and pace.wait(4, 0.0, 2) == 0
    assert pace.clock(9, 0.0) == "10 of 1,000"
