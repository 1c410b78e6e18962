"""Stage `register` of a cell: what virtual edges want of its joins takes effect, and new subscriptions are answered.

As `shard/register.py` does for a table: before the batch's rows, each registration with one answer, be it that it is
refused. What is asked of a join is always a filter of its rows, and a region widens what the edge wants of each table.
A summary is passed over: it says of joins no more than has been registered, and an edge that is sent more than it wants
drops it. A virtual edge that has lost what it was sent says so with what it registers (`operators/row_window.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from catalog.query.channel import ImageChannel
from catalog.query.filter_shape import FilterShape
from catalog.query.shape import Region
from catalog.schema.catalog import Catalog
from catalog.schema.join import Join, join_of_name
from operators.control import Withdraw
from operators.packed import PackedRegistrations, PackedSummary
from operators.region_fit import RegionFit
from shard.bounds import Bounds, CellRoom
from shard.cell import CellState
from shard.receiver import ReadRecord, Receiver, Registered
from shard.snapshot import Questions


def take_questions(
    cell: CellState, catalog: Catalog, epoch: int, records: Iterable[ReadRecord], partitions: int, bounds: Bounds
) -> dict[int, Questions]:
    """Apply `records` (in order) to what is wanted; return what each virtual edge is to be answered.

    Records of another epoch, or of a cell that is no more, are counted and ignored. `partitions` says how many virtual
    edges there are, `bounds` how much the cell may hold. Cost: what `JoinInterests.widen` says of each region.
    """
    return _Interests(cell, catalog, epoch, partitions, bounds).take(records)


def joins_asked(records: Iterable[ReadRecord]) -> set[str]:
    """Return the names of the joins that `records` ask, be it in vain. Cost: 0.1 us a region."""
    packed = (record for _, record in records if isinstance(record, PackedRegistrations))
    return {region.shape.relation for record in packed for region in record.regions}


class _Interests(Receiver):
    """What is wanted of a cell, as the records of one batch change it."""

    def __init__(self, cell: CellState, catalog: Catalog, epoch: int, partitions: int, bounds: Bounds) -> None:
        super().__init__(cell.cell.name, epoch, cell.cell.born, partitions, cell.counters, cell.hurt)
        self._cell = cell
        self._catalog = catalog
        self._bounds = bounds
        self._fits: dict[str, RegionFit] = {}

    def _register(self, record: PackedRegistrations) -> None:
        if record.header.anew and 0 <= record.header.ve < self.partitions:
            self._cell.window.anew(record.header.ve)
        super()._register(record)

    def _listen(self, ve: int, record: PackedRegistrations, asked: Questions) -> None:
        by_join: dict[str, list[int]] = {}
        for i, region in enumerate(record.regions):
            by_join.setdefault(region.shape.relation, []).append(i)
        fitting = {
            name: self._fitting(record, places, self._reasons(name, [record.regions[i] for i in places]), asked)
            for name, places in by_join.items()
        }
        room: CellRoom | None = None
        for name, registered in fitting.items():
            if not registered:
                continue
            relation, join = self._catalog.relation(name), join_of_name(name)
            if relation is not None and record.header.catalog < relation.born:
                self.counters.ignored_registrations += len(registered)
                continue
            assert relation is not None and join is not None, f"{name} fits"
            asked.regions += [(version, region) for version, region, _ in registered if version < 0]
            taken = [one for one in registered if one[0] >= 0]
            if taken and not self._cell.interests.of(join):
                room = room or CellRoom(self._cell, self._bounds)
                taken = _housed(room, join, taken, asked)
            self._cell.interests.widen(ve, [region for _, region, _ in taken], relation)
            self.counters.registrations += len(taken)
            asked.regions += [(version, region) for version, region, _ in taken]

    def _replace(self, record: PackedSummary) -> None:
        """Pass it over: see the module's header."""

    def _withdraw(self, record: Withdraw) -> None:
        for channel in record.channels:
            if isinstance(channel, ImageChannel):
                self._cell.interests.withdraw(record.ve, channel)

    def _reasons(self, name: str, regions: Sequence[Region]) -> list[str]:
        """Return why each of the regions of a join cannot be answered, '' where it can."""
        relation = self._catalog.relation(name)
        if relation is None or relation.home != self.name:
            return [f"`{name}` is no join of these tables"] * len(regions)
        fit = self._fits.setdefault(name, RegionFit(relation))
        return [said or _why_no_rows(each, name) for each, said in zip(regions, fit.reasons(regions), strict=True)]


def _housed(room: CellRoom, join: Join, registered: Registered, asked: Questions) -> Registered:
    """Return what the cell has room for of a new join: all; else it is refused, unless a subscription has begun."""
    why_not = None if any(live for _, _, live in registered) else room.why_not(join)
    if why_not is not None:
        asked.refused += [(version, why_not) for version, _, _ in registered]
        return []
    if not all(region.empty for _, region, _ in registered):
        room.take(join)
    return registered


def _why_no_rows(region: Region, join: str) -> str:
    if isinstance(region.shape, FilterShape) and region.shape.shown:
        return ""
    return f"{region.shape!r:.100} of `{join}`, expected a filter that shows rows"
