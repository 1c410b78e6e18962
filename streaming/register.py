"""Stage `register`: registrations, summaries and withdrawals take effect, and new subscriptions get their snapshots.

It runs before the batch's rows, so a snapshot holds exactly at the end of the batch before, and every change of
this batch is already covered by the widened summary: no gap, no overlap (architecture, section 4).

A registration widens the boxes of its channels; a summary puts its own in the place of all that its virtual edge
registered before it, since the edge knows what it still needs. Both stand in one partition, hence in order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec
import numpy as np

from catalog.relation import Relation
from catalog.shape import Channel, Region
from connectors.record import RawRecords
from operators.control import Withdraw, decode_control
from operators.operator import Answers
from operators.packed import Header, PackedError, PackedRegistrations, PackedSummary, is_packed, unpack
from state.boxes import Boxes, hashes_of
from state.change_batch import I64
from state.errors import StateError
from streaming.shard_state import ShardState


@dataclass(slots=True)
class Snapshot:
    """Answers for one virtual edge: `answers` has at i that of the registration `version[i]`."""

    version: I64
    answers: Answers


@dataclass(slots=True)
class _Asked:
    versions: list[int] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)


def take_registrations(state: ShardState, epoch: int, records: RawRecords | None) -> dict[int, Snapshot]:
    """Apply `records` (in order) to the listeners and return a snapshot for each virtual edge that asked.

    Records of another epoch, of a table that is no more, or that cannot be read are counted and ignored: the
    edge registers again when a new epoch asks for it.
    Cost: O(registrations * log rows), and O(rows) for each new ordering; boxes: state/boxes.py.
    """
    asked: dict[int, _Asked] = {}
    for value in records.values if records is not None else []:
        if value is not None:
            _take_one(state, epoch, value, asked)
    snapshots = {ve: _answer(state, regions) for ve, regions in sorted(asked.items())}
    _forget_unheard(state)
    return snapshots


def _take_one(state: ShardState, epoch: int, value: bytes, asked: dict[int, _Asked]) -> None:
    try:
        record = unpack(value) if is_packed(value) else decode_control(value)
    except (PackedError, StateError, msgspec.DecodeError):
        state.counters.ignored_registrations += 1
        return
    if isinstance(record, PackedRegistrations) and _valid(record.header, epoch, state.relation):
        _listen(state, record, asked.setdefault(record.header.ve, _Asked()))
    elif isinstance(record, PackedSummary) and _valid(record.header, epoch, state.relation):
        _replace(state, record)
    elif isinstance(record, Withdraw) and record.epoch == epoch:
        for channel in record.channels:
            state.listeners.get(channel, {}).pop(record.ve, None)
    else:
        state.counters.ignored_registrations += 1


def _valid(header: Header, epoch: int, relation: Relation) -> bool:
    """Whether the record is of this epoch and was compiled for this very table."""
    names = {column.name for column in relation.columns}
    used = {name for channel in _channels(header) for name in (channel.column, *channel.equal, channel.range)}
    return header.epoch == epoch and header.catalog >= relation.born and used - {None} <= names


def _channels(header: Header) -> list[Channel]:
    """Return the channels that a record is about, each once."""
    wanted = (channel for shape in header.shapes for channel in shape.channels)
    return list(dict.fromkeys((*header.channels, *wanted)))


def _listen(state: ShardState, record: PackedRegistrations, asked: _Asked) -> None:
    ve = record.header.ve
    state.operator.listen(_channels(record.header))
    for channel, wanted in _by_channel(record.regions).items():
        edges = state.listeners.setdefault(channel, {})
        edges[ve] = _widened(edges.get(ve, Boxes.none()), wanted)
    state.counters.registrations += len(record.versions)
    asked.versions += record.versions
    asked.regions += record.regions


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
    return Snapshot(np.array(asked.versions, np.int64), state.operator.snapshot(asked.regions))


def _forget_unheard(state: ShardState) -> None:
    unheard = [channel for channel, edges in state.listeners.items() if not edges]
    for channel in unheard:
        del state.listeners[channel]
    state.operator.forget(unheard)
