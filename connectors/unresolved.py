"""What a decoder cannot know of a batch of changes, since it hangs on the rows that are stored."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from state.change_batch import I64, Bool


class Position(NamedTuple):
    """The connector, the commit before the change's (0: none is known), its own place, and its time in microseconds."""

    source: str
    commit: int
    own: int
    time: int

    @property
    def place(self) -> tuple[int, int]:
        """What ascends."""
        return self.commit, self.own


@dataclass(slots=True)
class Unresolved:
    """Marks of m changes, by which a shard settles them (`shard/resolve.py`).

    truncates: bool[m], the change empties the table (its key is empty, it is not live).
    unchanged: bool[columns, m], members that the stored row must have, and whose value is not known without it.
    origins: change -> key of the row that it found, where it left it under another key.
    moments: change -> what names it in the source's log; a row may be deleted and created in one moment.
    records: int64[m], place of each change's record among those of the batch.
    positions: change -> where it stands in the source's log, where that is known (`debezium_position.py`).
    """

    truncates: Bool
    unchanged: Bool
    origins: dict[int, bytes]
    moments: dict[int, bytes]
    records: I64
    positions: dict[int, Position] = field(default_factory=dict)
