"""Stage `register`: registrations and withdrawals take effect, and new subscriptions get their snapshots.

It runs before the batch's rows, so a snapshot holds exactly at the end of the batch before, and every change of
this batch is already covered by the widened summary: no gap, no overlap (architecture, section 4).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec
import numpy as np

from catalog.relation import Relation
from catalog.shape import Region, Shape
from connectors.record import RawRecords
from operators.control import Withdraw, decode_control
from operators.packed import PackedError, PackedRegistrations, is_packed, unpack
from state.change_batch import I64, Bool
from streaming.shard_state import ShardState


@dataclass(slots=True)
class Snapshot:
    """Answers for one virtual edge: `new[i]` (NULL where not `has_new[i]`) for the registration `version[i]`."""

    version: I64
    new: I64
    has_new: Bool


@dataclass(slots=True)
class _Asked:
    versions: list[int] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)


def take_registrations(state: ShardState, epoch: int, records: RawRecords | None) -> dict[int, Snapshot]:
    """Apply `records` (in order) to the listeners and return a snapshot for each virtual edge that asked.

    Records of another epoch, of a table that is no more, or that cannot be read are counted and ignored: the
    edge registers again when a new epoch asks for it.
    Cost: O(registrations * log rows), and O(rows) for each new ordering.
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
    except (PackedError, msgspec.DecodeError):
        state.counters.ignored_registrations += 1
        return
    if isinstance(record, PackedRegistrations) and _valid(record, epoch, state.relation):
        _listen(state, record, asked.setdefault(record.header.ve, _Asked()))
    elif isinstance(record, Withdraw) and record.epoch == epoch:
        for shape in record.shapes:
            if shape in state.listeners:
                state.listeners[shape] &= ~(1 << record.ve)
    else:
        state.counters.ignored_registrations += 1


def _valid(record: PackedRegistrations, epoch: int, relation: Relation) -> bool:
    """Whether the record is of this epoch and was compiled for this very table."""
    header = record.header
    names = {column.name for column in relation.columns}
    return (
        header.epoch == epoch and header.catalog >= relation.born and all(_columns(s) <= names for s in header.shapes)
    )


def _columns(shape: Shape) -> set[str]:
    return {shape.measure, *shape.equal} | ({shape.range} if shape.range is not None else set())


def _listen(state: ShardState, record: PackedRegistrations, asked: _Asked) -> None:
    for shape in record.header.shapes:
        state.listeners[shape] = state.listeners.get(shape, 0) | (1 << record.header.ve)
    state.operator.listen(record.header.shapes)
    state.counters.registrations += len(record.versions)
    asked.versions += record.versions
    asked.regions += record.regions


def _answer(state: ShardState, asked: _Asked) -> Snapshot:
    new, has_new = state.operator.snapshot(asked.regions)
    return Snapshot(np.array(asked.versions, np.int64), new, has_new)


def _forget_unheard(state: ShardState) -> None:
    unheard = [shape for shape, mask in state.listeners.items() if mask == 0]
    for shape in unheard:
        del state.listeners[shape]
    state.operator.forget(unheard)
