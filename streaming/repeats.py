"""Changes that a database's connector publishes again, since it was killed before it had noted how far it was.

PostgreSQL says of a change where it stands: the commit before its transaction's, its own place, and the time of its own
commit (`source.sequence` and `source.ts_us`). Within a partition the first two ascend together. What stands before the
place that the partition has reached, and is no later than what it has had, is a repeat, and left out: the rows have it
already, and a value that it does not repeat ("unchanged") is no longer that of the row which is there now. What stands
at that very place is taken again, which changes nothing. The time tells a repeat from the new changes of a database
that was restored from an older copy.

A tombstone has no place; one right behind a delete that was left out belongs to it.

Cost: O(1) a change; two integers, a time and a key are kept for each partition.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from connectors.settling import Settling
from state.change_batch import Bool, ChangeBatch

Reached = tuple[int, int, int, bytes | None]
"""The highest place (commit, own), the latest time, and the key of a delete that was left out last."""


class Repeats:
    """What each partition has reached; read and brought up to date by `mark`."""

    def __init__(self, stored: Mapping[int, Reached] | None = None) -> None:
        self._reached = dict(stored or {})

    def mark(self, changes: ChangeBatch, settling: Settling) -> Bool:
        """Return bool[m]: the changes that are repeats; those of a partition are in the order of its offsets."""
        repeated = np.zeros(len(changes), np.bool_)
        if settling.positions or any(reached[3] is not None for reached in self._reached.values()):
            for i, partition in enumerate(changes.partition.tolist()):
                gone = None if changes.live[i] or settling.truncates[i] else changes.keys[i]
                position = settling.positions.get(i)
                if position is None:
                    repeated[i] = self._ends_repeat(partition, gone)
                else:
                    repeated[i] = self._is_repeat(partition, position, gone)
        return repeated

    def stored(self) -> dict[int, Reached]:
        """Return all: a constructor's argument."""
        return dict(sorted(self._reached.items()))

    def _is_repeat(self, partition: int, position: tuple[int, int, int], gone: bytes | None) -> bool:
        commit, own, time = position
        highest_commit, highest, latest, _ = self._reached.get(partition, (-1, -1, -1, None))
        repeat = (commit, own) < (highest_commit, highest) and time <= latest
        place = (highest_commit, highest) if repeat else (commit, own)
        self._reached[partition] = (*place, max(time, latest), gone if repeat else None)
        return repeat

    def _ends_repeat(self, partition: int, gone: bytes | None) -> bool:
        reached = self._reached.get(partition)
        if reached is None or reached[3] is None:
            return False
        self._reached[partition] = (*reached[:3], None)
        return reached[3] == gone
