"""What a virtual edge still wants of each channel, told to the shards anew once enough has come and gone.

A shard only widens its boxes (`state/boxes.py`) when subscriptions register, so they never forget who went, and what
came one after the other is covered less tightly than what is looked at together. A *summary* says all that the virtual
edge wants of a channel, and takes the place of everything that stands before it in the partition of `registrations`:

    register a, b, c    (b is over)    summary of a, c    register d           the shard's boxes: a, c, then d

So it covers every slot in use, waiting or live, and is written behind the registrations of its own step. Never a false
negative: what is in use was registered (all that is queued is written in the same step, before), and what registers
later widens. One of another epoch, or of a table that is no more, is ignored by the shard. Where a table has buckets,
each of its shards is told what is wanted of it, which may be nothing.

When (`Patience`): each channel counts what came and went since its last summary. It is told anew once that is more
than a quarter of its subscriptions, or while registrations are coming in, more than all of them; the work of one step
ends with the channel that fills `STEP` slots, the rest is done by the steps that follow. A restart forgets the counts.
Cost: O(slots) in numpy and 0.8 us a slot of the channel (`Boxes.of`), so 1 to 3 us for each that comes or goes.

Filters want images of rows, all of them, and of these the columns that they compare or show; lists the columns that
they show or order by. Those too are said anew, all that a table's filters and lists need, since registrations only add
columns. A change of a column that nobody needs any more is then not sent.

Of joins nothing is said anew: what a cell sends for one only widens, until the last subscription to it is over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from catalog.query.channel import Channel
from catalog.schema.catalog import Catalog
from catalog.schema.join import is_join
from catalog.schema.relation import Relation
from connectors.record import OutRecord
from operators.packed import Header, pack_summary
from overlay.answers.shape_table import ShapeEntry, ShapeTable
from overlay.subscriptions.slot_shards import SlotShards
from overlay.table.slot_table import SlotTable
from state.boxes import Boxes, hashes_of
from state.byte_runs import RECORD_BYTES
from state.change_batch import I64

STEP = 100_000
_CALM_SHARE = 0.25
_CHANNELS_A_RECORD = RECORD_BYTES // 8_192
"""A channel's boxes take at most 5 kB, and its name some hundred bytes."""
_EVERYBODY = b"[]"
"""The group of messages that are about no group."""


@dataclass(frozen=True, slots=True)
class Patience:
    """When summaries are worth their cost. Tests have none.

    floor: fewer comings and goings are never enough.  calm: after so many steps without a registration, a quarter is.
    """

    floor: int = 64
    calm: int = 8


PATIENT = Patience()


