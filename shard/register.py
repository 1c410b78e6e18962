"""Stage `register`: registrations, summaries and withdrawals take effect, and new subscriptions get their snapshots.

It runs before the batch's rows, so a snapshot holds exactly at the end of the batch before, and every change of
this batch is already covered by the widened summary: no gap, no overlap (architecture, section 4).

A registration widens the boxes of its channels; a summary puts its own in the place of all that its virtual edge
registered before it, since the edge knows what it still needs. Both stand in one partition, hence in order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from catalog.query.shape import Channel, Region
from catalog.schema.relation import Relation
from connectors.record import RawRecords
from operators.control import Withdraw, decode_control
from operators.operator import Answers
from operators.packed import Header, PackedRegistrations, PackedSummary, is_packed, unpack_sound
from operators.record_error import RecordError
from operators.region_fit import RegionFit
from shard.state import ShardState
from state.boxes import Boxes, hashes_of
from state.change_batch import I64
from state.errors import StateError

MANY = 2**31
REASONS_KEPT = 5
_LONGEST_REASON = 300


@dataclass(slots=True)
class Snapshot:
    """Answers for one virtual edge: `answers` has at i that of the registration `version[i]`."""

    version: I64
    answers: Answers


@dataclass(slots=True)
class _Asked:
    versions: list[int] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)


def take_registrations(
    state: ShardState, epoch: int, records: RawRecords | None, partitions: int = MANY
) -> dict[int, Snapshot]:
    """Apply `records` (in order) to the listeners and return a snapshot for each virtual edge that asked.

    Records of another epoch, or of a table that is no more, are counted and ignored: the edge registers again when a
    new epoch asks for it. `partitions` says how many virtual edges there are.
    Cost: O(registrations * log rows), and O(rows) for each new ordering; boxes: state/boxes.py.
    Raises StateError where a newer edge wrote a record.
    """
    taken = _Taken(state, epoch, partitions, RegionFit(state.relation))
    for i, value in enumerate(records.values if records is not None else []):
        if records is not None and value is not None:
            taken.take(value, records.topic, int(records.partition[i]), int(records.offset[i]))
    snapshots = {ve: _answer(state, regions) for ve, regions in sorted(taken.asked.items())}
    _forget_unheard(state)
    return snapshots


@dataclass(slots=True)
class _Taken:
    """The records of one batch as they are taken."""

    state: ShardState
    epoch: int
    partitions: int
    fit: RegionFit
    asked: dict[int, _Asked] = field(default_factory=dict)

    def take(self, value: bytes, topic: str, partition: int, offset: int) -> None:
        """Take one record."""
        try:
            record = unpack_sound(value) if is_packed(value) else decode_control(value)
        except RecordError as error:
            if error.newer:
                raise StateError(f"`{topic}` [{partition}] offset {offset} cannot be taken: {error}") from error
            record = None
        if isinstance(record, PackedRegistrations | PackedSummary):
            if not _concerns(record.header, self.epoch, self.state.relation):
                self.state.counters.ignored_registrations += 1
            elif isinstance(record, PackedSummary):
                _replace(self.state, record)
            else:
                self._listen(record)
        elif isinstance(record, Withdraw):
            self._withdraw(record)
        else:
            self.state.counters.ignored_registrations += 1
            self.state.counters.unreadable_registrations += 1
            self.state.hurt.add(partition)

    def _withdraw(self, record: Withdraw) -> None:
        if record.epoch != self.epoch:
            self.state.counters.ignored_registrations += 1
            return
        for channel in record.channels:
            self.state.listeners.get(channel, {}).pop(record.ve, None)

    def _listen(self, record: PackedRegistrations) -> None:
        """Let a virtual edge hear of the regions that fit, and note that it asks for their answers."""
        state, ve = self.state, record.header.ve
        self._pass_over(record.astray, "a shape that its record does not have")
        if not 0 <= ve < self.partitions:
            self._pass_over(len(record.regions), f"virtual edge {ve} of {self.partitions}")
            return
        versions, regions = self._fitting(record)
        if not regions:
            return
        by_channel = _by_channel(regions)
        state.table.listen(list(by_channel))
        for channel, wanted in by_channel.items():
            edges = state.listeners.setdefault(channel, {})
            edges[ve] = _widened(edges.get(ve, Boxes.none()), wanted)
        state.counters.registrations += len(regions)
        asked = self.asked.setdefault(ve, _Asked())
        asked.versions += versions
        asked.regions += regions

    def _fitting(self, record: PackedRegistrations) -> tuple[list[int], list[Region]]:
        """Return the registrations that fit; the others are counted."""
        reasons = [self.fit.why_not(region) for region in record.regions]
        if not any(reasons):
            return record.versions, record.regions
        for reason in filter(None, reasons):
            self._pass_over(1, reason)
        kept = [i for i, reason in enumerate(reasons) if not reason]
        return [record.versions[i] for i in kept], [record.regions[i] for i in kept]

    def _pass_over(self, count: int, reason: str) -> None:
        if not count:
            return
        counters = self.state.counters
        counters.ignored_registrations += count
        counters.unfit_registrations += count
        counters.unfit_reasons = sorted({*counters.unfit_reasons, reason[:_LONGEST_REASON]})[:REASONS_KEPT]


def _concerns(header: Header, epoch: int, relation: Relation) -> bool:
    """Whether the record is of this epoch and was compiled for this very table, not one that was dropped."""
    return header.epoch == epoch and header.catalog >= relation.born


def _by_channel(regions: Iterable[Region]) -> dict[Channel, list[Region]]:
    """Part regions by the channels of their shapes, which are told apart by identity: a record has each shape once."""
    by_shape: dict[int, list[Region]] = {}
    for region in regions:
        by_shape.setdefault(id(region.shape), []).append(region)
    by_channel: dict[Channel, list[Region]] = {}
    for alike in by_shape.values():
        for channel in alike[0].shape.channels:
            by_channel.setdefault(channel, []).extend(alike)
    return by_channel


def _widened(boxes: Boxes, regions: Iterable[Region]) -> Boxes:
    """Return boxes that cover `regions` too, those that some row can meet."""
    wanted = [region for region in regions if not region.empty]
    hashes = hashes_of([region.group for region in wanted])
    if any(isinstance(region.lo, bytes) for region in wanted):
        return boxes.widen(hashes)
    bounds = np.array([(region.lo, region.hi) for region in wanted], np.int64).reshape(-1, 2)
    return boxes.widen(hashes, bounds[:, 0], bounds[:, 1])


def _replace(state: ShardState, record: PackedSummary) -> None:
    """Take the boxes of the channels that the virtual edge listens to; what it has withdrawn stays withdrawn."""
    for channel, boxes in zip(record.header.channels, record.boxes, strict=True):
        edges = state.listeners.get(channel, {})
        if record.header.ve in edges:
            edges[record.header.ve] = boxes


def _answer(state: ShardState, asked: _Asked) -> Snapshot:
    return Snapshot(np.array(asked.versions, np.int64), state.table.snapshot(asked.regions))


def _forget_unheard(state: ShardState) -> None:
    unheard = [channel for channel, edges in state.listeners.items() if not edges]
    for channel in unheard:
        del state.listeners[channel]
    state.table.forget(unheard)
