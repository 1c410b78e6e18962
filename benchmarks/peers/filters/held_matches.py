"""What rows met last: whoever keeps it looks up a change's new image only."""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.peers.filters.workload import ENTERED, LEFT, WITHIN

Hit = tuple[int, int, int]
"""Change, filter, kind."""


class HeldMatches:
    """Filters by row. A change costs O(filters of both images)."""

    def __init__(self) -> None:
        self._met: dict[int, set[int]] = {}

    def change(self, change: int, row: int, met: Iterable[int]) -> list[Hit]:
        """Take the filters that a row meets now; return which it left, entered, or stayed within."""
        before, now = self._met.get(row, set()), set(met)
        self._met[row] = now
        hits = [(change, each, LEFT) for each in before - now]
        return hits + [(change, each, WITHIN if each in before else ENTERED) for each in now]
