"""What stands before the columns of a packed record."""

from __future__ import annotations

import msgspec

from catalog.query.channel import Channel
from catalog.query.shape import AnyShape
from catalog.schema.cell import tables_of_cell
from operators.record_error import OLDEST_FORMAT, Number, RecordError

NO_HORIZON = -(2**63)
"""Where a header says nothing of a horizon, and before a partition's first row."""


class PackedError(RecordError):
    """A packed record cannot be read: it is damaged, newer than its reader, or was written by something else."""

    code = "packed_record"


class Header(msgspec.Struct, omit_defaults=True):
    """What stands before the columns. A snapshot and the messages of a batch share one numbering of chunks.

    format: as it was written; a record that does not say its own is of the oldest. `write` says `FORMAT` at least.
    topics: those that the messages' causes come from.
    needed: for each of `channels` the columns of rows that are told (images), or needed (summary); none but of images
    and first rows. Messages about these tell of all their channels the same, which stand once.
    count: how many messages a record about first rows has, whose other rows are of the lists that they name.
    table, first: of a chunk of what a cell sends, whose rows it has, and which row or change of the batch is its first.
    keys: of such rows, what each column of keys is about: place in `channels`, class, position, number of the column.
    window: of what a cell sends, for how many batches its rows are to be kept under their stamps; 0: they have none.
    views: of what a cell sends, the views that questions join there: they stand behind the cell's tables.
    anew: of registrations, the virtual edge has none of the rows that the cell has sent it.
    horizon: of what a view of streams sends, up to when its event time is complete as of the record's batch (of a
    snapshot, the batch before), in microseconds since 1970; NO_HORIZON where nothing is said of it.
    sweeps: only in messages of format 1: (partition, offset) of the records that became changes of several rows, which
    are one cause all the same.
    lost: a shard could not read a record of the virtual edge, which must register all again.
    """

    kind: str
    epoch: Number
    shard: str
    batch: Number = -1
    first_seq: Number = -1
    last_seq: Number = -1
    chunk: Number = 0
    of: Number = 1
    ve: Number = -1
    catalog: Number = -1
    shapes: list[AnyShape] = []
    channels: list[Channel] = []
    sweeps: list[tuple[Number, Number]] = []
    lost: bool = False
    format: int = OLDEST_FORMAT
    topics: list[str] = []
    needed: list[list[str]] = []
    count: Number = -1
    table: str = ""
    first: Number = 0
    keys: list[tuple[Number, Number, Number, Number]] = []
    window: Number = 0
    anew: bool = False
    horizon: Number = NO_HORIZON
    views: list[str] = []

    @property
    def sources(self) -> tuple[str, ...] | None:
        """The tables of a cell, in their order, and behind them its views; None where it is no cell's."""
        tables = tables_of_cell(self.shard)
        return None if tables is None else (*tables, *self.views)

    def check_chunk(self) -> None:
        """Raise ValueError unless the record is a chunk of a batch."""
        if not 0 <= self.chunk < self.of or self.batch < 0:
            raise ValueError(f"chunk {self.chunk} of {self.of} of batch {self.batch}")
