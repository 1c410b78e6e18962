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

from state.errors import TidewireError
from tidewire.verification.records.journal import Record

Place = tuple[str, int]
"""(topic, partition)"""
_KINDS = ("progress", "epoch", "register", "withdraw")


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
            told = _read(record)
            if told is None:
                continue
            batch, announced = told
            self.announced = max(self.announced, announced)
            self.horizon = batch.at if self.horizon is None else max(self.horizon, batch.at)
            if batch.at not in seen and batch.at.batch >= 0:
                seen.add(batch.at)
                self.epochs.setdefault(batch.at.epoch, []).append(batch)
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


class UnreadableBatches(TidewireError):
    """A record of `batches` is none that can be judged by: without it nobody knows what a batch held."""

    code = "unreadable_batches"


def _read(record: Record) -> tuple[Batch, int] | None:
    """Return the batch that a record is about and the catalog version it announces; None for one about neither.

    Raises UnreadableBatches, which says where it stands.
    """
    newer = False
    try:
        body: dict[str, Any] = msgspec.json.decode(record.value or b"")
        kind = body.get("kind", "progress")
        newer = body.get("format", 1) != 1 or kind not in _KINDS
        if not newer:
            return _batch(body) if kind == "progress" else None
    except (msgspec.MsgspecError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
        pass  # told below
    what = "was written by a newer tidewire: verify with that version" if newer else "is none that an engine writes"
    raise UnreadableBatches(
        f"`batches` [{record.partition}] offset {record.offset} {what}. Expected a JSON object with epoch, batch, "
        f"catalog, and offsets from `start` to `end`, got {(record.value or b'')[:80]!r}. Without it nothing is judged."
    )


def _batch(body: dict[str, Any]) -> tuple[Batch, int]:
    at, announced = Position(body["epoch"], body["batch"]), body["catalog"]
    start, end = (_places(body.get(side, {})) for side in ("start", "end"))
    numbers = [*at, announced, body.get("holds", announced), *start.values(), *end.values()]
    if not all(type(number) is int and abs(number) < 2**63 for number in numbers):
        raise ValueError("not a number of 64 bits")
    return Batch(at, body.get("holds", announced), start, end), announced


def _places(offsets: dict[str, dict[str, int]]) -> dict[Place, int]:
    return {(topic, int(p)): offset for topic, partitions in offsets.items() for p, offset in partitions.items()}
