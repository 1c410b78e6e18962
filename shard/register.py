"""Stage `register`: registrations, summaries and withdrawals take effect, and new subscriptions get their snapshots.

It runs before the batch's rows, so a snapshot holds exactly at the end of the batch before, and every change of
this batch is already covered by the widened summary: no gap, no overlap (architecture, section 4).

A registration widens the boxes of its channels; a summary puts its own in the place of all that its virtual edge
registered before it, since the edge knows what it still needs. Both stand in one partition, hence in order.

Each registration is answered: with its answer; or `Refused` where no shard of the table
can answer it, or the shard has no room for it (`shard/bounds.py`); or `Later` (`shard/snapshot.py`). Of a filter the
virtual edge then hears all images of rows, whatever the filter is about. What it hears of rows, by these or by messages
about first rows, has the columns that its questions need: these widen as the boxes do, and shrink with a summary. A
registration of a negative version is a look at rows: it is answered, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from catalog.query.best_shape import BestShape
from catalog.query.channel import BestChannel, Channel, ImageChannel
from catalog.query.filter_shape import FilterShape
from catalog.query.shape import Region
from connectors.record import RawRecords
from operators.control import Control, Withdraw, decode_control
from operators.counters import Counters
from operators.first_rows import columns_of
from operators.packed import Header, Packed, PackedRegistrations, PackedSummary, is_packed, unpack_sound
from operators.record_error import RecordError
from operators.region_fit import RegionFit
from operators.reply import PLAINLY, Asked, Refused
from operators.row_images import NO_GROUP
from shard.bounds import Bounds, Room
from shard.snapshot import DIGEST_KEY, Questions, Snapshot, snapshots_of
from shard.state import ShardState
from state.boxes import Boxes, hashes_of
from state.errors import StateError

MANY = 2**31
BOUNDS = Bounds()
UNFIT = "unfit"
HINT = "Run engine and edges of one version, the engine first."
_NO_KEYS = "a digest by keys, expected a filter that shows the primary key"
REASONS_KEPT = 5
_LONGEST_REASON = 300
Record = Packed | Control
_Registered = list[tuple[int, Region, bool]]
"""Versions and regions, and whether the subscription has begun."""


def take_registrations(
    state: ShardState,
    epoch: int,
    records: RawRecords | None,
    partitions: int = MANY,
    bounds: Bounds = BOUNDS,
    digest_key: bytes = DIGEST_KEY,
) -> dict[int, Snapshot]:
    """Apply `records` (in order) to the listeners and return a snapshot for each virtual edge that asked.

    Records of another epoch, or of a table that is no more, are counted and ignored: the edge registers again when a
    new epoch asks for it. `partitions` says how many virtual edges there are, `bounds` how much the shard may hold;
    rows are hashed under `digest_key`.
    Cost: O(registrations * log rows), and O(rows) for each new ordering; boxes: state/boxes.py.
    Raises StateError where a newer edge wrote a record.
    """
    taken = _Taken(state, epoch, partitions, RegionFit(state.relation), bounds)
    for partition, record in read(records):
        taken.take(partition, record)
    snapshots = snapshots_of(state, taken.asked, bounds.batch_bytes, digest_key, bounds.whole)
    _forget_unheard(state)
    return snapshots


def read(records: RawRecords | None) -> Iterator[tuple[int, Record | None]]:
    """Yield each record with its partition, None for one that cannot be read.

    Raises StateError where a newer edge wrote it.
    """
    for i, value in enumerate(records.values if records is not None else []):
        if records is None or value is None:
            continue
        partition = int(records.partition[i])
        try:
            yield partition, unpack_sound(value) if is_packed(value) else decode_control(value)
        except RecordError as error:
            if error.newer:
                where = f"`{records.topic}` [{partition}] offset {int(records.offset[i])}"
                raise StateError(f"{where} cannot be taken: {error}") from error
            yield partition, None


@dataclass(slots=True)
class _Taken:
    """The records of one batch as they are taken."""

    state: ShardState
    epoch: int
    partitions: int
    fit: RegionFit
    bounds: Bounds
    asked: dict[int, Questions] = field(default_factory=dict)

    def take(self, partition: int, record: Record | None) -> None:
        """Take one record."""
        if isinstance(record, PackedRegistrations | PackedSummary):
            if not concerns(record.header, self.epoch, self.state.relation.born):
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
        if not _of_rows(self.state, record.ve):
            self.state.needed.pop(record.ve, None)

    def _listen(self, record: PackedRegistrations) -> None:
        """Let a virtual edge hear of the regions that fit and have room, and note what it is to be answered."""
        state, ve = self.state, record.header.ve
        self._pass_over(record.astray, "a shape that its record does not have")
        if not 0 <= ve < self.partitions:
            self._pass_over(len(record.regions), f"virtual edge {ve} of {self.partitions}")
            return
        if not record.regions:
            return
        asked = self.asked.setdefault(ve, Questions())
        fitting = self._fitting(record, asked)
        looks = [(version, region) for version, region, _ in fitting if version < 0]
        asked.regions += looks
        taken = self._housed([one for one in fitting if one[0] >= 0] if looks else fitting, asked)
        if not taken:
            return
        by_channel = _by_channel(region for _, region in taken)
        state.table.listen(list(by_channel))
        for channel, wanted in by_channel.items():
            edges = state.listeners.setdefault(channel, {})
            boxes, met = edges.get(ve, Boxes.none()), [region for region in wanted if not region.empty]
            if isinstance(channel, ImageChannel):
                edges[ve] = boxes.widen(hashes_of([NO_GROUP])) if met else boxes
            else:
                edges[ve] = _widened(boxes, met)
            if isinstance(channel, ImageChannel | BestChannel):
                self._need(ve, met)
        state.counters.registrations += len(taken)
        asked.regions += taken

    def _need(self, ve: int, regions: Iterable[Region]) -> None:
        """Let a virtual edge hear of the columns of rows that `regions` need."""
        for shape in {id(region.shape): region.shape for region in regions}.values():
            needed = self.state.needed.setdefault(ve, set())
            if isinstance(shape, FilterShape):
                needed |= columns_of(shape)
            elif isinstance(shape, BestShape):
                needed.update(shape.images)

    def _fitting(self, record: PackedRegistrations, asked: Questions) -> _Registered:
        """Return the registrations that fit; the others are counted and refused."""
        rows = zip(record.versions, record.regions, record.live, strict=True)
        fitting: _Registered = []
        asked.asked |= {record.versions[i]: how for i, how in record.asked.items()}
        reasons = self.fit.reasons(record.regions)
        for place, (version, region, live) in enumerate(rows):
            reason = reasons[place]
            if not reason and (version < 0 or place in record.asked):
                reason = why_not_asked(region, record.asked.get(place, PLAINLY))
            if reason:
                self._pass_over(1, reason)
                asked.refused.append((version, unfit(self.state.shard, reason)))
            else:
                fitting.append((version, region, live))
        return fitting

    def _housed(self, registered: _Registered, asked: Questions) -> list[tuple[int, Region]]:
        """Return the regions that the shard has room for; the others are refused, but for those that have begun."""
        known = self.state.listeners
        shapes = {id(region.shape): region.shape for _, region, _ in registered}
        fresh = {i for i, shape in shapes.items() if not all(channel in known for channel in shape.channels)}
        if not fresh:
            return [(version, region) for version, region, _ in registered]
        begun = {id(region.shape) for _, region, live in registered if live}
        room, refused = Room(self.state, self.bounds), dict[int, Refused]()
        for i in sorted(fresh, key=lambda i: (i not in begun, shapes[i].key)):
            why_not = None if i in begun else room.why_not(shapes[i])
            if why_not is None:
                room.take(shapes[i])
            else:
                refused[i] = why_not
        taken: list[tuple[int, Region]] = []
        for version, region, _ in registered:
            if id(region.shape) in refused:
                asked.refused.append((version, refused[id(region.shape)]))
            else:
                taken.append((version, region))
        return taken

    def _pass_over(self, count: int, reason: str) -> None:
        pass_over(self.state.counters, count, reason)


def pass_over(counters: Counters, count: int, reason: str) -> None:
    """Count registrations that cannot be answered."""
    if not count:
        return
    counters.ignored_registrations += count
    counters.unfit_registrations += count
    counters.unfit_reasons = sorted({*counters.unfit_reasons, reason[:_LONGEST_REASON]})[:REASONS_KEPT]


def unfit(shard: str, reason: str) -> Refused:
    """Return the reply to a registration that no shard can answer."""
    return Refused(UNFIT, f"shard `{shard}` cannot answer it: {reason[:_LONGEST_REASON]}", HINT)


def why_not_asked(region: Region, asked: Asked) -> str:
    """Return why a region cannot be asked for like this: only filters have rows."""
    if not isinstance(region.shape, FilterShape):
        return "a look, or a digest, expected only of a filter"
    return _NO_KEYS if asked.by_keys and not region.shape.keys else ""


def concerns(header: Header, epoch: int, born: int) -> bool:
    """Whether the record is of this epoch and was compiled for the table or cell of this birth, not for one before."""
    return header.epoch == epoch and header.catalog >= born


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


def _widened(boxes: Boxes, regions: Sequence[Region]) -> Boxes:
    """Return boxes that cover `regions` too."""
    hashes = hashes_of([region.group for region in regions])
    if any(isinstance(region.lo, bytes) for region in regions):
        return boxes.widen(hashes)
    bounds = np.array([(region.lo, region.hi) for region in regions], np.int64).reshape(-1, 2)
    return boxes.widen(hashes, bounds[:, 0], bounds[:, 1])


def _replace(state: ShardState, record: PackedSummary) -> None:
    """Take the boxes of the channels that the virtual edge listens to; what it has withdrawn stays withdrawn."""
    ve, needed = record.header.ve, set[str]()
    for channel, boxes, names in zip(record.header.channels, record.boxes, record.needed, strict=True):
        edges = state.listeners.get(channel, {})
        if ve in edges:
            edges[ve] = boxes
            needed |= set(names if isinstance(channel, ImageChannel | BestChannel) else ())
    if _of_rows(state, ve).intersection(record.header.channels):
        state.needed[ve] = needed


def _of_rows(state: ShardState, ve: int) -> set[Channel]:
    """Return the channels that tell a virtual edge of rows, and hence of the columns that it needs."""
    kinds = ImageChannel | BestChannel
    return {channel for channel, edges in state.listeners.items() if ve in edges and isinstance(channel, kinds)}


def _forget_unheard(state: ShardState) -> None:
    unheard = [channel for channel, edges in state.listeners.items() if not edges]
    for channel in unheard:
        del state.listeners[channel]
    state.table.forget(unheard)
