"""Who takes what virtual edges address to a shard of a table, or to a cell: registrations, summaries and withdrawals.

A record is read, and passed over where it is of another epoch or of what had this name before; registrations that
cannot be answered are counted and refused one by one, and all others of their record take effect. So much is the same
for both; what a record changes is said in `register.py` and in `cell_register.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator

from catalog.query.filter_shape import FilterShape
from catalog.query.shape import Region
from connectors.record import RawRecords
from operators.control import Control, Silence, Withdraw, Write, decode_control
from operators.counters import Counters
from operators.packed import Packed, PackedRegistrations, PackedSummary, is_packed, unpack_sound
from operators.record_error import RecordError
from operators.reply import Asked, Refused
from shard.snapshot import Questions
from state.errors import StateError

UNFIT = "unfit"
REASONS_KEPT = 5
_LONGEST_REASON = 300
_HINT = "Run engine and edges of one version, the engine first."
_NO_KEYS = "a digest by keys, expected a filter that shows the primary key"
ReadRecord = tuple[int, Packed | Control | None]
"""The partition of a record, and what it is; None: it cannot be read."""
Registered = list[tuple[int, Region, bool]]
"""Versions and regions, and whether the subscription has begun."""


class Receiver(ABC):
    """Takes the records of one batch that are addressed to `name`, in order.

    born: the catalog version that made the table, or the cell.  partitions: how many virtual edges there are.
    counters: what is counted of them.  hurt: the virtual edges of which a record could not be read.
    asked: what each virtual edge is to be answered.
    """

    def __init__(self, name: str, epoch: int, born: int, partitions: int, counters: Counters, hurt: set[int]) -> None:
        self.name = name
        self.epoch = epoch
        self.born = born
        self.partitions = partitions
        self.counters = counters
        self.hurt = hurt
        self.asked: dict[int, Questions] = {}

    def take(self, records: Iterable[ReadRecord]) -> dict[int, Questions]:
        """Take all records, as `read_records` gives them; return what each virtual edge is to be answered."""
        for partition, record in records:
            if isinstance(record, PackedRegistrations | PackedSummary):
                if record.header.epoch != self.epoch or record.header.catalog < self.born:
                    self.counters.ignored_registrations += 1
                elif isinstance(record, PackedSummary):
                    self._replace(record)
                else:
                    self._register(record)
            elif isinstance(record, Write):
                if record.epoch != self.epoch or record.catalog < self.born:
                    self.counters.ignored_registrations += 1
                else:
                    self._write(record)
            elif isinstance(record, Withdraw):
                if record.epoch != self.epoch:
                    self.counters.ignored_registrations += 1
                else:
                    self._withdraw(record)
            elif isinstance(record, Silence):
                self._hear(record)
            else:
                self.counters.ignored_registrations += 1
                self.counters.unreadable_registrations += 1
                self.hurt.add(partition)
        return self.asked

    @abstractmethod
    def _listen(self, ve: int, record: PackedRegistrations, asked: Questions) -> None:
        """Let a virtual edge hear of the regions that fit and have room, and note what it is to be answered."""

    @abstractmethod
    def _replace(self, record: PackedSummary) -> None:
        """Put what a virtual edge says that it needs in the place of what it registered before."""

    @abstractmethod
    def _withdraw(self, record: Withdraw) -> None:
        """Forget what a virtual edge wants of channels."""

    def _hear(self, _record: Silence) -> None:
        """Take a silence of a stream; nothing else has any."""
        self.counters.ignored_registrations += 1

    def _write(self, record: Write) -> None:
        """Begin to write rows to a view's topic, or write them again: nothing, where there is no view."""
        self.counters.ignored_registrations += 1

    def _register(self, record: PackedRegistrations) -> None:
        ve = record.header.ve
        self._pass_over(record.astray, "a shape that its record does not have")
        if not 0 <= ve < self.partitions:
            self._pass_over(len(record.regions), f"virtual edge {ve} of {self.partitions}")
        elif record.regions:
            asked = self.asked.setdefault(ve, Questions())
            asked.asked |= {record.versions[i]: how for i, how in record.asked.items()}
            self._listen(ve, record, asked)

    def _fitting(
        self, record: PackedRegistrations, places: Iterable[int], reasons: Iterable[str], asked: Questions
    ) -> Registered:
        """Return the registrations at `places` that fit; the others are counted and refused.

        reasons: of each place, why its region cannot be answered, '' where it can.
        """
        fitting: Registered = []
        for place, said in zip(places, reasons, strict=True):
            version, region, reason = record.versions[place], record.regions[place], said
            if not reason and place in record.asked:
                reason = _why_not_asked(region, record.asked[place])
            if reason:
                self._pass_over(1, reason)
                about = f"shard `{self.name}` cannot answer it: {reason[:_LONGEST_REASON]}"
                asked.refused.append((version, Refused(UNFIT, about, _HINT)))
            else:
                fitting.append((version, region, record.live[place]))
        return fitting

    def _pass_over(self, count: int, reason: str) -> None:
        """Count registrations that cannot be answered."""
        if not count:
            return
        counters = self.counters
        counters.ignored_registrations += count
        counters.unfit_registrations += count
        counters.unfit_reasons = sorted({*counters.unfit_reasons, reason[:_LONGEST_REASON]})[:REASONS_KEPT]


def read_records(records: RawRecords | None) -> Iterator[ReadRecord]:
    """Yield each record with its partition, None for one that cannot be read.

    Raises StateError where a newer edge wrote one.
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


def _why_not_asked(region: Region, asked: Asked) -> str:
    """Return why a region cannot be asked for like this: only filters have digests."""
    if not isinstance(region.shape, FilterShape):
        return "a digest, expected only of a filter"
    return _NO_KEYS if asked.by_keys and not region.shape.keys else ""
