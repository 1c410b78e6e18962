"""Stage `register` of a cell: what virtual edges want of its joins takes effect, and new subscriptions are answered.

As `shard/register.py` does for a table: before the batch's rows, each registration with one answer, be it that it is
refused. What is asked of a join is always a filter of its rows, and a region widens what the edge wants of each table.
A summary is passed over: it says of joins no more than has been registered, and an edge that is sent more than it wants
drops it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from catalog.query.channel import ImageChannel
from catalog.query.filter_shape import FilterShape
from catalog.query.shape import Region
from catalog.schema.catalog import Catalog
from catalog.schema.join import Join, join_of_name
from connectors.record import RawRecords
from operators.control import Withdraw
from operators.packed import PackedRegistrations, PackedSummary
from operators.region_fit import RegionFit
from operators.reply import PLAINLY, Refused
from shard.bounds import Bounds, CellRoom
from shard.cell import CellState
from shard.register import Record, concerns, pass_over, read, unfit, why_not_asked
from shard.snapshot import Questions

_Registered = tuple[int, Region, bool]
"""Version and region, and whether the subscription has begun."""


def take_questions(
    cell: CellState, catalog: Catalog, epoch: int, records: RawRecords | None, partitions: int, bounds: Bounds
) -> dict[int, Questions]:
    """Apply `records` (in order) to what is wanted; return what each virtual edge is to be answered.

    Records of another epoch, or of a cell that is no more, are counted and ignored. `partitions` says how many virtual
    edges there are, `bounds` how much the cell may hold. Cost: what `JoinInterests.widen` says of each region.
    Raises StateError where a newer edge wrote a record.
    """
    taken = _Taken(cell, catalog, epoch, partitions, bounds)
    for partition, record in read(records):
        taken.take(partition, record)
    return taken.asked


@dataclass(slots=True)
class _Taken:
    """The records of one batch as they are taken. `fits` judges regions by the join that they are of."""

    cell: CellState
    catalog: Catalog
    epoch: int
    partitions: int
    bounds: Bounds
    asked: dict[int, Questions] = field(default_factory=dict)
    fits: dict[str, RegionFit] = field(default_factory=dict)

    def take(self, partition: int, record: Record | None) -> None:
        """Take one record."""
        counters = self.cell.counters
        if isinstance(record, PackedRegistrations | PackedSummary):
            if not concerns(record.header, self.epoch, self.cell.cell.born):
                counters.ignored_registrations += 1
            elif isinstance(record, PackedRegistrations):
                self._listen(record)
        elif isinstance(record, Withdraw):
            self._withdraw(record)
        else:
            counters.ignored_registrations += 1
            counters.unreadable_registrations += 1
            self.cell.hurt.add(partition)

    def _withdraw(self, record: Withdraw) -> None:
        if record.epoch != self.epoch:
            self.cell.counters.ignored_registrations += 1
            return
        for channel in record.channels:
            if isinstance(channel, ImageChannel):
                self.cell.interests.withdraw(record.ve, channel)

    def _listen(self, record: PackedRegistrations) -> None:
        """Let a virtual edge hear of the regions that fit and have room, and note what it is to be answered."""
        counters, ve = self.cell.counters, record.header.ve
        pass_over(counters, record.astray, "a shape that its record does not have")
        if not 0 <= ve < self.partitions:
            pass_over(counters, len(record.regions), f"virtual edge {ve} of {self.partitions}")
            return
        if not record.regions:
            return
        asked = self.asked.setdefault(ve, Questions())
        asked.asked |= {record.versions[i]: how for i, how in record.asked.items()}
        for name, fitting in self._fitting(record, asked).items():
            relation, join = self.catalog.relation(name), join_of_name(name)
            assert relation is not None and join is not None, f"{name} fits"
            asked.regions += [(version, region) for version, region, _ in fitting if version < 0]
            taken = self._housed(join, [one for one in fitting if one[0] >= 0], asked)
            self.cell.interests.widen(ve, [region for _, region in taken], relation)
            counters.registrations += len(taken)
            asked.regions += taken

    def _fitting(self, record: PackedRegistrations, asked: Questions) -> dict[str, list[_Registered]]:
        """Return the registrations that fit, by the join that they are of; the others are counted and refused."""
        by_join: dict[str, list[int]] = {}
        for i, region in enumerate(record.regions):
            by_join.setdefault(region.shape.relation, []).append(i)
        fitting: dict[str, list[_Registered]] = {}
        for name, places in by_join.items():
            reasons = self._reasons(name, [record.regions[i] for i in places])
            for i, said in zip(places, reasons, strict=True):
                version, region, live = record.versions[i], record.regions[i], record.live[i]
                reason = said or why_not_asked(region, record.asked.get(i, PLAINLY))
                if reason:
                    pass_over(self.cell.counters, 1, reason)
                    asked.refused.append((version, unfit(self.cell.cell.name, reason)))
                else:
                    fitting.setdefault(name, []).append((version, region, live))
        return fitting

    def _reasons(self, name: str, regions: Sequence[Region]) -> list[str]:
        """Return why each of the regions of a join cannot be answered, '' where it can."""
        relation = self.catalog.relation(name)
        if relation is None or relation.home != self.cell.cell.name:
            return [f"`{name}` is no join of these tables"] * len(regions)
        fit = self.fits.setdefault(name, RegionFit(relation))
        return [said or _why_no_rows(each, name) for each, said in zip(regions, fit.reasons(regions), strict=True)]

    def _housed(self, join: Join, registered: Sequence[_Registered], asked: Questions) -> list[tuple[int, Region]]:
        """Return the regions that the cell has room for; the others are refused, but for those that have begun."""
        why_not: Refused | None = None
        if registered and not self.cell.interests.of(join) and not any(live for _, _, live in registered):
            why_not = CellRoom(self.cell, self.bounds).why_not(join)
        if why_not is None:
            return [(version, region) for version, region, _ in registered]
        asked.refused += [(version, why_not) for version, _, _ in registered]
        return []


def _why_no_rows(region: Region, join: str) -> str:
    if isinstance(region.shape, FilterShape) and region.shape.shown:
        return ""
    return f"{region.shape!r:.100} of `{join}`, expected a filter that shows rows"
