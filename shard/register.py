"""Stage `register`: registrations, summaries and withdrawals take effect, and new subscriptions get their snapshots.

It runs before the batch's rows, so a snapshot holds exactly at the end of the batch before, and every change of
this batch is already covered by the widened summary: no gap, no overlap (architecture, section 4).

A registration widens the boxes of its channels; a summary puts its own in the place of all that its virtual edge
registered before it, since the edge knows what it still needs. Both stand in one partition, hence in order.

Each registration is answered: with its answer; or `Refused` where no shard of the table
can answer it, or the shard has no room for it (`shard/bounds.py`), or rows of a window that it is about may have gone
(`shard/gone_windows.py`); or `Later` (`shard/snapshot.py`). Of a filter the
virtual edge then hears all images of rows, whatever the filter is about. What it hears of rows, by these or by messages
about first rows, has the columns that its questions need: these widen as the boxes do, and shrink with a summary. A
registration of a negative version is a look: it is answered or refused as others are, and leaves nothing behind. The
channels of one are listened to until the answers are made.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from catalog.query.best_shape import BestShape
from catalog.query.channel import BestChannel, Channel, ImageChannel
from catalog.query.filter_shape import FilterShape
from catalog.query.shape import Region
from connectors.record import RawRecords
from operators.control import Silence, Withdraw, Write
from operators.first_rows import columns_of
from operators.packed import PackedRegistrations, PackedSummary
from operators.region_fit import RegionFit
from operators.reply import Refused
from operators.row_images import NO_GROUP
from operators.wire.header import NO_HORIZON
from shard.bounds import Bounds, Room
from shard.gone_windows import GoneWindows
from shard.receiver import Receiver, Registered, read_records
from shard.snapshot import DIGEST_KEY, Questions, Snapshot, snapshots_of
from shard.state import ShardState
from state.boxes import Boxes, hashes_of

MANY = 2**31
BOUNDS = Bounds()


def take_registrations(
    state: ShardState,
    epoch: int,
    records: RawRecords | None,
    partitions: int = MANY,
    bounds: Bounds = BOUNDS,
    digest_key: bytes = DIGEST_KEY,
    upto: int = NO_HORIZON,
) -> dict[int, Snapshot]:
    """Apply `records` (in order) to the listeners and return a snapshot for each virtual edge that asked.

    Records of another epoch, or of a table that is no more, are counted and ignored: the edge registers again when a
    new epoch asks for it. `partitions` says how many virtual edges there are, `bounds` how much the shard may hold;
    rows are hashed under `digest_key`; `upto` is how far the event time of a view of a stream is complete.
    Cost: O(registrations * log rows), and O(rows) for each new ordering; boxes: state/boxes.py.
    Raises StateError where a newer edge wrote a record.
    """
    listeners = _Listeners(state, epoch, partitions, bounds, upto)
    asked = listeners.take(read_records(records))
    snapshots = snapshots_of(state, asked, bounds.batch_bytes, digest_key, bounds.whole)
    _forget_unheard(state, listeners.looked)
    return snapshots


def take_silences(state: ShardState, epoch: int, records: RawRecords | None) -> None:
    """Let a copy of a stream in a cell hear the silences that its shard does; what else that is told is passed over.

    Raises StateError where a newer engine wrote a record.
    """
    listeners = _Listeners(state, epoch, 0, BOUNDS, NO_HORIZON)
    listeners.take([read for read in read_records(records) if isinstance(read[1], Silence)])


class _Listeners(Receiver):
    """The listeners of a shard, as the records of one batch change them."""

    def __init__(self, state: ShardState, epoch: int, partitions: int, bounds: Bounds, upto: int) -> None:
        super().__init__(state.shard, epoch, state.relation.born, partitions, state.counters, state.hurt)
        self._state = state
        self._fit = RegionFit(state.relation)
        self._bounds = bounds
        self._gone = GoneWindows(state.relation.closing, upto)
        self.looked: set[Channel] = set()
        """The channels that looks are answered from."""

    def _listen(self, ve: int, record: PackedRegistrations, asked: Questions) -> None:
        state, regions = self._state, record.regions
        fitting = self._fitting(record, range(len(regions)), self._fit.reasons(regions), asked)
        begun = self._gone.refuse(fitting, asked)
        looks = [(version, region) for version, region, _ in begun if version < 0]
        if looks:
            self._look(looks)
            asked.regions += looks
        taken = self._housed([one for one in begun if one[0] >= 0] if looks else begun, asked)
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

    def _look(self, looks: Sequence[tuple[int, Region]]) -> None:
        """Have what looks are answered from: that of filters is the rows themselves."""
        channels = _by_channel(region for _, region in looks if not isinstance(region.shape, FilterShape))
        self._state.table.listen(list(channels))
        self.looked.update(channels)

    def _replace(self, record: PackedSummary) -> None:
        """Take the boxes of the channels that the virtual edge listens to; what it has withdrawn stays withdrawn."""
        state, ve, needed = self._state, record.header.ve, set[str]()
        for channel, boxes, names in zip(record.header.channels, record.boxes, record.needed, strict=True):
            edges = state.listeners.get(channel, {})
            if ve in edges:
                edges[ve] = boxes
                needed |= set(names if isinstance(channel, ImageChannel | BestChannel) else ())
        if _of_rows(state, ve).intersection(record.header.channels):
            state.needed[ve] = needed

    def _withdraw(self, record: Withdraw) -> None:
        for channel in record.channels:
            self._state.listeners.get(channel, {}).pop(record.ve, None)
        if not _of_rows(self._state, record.ve):
            self._state.needed.pop(record.ve, None)

    def _hear(self, record: Silence) -> None:
        state, relation = self._state, self._state.relation
        other = relation.stream is None or record.stream != relation.name or record.born not in (-1, relation.born)
        if other or record.epoch not in (-1, self.epoch) or (record.idle and _in_hole(state, record.partition)):
            super()._hear(record)
        else:
            state.heard.append(record if record.epoch == -1 else msgspec.structs.replace(record, after=0))

    def _write(self, record: Write) -> None:
        if self._state.relation.topic:
            super()._write(record)
        else:
            self._state.rewrite(record.rows, record.keys)

    def _need(self, ve: int, regions: Iterable[Region]) -> None:
        """Let a virtual edge hear of the columns of rows that `regions` need."""
        for shape in {id(region.shape): region.shape for region in regions}.values():
            needed = self._state.needed.setdefault(ve, set())
            if isinstance(shape, FilterShape):
                needed |= columns_of(shape)
            elif isinstance(shape, BestShape):
                needed.update(shape.images)

    def _housed(self, registered: Registered, asked: Questions) -> list[tuple[int, Region]]:
        """Return the regions that the shard has room for; the others are refused, but for those that have begun."""
        known = self._state.listeners
        shapes = {id(region.shape): region.shape for _, region, _ in registered}
        fresh = {i for i, shape in shapes.items() if not all(channel in known for channel in shape.channels)}
        if not fresh:
            return [(version, region) for version, region, _ in registered]
        begun = {id(region.shape) for _, region, live in registered if live}
        room, refused = Room(self._state, self._bounds), dict[int, Refused]()
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


def _of_rows(state: ShardState, ve: int) -> set[Channel]:
    """Return the channels that tell a virtual edge of rows, and hence of the columns that it needs."""
    kinds = ImageChannel | BestChannel
    return {channel for channel, edges in state.listeners.items() if ve in edges and isinstance(channel, kinds)}


def _in_hole(state: ShardState, partition: int) -> bool:
    """Whether rows of a partition of a stream were lost, and nobody has accepted that."""
    domains = [] if state.horizon is None else state.horizon.domains
    return 0 <= partition < len(domains) and domains[partition].held is not None


def _forget_unheard(state: ShardState, looked: Iterable[Channel]) -> None:
    """Forget channels to which nobody listens, those that were only looked at among them."""
    unheard = [channel for channel, edges in state.listeners.items() if not edges]
    for channel in unheard:
        del state.listeners[channel]
    state.table.forget([*unheard, *(channel for channel in looked if channel not in state.listeners)])
