"""What a decoder makes of a batch of raw records: changes, dead letters and counts. Nothing is lost in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from connectors.dead_letter import DeadLetter
from connectors.unresolved import Unresolved
from state.change_batch import ChangeBatch

_SAMPLED_NAMES = 20
_SAMPLED_CHARACTERS = 64


@dataclass(slots=True)
class Decoded:
    """`changes`, `dead` and what was `ignored` are the records that came in, each in the order in which they came.

    ignored: records that say nothing about rows, such as a connector's heartbeats.
    settling: what hangs on stored rows; None where nothing does.
    unknown: names of members that are no columns, sampled from one record of the batch.
    seen: column name -> rows that had the member; a declared column that never comes is worth a warning.
    """

    changes: ChangeBatch
    dead: list[DeadLetter]
    unknown: list[str] = field(default_factory=list)
    seen: dict[str, int] = field(default_factory=dict)
    ignored: int = 0
    settling: Unresolved | None = None

    @property
    def rows(self) -> int:
        """Upserts among the changes."""
        return int(self.changes.live.sum())

    @property
    def deletes(self) -> int:
        """Deletes among the changes."""
        return len(self.changes) - self.rows

    @property
    def reasons(self) -> dict[str, int]:
        """Code of a dead letter -> how many have it."""
        counts: dict[str, int] = {}
        for letter in self.dead:
            counts[letter.code] = counts.get(letter.code, 0) + 1
        return counts


def sample_names(names: Sequence[str]) -> list[str]:
    """Return what is told of unknown members' names: the first 20, 64 characters of each."""
    return [name[:_SAMPLED_CHARACTERS] for name in names[:_SAMPLED_NAMES]]
