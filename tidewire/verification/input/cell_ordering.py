"""The order rule for tables that are joined: one sequence over all of their topics.

    batch      by (running maximum of the timestamp in the partition, topic, partition, offset): all records of all
               topics, whatever buckets a table has
    before     batches that came before the cell: tables one after the other, as their shards took them. Nothing is
               told of them; at the end of each the rows are the same

A snapshot at the end of batch b holds all records of all topics up to the cuts of b, whichever of them the cell took.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tidewire.verification.input.declared_cells import Cell
from tidewire.verification.input.ordering import Sequence, Taken, TakenRecords


@dataclass(slots=True)
class CellSequence(TakenRecords):
    """All records of the tables of a cell in one epoch.

    `tables` has of each, by lower-case name, its own records in the order of the cell, and `seqs` their seqs here.
    """

    cell: Cell
    tables: dict[str, Sequence] = field(default_factory=dict)
    seqs: dict[str, list[int]] = field(default_factory=dict)

    @property
    def subject(self) -> tuple[str, int]:
        """The cell, by its name and `born`."""
        return self.cell.name, self.cell.born


def cell_sequence(cell: Cell, tables: Mapping[str, Sequence], first: int) -> CellSequence:
    """Return the sequence of a cell that is there from batch `first` on, made of those of its tables, all of one epoch.

    Cost: O(m log m) for m records, about 3 us each.
    """
    epoch = next(iter(tables.values())).epoch
    limits = [sequence.limit for sequence in tables.values() if sequence.limit is not None]
    made = CellSequence(epoch, cell, limit=limits[0] if limits else None)
    made.unread = any(sequence.unread for sequence in tables.values())
    made.tables = {name: Sequence(epoch, sequence.table) for name, sequence in tables.items()}
    made.seqs = {name: [] for name in tables}
    batches: dict[int, list[Taken]] = defaultdict(list)
    for _, sequence in sorted(tables.items()):
        for taken in sequence.taken:
            batches[taken.batch].append(taken)
    for batch, some in sorted(batches.items()):
        _take(made, batch, some if batch < first else in_cell_order(some))
    return made


def in_cell_order(taken: Iterable[Taken]) -> list[Taken]:
    """Return the records of a batch in the order in which a cell takes them."""
    partitions: dict[tuple[str, int], list[Taken]] = defaultdict(list)
    for one in taken:
        partitions[one.table.topic, one.record.partition].append(one)
    stamped: list[tuple[int, str, int, int, Taken]] = []
    for (topic, partition), some in partitions.items():
        newest = -1
        for one in sorted(some, key=lambda one: one.record.offset):
            newest = max(newest, one.record.timestamp)
            stamped.append((newest, topic, partition, one.record.offset, one))
    stamped.sort(key=lambda entry: entry[:4])
    return [entry[4] for entry in stamped]


def _take(made: CellSequence, batch: int, taken: list[Taken]) -> None:
    by_table: dict[str, list[Taken]] = defaultdict(list)
    for seq, one in enumerate(taken, len(made.taken) + 1):
        name = one.table.name.lower()
        made.seqs[name].append(seq)
        by_table[name].append(one)
    made.append(batch, taken)
    for name, some in by_table.items():
        made.tables[name].append(batch, some)
