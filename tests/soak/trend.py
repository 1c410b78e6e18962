"""Whether something grows: slopes through samples, where what is measured may begin anew in between.

The memory of a process that was killed starts again from little, so a line through all samples of a role says nothing,
and a line through one life mixes warming up with a leak. Two processes of the same age can be compared: what the later
one holds more has survived restarts, or grew with what the stack has been through. So MB are fitted as

    mb = a + over_time * hours of the run + with_age * hours of the process's age

over samples behind the warm-up of the run and of each process. `with_age` still has the rest of warming up in it; the
longest life is told beside it, from its warm-up to its end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

WARM_SECONDS = 120.0
"""How old a process must be before its memory counts."""


class Memory(NamedTuple):
    """The resident memory of process `life`, `age` seconds old, at `time` seconds of the run."""

    time: float
    life: int
    age: float
    mb: float


@dataclass(frozen=True, slots=True)
class MemoryTrend:
    """Slopes in MB/h, None where the samples cannot tell; `longest` is (minutes, MB when warm, MB at its end)."""

    mean: float
    peak: float
    samples: int
    lives: int
    over_time: float | None = None
    with_age: float | None = None
    longest: tuple[float, float, float] | None = None


def slope(points: Sequence[tuple[float, float]]) -> float | None:
    """Return the slope of the least-squares line through (hours, value); None below three different times.

    >>> slope([(0.0, 1.0), (0.5, 2.0), (1.0, 3.0)])
    2.0
    """
    if len({x for x, _ in points}) < 3:
        return None
    xs, ys = np.array(points).T
    xs = xs - xs.mean()
    return float(xs @ (ys - ys.mean()) / (xs @ xs))


def memory_trend(samples: Iterable[Memory], begin: float) -> MemoryTrend:
    """Return the trend of one role from `begin` seconds of the run on."""
    every = list(samples)
    warm = [one for one in every if one.time >= begin and one.age >= WARM_SECONDS]
    mean = float(np.mean([one.mb for one in warm])) if warm else 0.0
    lives = {one.life for one in warm}
    over_time, with_age = _slopes(warm, len(lives))
    peak = max((one.mb for one in every), default=0.0)
    return MemoryTrend(mean, peak, len(warm), len(lives), over_time, with_age, _longest(every))


def _slopes(warm: Sequence[Memory], lives: int) -> tuple[float | None, float | None]:
    """Return the slopes over time and with age; within one life the two cannot be told apart, so there is one."""
    if lives < 2:
        return slope([(one.time / 3600, one.mb) for one in warm]), None
    columns = np.array([(1.0, one.time / 3600, one.age / 3600) for one in warm])
    centred = columns[:, 1:] - columns[:, 1:].mean(axis=0)
    if len(warm) < 6 or np.linalg.matrix_rank(centred) < 2:
        return None, None
    found = np.linalg.lstsq(columns, np.array([one.mb for one in warm]), rcond=None)[0]
    return float(found[1]), float(found[2])


def _longest(samples: Sequence[Memory]) -> tuple[float, float, float] | None:
    lives: dict[int, list[Memory]] = defaultdict(list)
    for one in samples:
        if one.age >= WARM_SECONDS:
            lives[one.life].append(one)
    if not lives:
        return None
    life = max(lives.values(), key=lambda those: those[-1].age)
    return life[-1].age / 60, life[0].mb, life[-1].mb


@dataclass(frozen=True, slots=True)
class DiskTrend:
    """MB on disk: when the run's warm-up was over, at the end, most, and the slope in between in MB/h."""

    first: float
    last: float
    peak: float
    per_hour: float | None


def disk_trend(samples: Sequence[tuple[float, float]], begin: float) -> DiskTrend:
    """Return the trend of (seconds of the run, MB) from `begin` seconds on."""
    kept = [(time / 3600, mb) for time, mb in samples if time >= begin]
    if not kept:
        return DiskTrend(0.0, 0.0, max((mb for _, mb in samples), default=0.0), None)
    return DiskTrend(kept[0][1], kept[-1][1], max(mb for _, mb in samples), slope(kept))
