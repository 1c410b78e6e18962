"""Streams as relations: rows that only come, each with the time at which it happened, and that nobody stores.

    CREATE STREAM trade (symbol VARCHAR, price DECIMAL(12,2), ts TIMESTAMP)
      WITH ('topic'='trades', 'event_time'='ts', 'lateness'='10 s', 'idle'='60 s')

Of each partition of the topic the *horizon* is the greatest event time so far less the lateness: no row before it
counts any more. A view groups a stream by windows of its event time; what it has for a window is final once the
horizons of all partitions have reached the window's end.
"""

from __future__ import annotations

from dataclasses import dataclass

SECOND = 1_000_000
"""Times and spans of streams are in microseconds, as the order codes of TIMESTAMPs are."""
HOUR = 3_600 * SECOND
WINDOWS = {"minute": 60 * SECOND, "hour": HOUR, "day": 24 * HOUR}
"""How long a window is, by the unit of DATE_TRUNC that makes it."""


@dataclass(frozen=True, slots=True)
class Stream:
    """What CREATE STREAM says beside columns, topic and format. Spans are in microseconds.

    event_time: the column, a TIMESTAMP, that says when a row happened.
    lateness: how much later than others of its partition a row may come.
    ahead: how far its event time may be after the time of its record.
    idle: after how long a partition in which nothing comes is taken to be silent; None: never.
    keep: how long after its end a window is kept; None: for ever.
    """

    event_time: str
    lateness: int
    ahead: int = HOUR
    idle: int | None = None
    keep: int | None = None


@dataclass(frozen=True, slots=True)
class Closing:
    """A column of a view, the start of the window of event time that a row is about; `unit` is the window's.

    Rows of a window are final as soon as the view's horizon is not before its end.
    held: how long after the window's start none of its rows goes because it is old, at least as long as the window;
    None: for ever.
    """

    column: str
    unit: str
    held: int | None = None

    def end(self, start: int) -> int:
        """Return when the window that begins at `start` ends.

        >>> Closing("hour", "hour").end(0) == HOUR
        True
        """
        return start + WINDOWS[self.unit]
