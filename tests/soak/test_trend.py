"""Slopes: what survives restarts is told apart from what begins anew with each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.soak.trend import Memory, disk_trend, memory_trend, slope


def lives(
    per_hour: float, per_hour_of_age: float, warm_up: float = 50.0, times: tuple[int, ...] = (0, 700, 1500, 2900)
) -> Iterator[Memory]:
    """Yield samples of an hour in which the process was killed at `times`, and slow to take its first MB."""
    for now in range(10, 3600, 10):
        life = max(begin for begin in times if begin < now)
        age = now - life
        young = max(0.0, 1 - age / 100) * warm_up
        yield Memory(now, life, age, 200 + per_hour * now / 3600 + per_hour_of_age * age / 3600 - young)


@pytest.mark.parametrize(("per_hour", "per_hour_of_age"), [(0.0, 0.0), (30.0, 0.0), (0.0, 60.0), (-10.0, 25.0)])
def test_growth_of_the_run_and_growth_with_age_are_told_apart(per_hour: float, per_hour_of_age: float) -> None:
    trend = memory_trend(lives(per_hour, per_hour_of_age), begin=0)
    assert trend.over_time == pytest.approx(per_hour, abs=1e-6)
    assert trend.with_age == pytest.approx(per_hour_of_age, abs=1e-6)
    assert trend.lives == 4


def test_one_life_has_one_slope() -> None:
    trend = memory_trend(lives(12.0, 8.0, times=(0,)), begin=900)
    assert trend.over_time == pytest.approx(20.0) and trend.with_age is None and trend.lives == 1


def test_processes_that_never_get_warm_have_no_slope() -> None:
    trend = memory_trend(lives(12.0, 8.0, times=tuple(range(0, 3600, 60))), begin=0)
    assert (trend.over_time, trend.with_age, trend.longest, trend.samples) == (None, None, None, 0)


def test_lives_of_one_sample_each_and_the_same_age_leave_age_open() -> None:
    trend = memory_trend([Memory(600.0 * n, n, 300.0, 100.0 + n) for n in range(9)], begin=0)
    assert trend.over_time is None and trend.with_age is None


def test_the_longest_life_is_told_from_its_warm_up_to_its_end() -> None:
    trend = memory_trend(lives(0.0, 60.0), begin=0)
    assert trend.longest == pytest.approx((1400 / 60, 202.0, 200 + 60 * 1400 / 3600))


def test_a_slope_needs_three_times() -> None:
    assert slope([(1.0, 5.0), (2.0, 6.0), (2.0, 7.0)]) is None


def test_disk_counts_from_the_end_of_the_warm_up_and_its_peak_always() -> None:
    trend = disk_trend([(0, 900.0), (1800, 100.0), (2700, 110.0), (3600, 120.0)], begin=900)
    assert (trend.first, trend.last, trend.peak) == (100.0, 120.0, 900.0)
    assert trend.per_hour == pytest.approx(40.0)
