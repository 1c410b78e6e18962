"""What a batch does to the rows of one member of a group, before it is taken over."""

from __future__ import annotations

from dataclasses import dataclass, replace

from operators.batch_view import BatchView
from state.causes import Causes
from state.change_batch import I32, ChangeBatch


@dataclass(frozen=True, slots=True)
class Moved:
    """Changes of a member, what its table makes of them, and where they come from.

    cause: int32[changes], ascending, the number of each change's cause in `causes`, which may have others too.
    """

    changes: ChangeBatch
    view: BatchView
    cause: I32
    causes: Causes

    def alone(self) -> Moved:
        """Return the same with just its own causes, numbered without gaps as messages want them. Cost: O(changes)."""
        causes, cause = self.causes.named(self.cause)
        return Moved(replace(self.changes, cause=cause), self.view, cause, causes)