class Summaries:
    """Counts by channel what came and went; `records` gives the summaries that are due."""

    def __init__(self, slots: SlotTable, shapes: ShapeTable, patience: Patience) -> None:
        self._patience = patience
        self._shards = SlotShards(slots, shapes)
        self._calm = 0
        self._slots = slots
        self._shapes = shapes
        self._moved: dict[Channel, int] = {}

    def came(self, slots: I64) -> None:
        """Note slots that are being registered in this step. Cost: O(slots) in numpy."""
        self._calm = 0 if len(slots) else self._calm + 1
        if not len(slots):
            return
        numbers, counts = np.unique(self._slots.shape[slots], return_counts=True)
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            self._note(self._shapes[number], count)

    def went(self, entry: ShapeEntry, count: int) -> None:
        """Note that so many subscriptions of this shape are over."""
        self._note(entry, count)

    def clear(self) -> None:
        """Forget what came and went: the shards know nothing any more."""
        self._moved.clear()

    def records(self, catalog: Catalog, to: Header, topic: str) -> Iterator[OutRecord]:
        """Yield the summaries that are due; to be written behind the step's registrations, which `came` was told.

        `to` has epoch, virtual edge and catalog version.
        """
        due: dict[str, dict[Channel, Boxes]] = {}
        needed: dict[str, dict[Channel, list[str]]] = {}
        looked_at = 0
        for channel in self._due():
            entry = self._shapes.shapes_of(channel)[0]
            del self._moved[channel]
            if entry.stands(catalog):
                slots = self._wanting(channel)
                of_shards = dict(self._shards.parted(slots, catalog))
                for shard in _declared(channel.relation, catalog).shards:
                    mine = of_shards.get(shard, slots[:0])
                    due.setdefault(shard, {})[channel] = self._boxes(mine, entry)
                    if entry.needed or entry.shown_images:
                        needed.setdefault(shard, {})[channel] = self._needed(channel.relation, shard, catalog)
                looked_at += len(slots)
            if looked_at >= STEP:
                break
        for shard, summaries in due.items():
            header = Header("summary", to.epoch, shard, ve=to.ve, catalog=to.catalog)
            for part in _parts(summaries):
                yield OutRecord(topic, to.ve, shard.encode(), pack_summary(header, part, needed.get(shard, {})))

    def _due(self) -> list[Channel]:
        share = _CALM_SHARE if self._calm >= self._patience.calm else 1.0
        due = []
        for channel, moved in list(self._moved.items()):
            heard = self._shapes.shapes_of(channel)
            if not heard:
                del self._moved[channel]  # withdrawn, in this step
            elif moved > max(self._patience.floor, share * sum(entry.count for entry in heard)):
                due.append(channel)
        return due

    def _wanting(self, channel: Channel) -> I64:
        """Return the slots that want the channel, those that no row can meet, and that are final, left out."""
        slots = self._slots.with_shapes([entry.number for entry in self._shapes.shapes_of(channel)])
        return slots[~self._slots.empty[slots] & ~self._slots.finals.told(slots)]

    def _boxes(self, slots: I64, entry: ShapeEntry) -> Boxes:
        """Return boxes that cover slots, whose range is of one kind with that of `entry`."""
        if not len(slots):
            return Boxes.none()
        if entry.filters:
            return Boxes.of(hashes_of([_EVERYBODY]))
        _, first, group = np.unique(self._slots.group[slots], return_index=True, return_inverse=True)
        hashes = hashes_of(self._slots.groups_of(slots[first]))[group]
        if entry.range_type is not None:
            return Boxes.of(hashes)
        return Boxes.of(hashes, self._slots.lo[slots], self._slots.hi[slots])

    def _needed(self, relation: str, shard: str, catalog: Catalog) -> list[str]:
        """Return the columns that filters compare or show, and lists show or order by, at one shard; sorted.

        The columns that part a table are always among them: images may be told to nobody's use until the summary of
        their channel is due, and filters of other buckets know by these that such rows are none of theirs.
        """
        of_rows = [one for one in self._shapes if one.shape.relation == relation and (one.filters or one.shown_images)]
        slots = self._slots.with_shapes([entry.number for entry in of_rows])
        slots = slots[~self._slots.empty[slots] & ~self._slots.finals.told(slots)]
        mine = dict(self._shards.parted(slots, catalog)).get(shard, slots[:0])
        entries = [self._shapes[number] for number in np.unique(self._slots.shape[mine]).tolist()]
        parting = _declared(relation, catalog).bucket_by
        return sorted({*parting, *(name for entry in entries for name in (*entry.needed, *entry.shown_images))})

    def _note(self, entry: ShapeEntry, count: int) -> None:
        for channel in () if is_join(entry.shape.relation) else entry.channels:
            self._moved[channel] = self._moved.get(channel, 0) + count


def _declared(name: str, catalog: Catalog) -> Relation:
    """Return the table or view of a shape that stands."""
    relation = catalog.named(name)
    assert relation is not None, "the shape stands"
    return relation


def _parts(summaries: Mapping[Channel, Boxes]) -> Iterator[dict[Channel, Boxes]]:
    channels = list(summaries.items())
    for start in range(0, len(channels), _CHANNELS_A_RECORD):
        yield dict(channels[start : start + _CHANNELS_A_RECORD])
