"""Changes that a database's connector publishes again, since it was killed before it had noted how far it was.

PostgreSQL says of a change where it stands: the commit before its transaction's, its own place, and the time of its own
commit (formats/debezium_position.py). Of what one connector puts into a partition the first two ascend together.
What stands before the place that was reached so, and is no later than what was had, is a repeat, and left out: the rows
have it already, and a value that it does not repeat ("unchanged") is no longer that of the row which is there now. What
stands at that very place is taken again, which changes nothing. The time tells a repeat from the new changes of a
database that was restored from an older copy.

A tombstone has no place; the one behind a delete that was left out belongs to it.

Cost: O(1) a change; a place and at most one key are kept for each partition and connector.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from connectors.unresolved import Position, Unresolved
from state.change_batch import Bool, ChangeBatch

Reached = tuple[int, Position, bytes | None]
"""A partition, the highest place and latest time there, and the key of a delete that was left out last."""
_NOWHERE = Position("", -1, -1, -1)


class Repeats:
    """What each connector has reached in each partition; read and brought up to date by `mark`."""

    def __init__(self, stored: Iterable[Reached] = ()) -> None:
        self._reached: dict[tuple[int, str], Position] = {}
        self._left_out: dict[tuple[int, str], bytes] = {}
        for partition, position, key in stored:
            self._reached[partition, position.source] = position
            if key is not None:
                self._left_out[partition, position.source] = key

    @classmethod
    def merged(cls, parts: Iterable[Repeats]) -> Repeats:
        """Return what is known of several parts of a table, each record of which is in one of them.

        A place of a part is that of a record which came before; so the greatest, and the latest time, are the table's.
        """
        both = cls()
        for part in parts:
            for place, position in part._reached.items():
                had = both._reached.get(place, _NOWHERE)
                further = position if position.place >= had.place else had
                both._reached[place] = further._replace(time=max(position.time, had.time))
            both._left_out |= part._left_out
        return both

    def mark(self, changes: ChangeBatch, settling: Unresolved) -> Bool:
        """Return bool[m]: the changes that are repeats; those of a partition are in the order of its offsets."""
        repeated = np.zeros(len(changes), np.bool_)
        if settling.positions or self._left_out:
            for i, partition in enumerate(changes.partition.tolist()):
                gone = None if changes.live[i] or settling.truncates[i] else changes.keys[i]
                position = settling.positions.get(i)
                if position is not None:
                    repeated[i] = self._is_repeat(partition, position, gone)
                elif gone is not None:
                    repeated[i] = self._ends_repeat(partition, gone)
        return repeated

    def stored(self) -> list[Reached]:
        """Return all: a constructor's argument."""
        return [(place[0], position, self._left_out.get(place)) for place, position in sorted(self._reached.items())]

    def _is_repeat(self, partition: int, position: Position, gone: bytes | None) -> bool:
        place = partition, position.source
        reached = self._reached.get(place, _NOWHERE)
        self._left_out.pop(place, None)
        if position.place < reached.place and position.time <= reached.time:
            if gone is not None:
                self._left_out[place] = gone
            return True
        self._reached[place] = position._replace(time=max(position.time, reached.time))
        return False

    def _ends_repeat(self, partition: int, gone: bytes) -> bool:
        for place, key in sorted(self._left_out.items()):
            if place[0] == partition and key == gone:
                del self._left_out[place]
                return True
        return False
