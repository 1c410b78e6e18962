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
    """Yield one kill in the first half of each period; the last period has none, so that the end is calm.

    Each round of as many kills as `WAYS` counts has every way so often, in an order of its own.
    """
    choose, ways = random.Random(seed), list[str]()
    for number in range(int(seconds // every) - 1):
        ways = ways or choose.sample(list(WAYS), sum(WAYS.values()), counts=WAYS.values())
        yield Kill((number + choose.uniform(0.0, 0.5)) * every, ways.pop())
