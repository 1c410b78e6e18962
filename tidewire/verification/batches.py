"""The topic `batches`: what each committed batch of each epoch held, and how far the log can be judged.

A batch's record is repeated while the engine idles; the first one counts. The catalog version in force for a batch is
what its first record says in `holds`, or without that in `catalog`. Where the topic's own beginning is gone, everything
below the first known start counts as one batch before it: at its end the table's content is the same, whatever the
cuts were.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from tidewire.verification.journal import Record

Place = tuple[str, int]
"""(topic, partition)"""


class Position(NamedTuple):
    """A batch of an epoch; compares in the order in which they were. Batch -1 is before the first."""

    epoch: int
    batch: int


@dataclass(frozen=True, slots=True)
class Batch:
    """One committed batch: half-open offset ranges by (topic, partition)."""

    at: Position
    catalog: int
    start: dict[Place, int]
    end: dict[Place, int]


class Batches:
    """All batches by epoch, in order. `horizon` is the last position there is; nothing beyond it is judged."""

    def __init__(self, records: Iterable[Record]) -> None:
        self.epochs: dict[int, list[Batch]] = {}
        self.horizon: Position | None = None
        self.announced = -1
        seen: set[Position] = set()
        for record in records:
            if record.value is None:
                continue
            body: dict[str, Any] = msgspec.json.decode(record.value)
            at = Position(body["epoch"], body["batch"])
            self.announced = max(self.announced, body["catalog"])
            self.horizon = at if self.horizon is None else max(self.horizon, at)
            if at not in seen and at.batch >= 0:
                seen.add(at)
                batch = Batch(
                    at, body.get("holds", body["catalog"]), _places(body.get("start", {})), _places(body.get("end", {}))
                )
                self.epochs.setdefault(at.epoch, []).append(batch)
        for batches in self.epochs.values():
            batches.sort(key=lambda batch: batch.at)
            self._leave_out_the_blind(batches)
        self.epochs = {epoch: batches for epoch, batches in self.epochs.items() if batches}

    def _leave_out_the_blind(self, batches: list[Batch]) -> None:
        """Leave out batches that were told without their ranges, with all before them; the last ones move the horizon.

        An engine tells them so that were gone from its log when it came to them.
        """
        while batches and not batches[-1].end:
            blind = batches.pop()
            if self.horizon == blind.at:
                self.horizon = batches[-1].at if batches else Position(blind.at.epoch, blind.at.batch - 1)
        last = max((i for i, batch in enumerate(batches) if not batch.end), default=-1)
        del batches[: last + 1]

    def missing(self) -> list[Position]:
        """Return the batches between the first and the last of their epoch that have no record."""
        lost: list[Position] = []
        for epoch, batches in self.epochs.items():
            there = {batch.at.batch for batch in batches}
            lost += [Position(epoch, n) for n in range(min(there), max(there)) if n not in there]
        return lost

    def floor(self, epoch: int) -> int:
        """Return the batch at whose end the input of `epoch` is known: -1, or the one before the first that is left."""
        batches = self.epochs.get(epoch)
        return batches[0].at.batch - 1 if batches else -1

    def catalog_at(self, at: Position) -> int:
        """Return the catalog version of the batch after `at`, or of the last one there is; -1 if there is none."""
        batches = self.epochs.get(at.epoch, [])
        place = bisect.bisect_right(batches, at.batch, key=lambda batch: batch.at.batch)
        return batches[min(place, len(batches) - 1)].catalog if batches else -1


def _places(offsets: dict[str, dict[str, int]]) -> dict[Place, int]:
    return {(topic, int(p)): offset for topic, partitions in offsets.items() for p, offset in partitions.items()}
