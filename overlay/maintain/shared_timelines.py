"""Timelines whose rows were looked up in a window, made once for the virtual edges of a process that make the same.

Two virtual edges make the same of a batch if they were sent the very same chunks, and have the very same chunks of
before to look up in (`maintain/sent_window.py`): which object each is, says so. The last few are kept.
Cost: O(chunks) to find one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from operators.timeline import SentRows, Timeline
from operators.wire.timeline import TimelineChunk

_KEPT = 8


class SharedTimelines:
    """The last timelines, by what they were made of, which is kept for as long."""

    def __init__(self) -> None:
        self._made: dict[tuple[int, ...], tuple[Sequence[TimelineChunk], Sequence[SentRows], Timeline]] = {}

    def of(
        self, chunks: Sequence[TimelineChunk], rows: Sequence[SentRows], make: Callable[[], Timeline]
    ) -> Timeline:  # fmt: skip
        """Return the timeline of these chunks, whose named rows are looked up in `rows`; `make` makes it."""
        name = (*map(id, chunks), len(chunks), *map(id, rows))
        found = self._made.get(name)
        if found is None:
            if len(self._made) >= _KEPT:
                del self._made[next(iter(self._made))]
            found = self._made[name] = (chunks, rows, make())
        return found[2]


SHARED = SharedTimelines()
