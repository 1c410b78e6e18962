"""Where the changes of a batch come from: one row for each record that changed something, in order.

What has one cause happened at once: all rows that a truncate deletes, or the old and the new row of a changed key.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from state.change_batch import I32, I64, ChangeBatch


@dataclass(slots=True)
class Causes:
    """k causes, by the numbers that `ChangeBatch.cause` has.

    topics: the topics that they come from.  topic: int32[k], place among them.
    partition, offset: int32[k], int64[k].
    """

    topics: list[str]
    topic: I32
    partition: I32
    offset: I64

    def __len__(self) -> int:
        return len(self.offset)

    @classmethod
    def of(cls, topic: str, changes: ChangeBatch) -> Causes:
        """Return the causes of changes that all come from `topic`; those of one cause stand side by side.

        Cost: nothing is copied where each change is its own cause, else O(changes).
        """
        partition, offset = changes.partition, changes.offset
        if changes.shared:
            first = np.flatnonzero(np.diff(changes.cause, prepend=-1))
            partition, offset = partition[first], offset[first]
        return cls([topic], np.zeros(len(offset), np.int32), partition, offset)

    def named(self, cause: I32) -> tuple[Causes, I32]:
        """Return the causes that `cause`, ascending numbers of these, names, and the number of each among them.

        Cost: O(changes); nothing is copied where all are named once.
        """
        begins = np.diff(cause, prepend=-1) > 0
        named = cause[begins]
        if len(named) == len(self) == len(cause):
            return self, cause
        place = np.cumsum(begins, dtype=np.int32) - np.int32(1)
        return Causes(self.topics, self.topic[named], self.partition[named], self.offset[named]), place
