"""What a virtual edge tells the shards: regions to register, and shapes that nobody has any more.

Both go to the virtual edge's partition of `registrations` with the shard as key, so a shard takes them in the order in
which they were written. A `withdraw` is decided only when a step ends and the shape is still unused, hence never
races with a registration of the same shape.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from catalog.relation import Catalog
from catalog.shape import Region, Shape
from connectors.record import OutRecord
from operators.control import Withdraw, encode_control
from operators.packed import MAX_BYTES, Header, pack_registrations
from overlay.shape_table import ShapeEntry, ShapeTable
from overlay.slot_table import SlotTable

_ROW_BYTES = 40


@dataclass(slots=True)
class Registrations:
    """What is to be sent when the step ends: `unsent` slots (in order), and shapes that lost their last slot."""

    unsent: dict[int, None] = field(default_factory=dict)
    unused: dict[Shape, ShapeEntry] = field(default_factory=dict)

    def records(
        self, slots: SlotTable, shapes: ShapeTable, catalog: Catalog, to: Header, topic: str
    ) -> list[OutRecord]:
        """Return the records to write, and forget what they say.

        `to` has epoch, virtual edge and catalog version. Cost: O(unsent), about 1 us each.
        """
        out = list(self._withdrawals(shapes, catalog, to, topic))
        by_shard: dict[str, list[int]] = {}
        for slot in self.unsent:
            by_shard.setdefault(shapes[int(slots.shape[slot])].shard, []).append(slot)
        for shard, members in by_shard.items():
            regions = [slots.region(slot, shapes[int(slots.shape[slot])].shape) for slot in members]
            versions = slots.version[members].tolist()
            out += _registrations(
                Header("register", to.epoch, shard, ve=to.ve, catalog=to.catalog), versions, regions, topic
            )
        self.unsent.clear()
        self.unused.clear()
        return out

    def _withdrawals(self, shapes: ShapeTable, catalog: Catalog, to: Header, topic: str) -> Iterator[OutRecord]:
        by_shard: dict[str, list[Shape]] = {}
        for shape, entry in self.unused.items():
            if shapes.get(shape) is None and entry.stands(catalog):
                by_shard.setdefault(entry.shard, []).append(shape)
        for shard, gone in by_shard.items():
            yield OutRecord(topic, to.ve, shard.encode(), encode_control(Withdraw(to.epoch, to.ve, gone)))


def _registrations(header: Header, versions: list[int], regions: list[Region], topic: str) -> Iterator[OutRecord]:
    start = 0
    for end in _cuts(len(region.group) for region in regions):
        for value in pack_registrations(header, versions[start:end], regions[start:end]):
            yield OutRecord(topic, header.ve, header.shard.encode(), value)
        start = end


def _cuts(group_sizes: Iterable[int]) -> Iterator[int]:
    """Yield the ends of runs whose rows take at most MAX_BYTES, even if every group's text is another one."""
    total = count = 0
    for size in group_sizes:
        if total and total + _ROW_BYTES + size > MAX_BYTES:
            yield count
            total = 0
        total += _ROW_BYTES + size
        count += 1
    if count:
        yield count
