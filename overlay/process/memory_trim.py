"""Gives the system back what an edge has freed: the memory of its largest moments, when they are over.

A million registrations, a restored state and its snapshots pass through buffers of a few hundred MB. They are freed,
but glibc and Arrow keep freed memory for later, all of it below what is still in use. How much a step needed does not
follow from how many records it read (one may hold the snapshots of thousands), so any that did something counts.
"""

from __future__ import annotations

import ctypes

import pyarrow as pa

SECONDS = 2.0
"""So long it is at least from one time to the next."""


def give_back() -> None:
    """Return freed memory to the system, where the C library can. Cost: 60 ms a freed GB, 1 ms if there is nothing."""
    pa.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


class Rests:
    """The idle moments that are used to give back: the first after something was done, but not one after the other.

    Where a little comes all the time that is 1 ms in `SECONDS`, and what the next records have to ask for again.
    """

    def __init__(self) -> None:
        self._since = float("-inf")
        self._used = False

    def turn(self, worked: bool, now: float) -> bool:
        """Note a turn of the edge at `now` in seconds, which did something or not; return whether it gave back."""
        self._used |= worked
        if worked or not self._used or now < self._since + SECONDS:
            return False
        give_back()
        self._since, self._used = now, False
        return True
