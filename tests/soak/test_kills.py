from __future__ import annotations

from tests.soak.kills import WAYS, schedule
from tests.stack.ways import Ways


def test_each_period_but_the_last_has_one_kill_in_its_first_half() -> None:
    kills = list(schedule(seconds=3600, every=60, seed=3))
    assert [int(kill.at // 60) for kill in kills] == list(range(59))
    assert all(kill.at % 60 <= 30 for kill in kills)


def test_an_hour_has_every_way_and_a_seed_the_same_ones() -> None:
    kills = list(schedule(3600, 60, 20_261))
    assert {kill.way for kill in kills} == WAYS.keys() and kills == list(schedule(3600, 60, 20_261))


def test_every_way_is_one_of_the_crash_test() -> None:
    assert all(callable(getattr(Ways, way)) for way in WAYS)


def test_a_run_shorter_than_two_periods_has_none() -> None:
    assert list(schedule(90, 60, 1)) == []
