"""How long a batch that is under way is waited for before the query is stopped.

A batch that is cut off begins anew at the next start, and would be cut off again: where a version that needs the gap
between two batches waits, for ever, and nobody would be told anything. So after each stop that cut one off the next one
waits twice as long, until one has cut off none. Whoever asks the engine itself to stop waits no longer than `least`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

_MOST_DOUBLINGS = 6


@dataclass
class Patience:
    """What is known of the stops before: how many in a row cut a batch off."""

    _cut_off: int = 0

    def seconds(self, least: float) -> float:
        """Return how long the next stop waits, where the first one waits for `least`."""
        return least * 2.0**self._cut_off

    def stopped(self, finished: bool) -> None:
        """Note whether a stop left every batch that was planned finished."""
        self._cut_off = 0 if finished else min(self._cut_off + 1, _MOST_DOUBLINGS)


def wait_of(seconds: float, least: float, stop: threading.Event) -> Callable[[], float]:
    """Return what says how many of `seconds` are left; once `stop` has been seen to be set, `least` at most."""
    deadline, seen = time.monotonic() + seconds, False

    def left() -> float:
        nonlocal deadline, seen
        now = time.monotonic()
        if stop.is_set() and not seen:
            deadline, seen = min(deadline, now + least), True
        return deadline - now

    return left
