"""All histories of few ticks, and all that can be known of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from state.lattices.tick import Tick

LEAST, GREATEST = -1, 2
EVENTS = range(LEAST, GREATEST + 1)
UNKNOWN = Tick()
KNOWN = [Tick.of(None), *(Tick.of(event) for event in EVENTS)]
TICKS = [UNKNOWN, *KNOWN]


def partly_known(most: int) -> Iterator[list[Tick]]:
    """Give what can be known of histories of 1 to `most` ticks."""
    for length in range(1, most + 1):
        for ticks in product(TICKS, repeat=length):
            yield list(ticks)


def worlds(ticks: Sequence[Tick]) -> Iterator[list[int]]:
    """Give the events of each history that fits."""
    for world in product(*([tick] if tick.known else KNOWN for tick in ticks)):
        yield [tick.value for tick in world if tick.value is not None]  # type: ignore[misc]


def one_more(ticks: Sequence[Tick]) -> Iterator[list[Tick]]:
    """Give what is known when one more tick is."""
    for at, tick in enumerate(ticks):
        if not tick.known:
            for known in KNOWN:
                yield [*ticks[:at], known, *ticks[at + 1 :]]
