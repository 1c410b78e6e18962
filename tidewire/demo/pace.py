"""When an event of a story is published: as far apart as it happened, or as fast as it is read."""

from __future__ import annotations

import datetime as dt
import time
from dataclasses import dataclass, field
from typing import Protocol

_LOOK_SECONDS = 0.005


class Pace(Protocol):
    """`number` counts a story's events from 0; `covered` is how many of them stand in batches."""

    @property
    def about(self) -> str:
        """How fast that is, as a person reads it behind "publishing …"."""
        ...

    def wait(self, number: int, minute: float, covered: int) -> float:
        """Return in how many seconds to ask again whether the event may be published; 0 or less: now."""
        ...

    def clock(self, number: int, minute: float) -> str:
        """Return how far the story is with this event."""
        ...


@dataclass(slots=True)
class AsItHappened:
    """`speed` times as fast as it happened, from the story's first day on; the first event goes out at once."""

    first: dt.date
    speed: float
    _began: tuple[float, float] | None = field(default=None, init=False)
    """When the first event was published, and its minute."""

    @property
    def about(self) -> str:
        """How many times as fast."""
        return f"{self.speed:,.0f} times as fast as they were"

    def wait(self, number: int, minute: float, covered: int) -> float:
        """Return the seconds until it is due."""
        now = time.monotonic()
        if self._began is None:
            self._began = now, minute
        began, first = self._began
        return began + (minute - first) * 60 / self.speed - now

    def clock(self, number: int, minute: float) -> str:
        """Return the time in the data."""
        moment = dt.datetime.combine(self.first, dt.time()) + dt.timedelta(minutes=minute)
        return f"{moment:%Y-%m-%d %H:%M}"


@dataclass(frozen=True, slots=True)
class FullSpeed:
    """At once, while fewer than `most` of the `events` that were published are in no batch yet.

    So the engine sets the speed, and while it is dead `most` pile up.
    """

    events: int
    most: int

    @property
    def about(self) -> str:
        """As fast as the engine reads."""
        return "as fast as they are read"

    def wait(self, number: int, minute: float, covered: int) -> float:
        """Return a moment's pause while too many are under way."""
        return _LOOK_SECONDS if number - covered >= self.most else 0.0

    def clock(self, number: int, minute: float) -> str:
        """Return how many are published."""
        return f"{number + 1:,} of {self.events:,}"
