"""Random versions over tiny domains, and who looks at one moment after the other."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from tidewire.verification.recompute.history import FOREVER
from tidewire.verification.recompute.version import Version

MOMENTS = range(12)
"""All that `drawn_versions` makes begins and ends in these, but for what never ends."""


def drawn_versions(choose: random.Random, columns: Sequence[Sequence[Any]], keys: int = 4) -> list[Version]:
    """Return versions of rows (key, a value of each column), of a key one at a time, not in order."""
    made = []
    for key in range(keys):
        moments = sorted(choose.sample(MOMENTS[1:], choose.randrange(5)))
        for start, end in pairwise([*moments, FOREVER]):
            if choose.random() < 0.7:
                made.append(Version(start, end, (key,), (key, *map(choose.choice, columns))))
    choose.shuffle(made)
    return made


def held(versions: Iterable[Version], moment: int) -> list[Version]:
    """Return those that hold at a moment."""
    return [one for one in versions if one.start <= moment < one.end]


def rows_at(versions: Iterable[Version], moment: int) -> list[tuple[Any, ...]]:
    """Return the rows of a moment, sorted by their texts."""
    return sorted((one.row for one in held(versions, moment)), key=repr)


def check_apart(versions: Iterable[Version]) -> None:
    """Check that of one key there is one row at a time, and that no version is empty."""
    versions = list(versions)
    assert all(one.start < one.end for one in versions)
    for moment in MOMENTS:
        keys = [one.key for one in held(versions, moment)]
        assert len(keys) == len(set(keys)), (moment, keys)
