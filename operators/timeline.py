"""What a cell sends a virtual edge of a batch: the rows that its joins may need, and the changes that touch them.

Rows are versions: each image that a row had during the batch, with the changes at which it was born and died
(`state/lifetimes.py`). The edge rebuilds each join from them, one change after the other, and keeps nothing.

    change t    0: quote 7 is new    1: filing 3 changes    2: quote 7 goes
    quote 7     born 0, died 2                               there after change t:    born <= t < died
    filing 3    born -1, died 1      born 1, died NEVER      there before change t:   born < t <= died

A join needs a row where the row changed, or may stand beside one that did. The keys of a row are numbers: two rows of a
timeline are equal in the columns of a class if and only if they have one number there, whatever the types are.

A row that its receiver was sent lately may be named only, by the stamp that it had then (`row_window.py`). Who receives
it puts in the columns that it has kept, and then all rows are alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from state.byte_table import Strings
from state.change_batch import I64, Bool
from state.distinct_numbers import distinct_numbers

CHANGE = ("number", "table", "before", "after", "cause", "seq", "topic", "partition", "offset")
"""What a timeline has of each change: the columns that are as long as it."""
KeyName = tuple[str, int, int]
"""Name of a join, number of one of its classes, position of the table in it."""


@dataclass(frozen=True, slots=True)
class SentColumn:
    """One column of k row versions: order codes, or places in `texts` where the column has none; 0 where not known.

    Each text stands once. A cell has them as `strings`, UTF-8 end to end, and no `texts`; an edge the other way round.
    """

    codes: I64
    known: Bool
    texts: list[str] | None = None
    strings: Strings | None = None

    def take(self, rows: I64) -> SentColumn:
        """Return the versions at `rows`, with the texts that they name, in the order of these."""
        codes, known = self.codes[rows], self.known[rows]
        every = self.strings if self.texts is None else self.texts
        if every is None:
            return SentColumn(codes, known)
        used, place = distinct_numbers(codes[known], len(every))
        codes[known] = place
        if isinstance(every, Strings):
            return SentColumn(codes, known, strings=every.take(used))
        return SentColumn(codes, known, [every[i] for i in used.tolist()])


@dataclass(frozen=True, slots=True)
class Stamps:
    """The stamps of k rows: the batch of each, -1 where a row has none, and its number in the batch and table."""

    batch: I64
    number: I64

    def take(self, rows: I64) -> Stamps:
        """Return those at `rows`."""
        return Stamps(self.batch[rows], self.number[rows])


@dataclass(frozen=True, slots=True)
class NamedRows:
    """k versions of which the receiver has the columns `told`, under their stamps; all else as `SentRows` has it."""

    table: str
    born: I64
    died: I64
    keys: dict[KeyName, I64]
    told: tuple[str, ...]
    stamps: Stamps

    def __len__(self) -> int:
        return len(self.born)

    def take(self, rows: I64) -> NamedRows:
        """Return the versions at `rows`. Cost: O(rows) a column of keys."""
        keys = _taken(self.keys, rows)
        return NamedRows(self.table, self.born[rows], self.died[rows], keys, self.told, self.stamps.take(rows))


@dataclass(frozen=True, slots=True)
class SentRows:
    """k versions of rows of one table.

    born, died: int64[k], numbers of changes in the batch.  columns: by name, those that somebody needs.
    keys: int64[k] each, the number of the row's values in the columns of a class; -1 where one is NULL, or where two of
    its columns that must be equal differ. Only of joins that some row is sent for; joins by the same columns may share
    an array.  stamps: under which receivers are to keep the rows, None where they are not.
    """

    table: str
    born: I64
    died: I64
    keys: dict[KeyName, I64]
    columns: dict[str, SentColumn]
    stamps: Stamps | None = None

    def __len__(self) -> int:
        return len(self.born)

    def take(self, rows: I64) -> SentRows:
        """Return the versions at `rows`. Cost: O(rows) a column; keys that are shared stay so."""
        columns = {name: column.take(rows) for name, column in self.columns.items()}
        stamps = None if self.stamps is None else self.stamps.take(rows)
        return SentRows(self.table, self.born[rows], self.died[rows], _taken(self.keys, rows), columns, stamps)

    def named(self, rows: I64) -> NamedRows:
        """Return the versions at `rows` by their stamps, which they must have."""
        assert self.stamps is not None
        keys, stamps = _taken(self.keys, rows), self.stamps.take(rows)
        return NamedRows(self.table, self.born[rows], self.died[rows], keys, tuple(self.columns), stamps)


@dataclass(frozen=True, slots=True)
class Timeline:
    """The rows of each table, and m changes in causal order, those of one cause adjacent.

    rows: by the cell's tables, in their order.  named: of each table those that are only named, whose places are behind
    the others'; nothing where none are, as on the receiver's side.  number: int64[m], of each change in the batch,
    ascending: some that no join needs are left out.  table: place in `rows`.  before, after: the version that the
    change found and left, -1 where there is none, or none that was sent.  cause: its number, ascending.  topic: place
    in `topics`.  partition, offset: where its cause stands.  seq: in the numbering of the cell.
    """

    rows: tuple[SentRows, ...]
    number: I64
    table: I64
    before: I64
    after: I64
    cause: I64
    seq: I64
    topics: list[str]
    topic: I64
    partition: I64
    offset: I64
    named: tuple[NamedRows, ...] = ()

    def __len__(self) -> int:
        return len(self.number)

    def only(self, changes: slice | I64) -> Timeline:
        """Return some of the changes, without rows. Cost: a copy of these, none for a slice."""
        return replace(self, rows=(), named=(), **{name: getattr(self, name)[changes] for name in CHANGE})


def _taken(keys: dict[KeyName, I64], rows: I64) -> dict[KeyName, I64]:
    """Return the keys of `rows`; those that are one array stay so."""
    taken = {id(key): key[rows] for key in keys.values()}
    return {name: taken[id(key)] for name, key in keys.items()}
