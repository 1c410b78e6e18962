"""When and what the soak kills: one SIGKILL a period, at a moment and of a kind that a seed chooses."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

WAYS = {"edge": 5, "driver": 3, "jvm": 3, "worker": 3, "broker": 2, "both_edges": 1, "jvm_and_edge": 1, "everything": 1}
"""What is killed, by how often."""


class Kill(NamedTuple):
    """A kill, so many seconds after the beginning."""

    at: float
    way: str


def schedule(seconds: float, every: float, seed: int) -> Iterator[Kill]:
    """Yield one kill in the first half of each period; the last period has none, so that the end is calm."""
    choose = random.Random(seed)
    for number in range(int(seconds // every) - 1):
        at = (number + choose.uniform(0.0, 0.5)) * every
        yield Kill(at, choose.choices(list(WAYS), list(WAYS.values()))[0])
