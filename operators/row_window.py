"""The window of a cell: which virtual edges have which rows, of those that were spelled out in the last batches.

    row      stamp (batch, number)   who has it      the cell is in batch 45, its window is 64
    quote 7  (41, 3)                 0, 2            named to 0 and 2; edge 1 gets it under this stamp, and has it too
    quote 8  none                                    gets a stamp when it is sent: (45, 0)

A stored row that an edge has is sent as its stamp (CN* of the Joins paper, made certain: nothing is guessed of what a
receiver still has). The edge keeps rows by stamp, and drops them by the stamp's batch alone, so both know the same:

1. A stamp names one image of a row in the columns that are told. A change that these show takes it from the row;
   columns that come to be told take all stamps of their table.
2. Whoever is named as having a row was sent it, in this epoch and within the window. A virtual edge that has lost
   something says so when it registers (`Header.anew`), and is taken out everywhere before the batch's rows.
3. A stamp is never renewed: who gets the row later gets it under the stamp that it has.

`forget` is always right: what has no stamp is spelled out. Window and bound are those of the batch before, so that a
batch that is run again under other settings gives the same bytes. Where edges would have to keep more than the bound,
rows get no stamp until older ones have left the window; nor do they from batch 2**31 on, for which a stamp has no room.
Cost: 10 ns a row of the tables to open, write and follow, 0.1 us a row that is sent; 4 to 7 bytes a row in the state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np
import numpy.typing as npt

from operators.seen_changes import SeenChanges
from operators.timeline import Stamps
from operators.window_kernels import BITS, MOST_BATCHES, NUMBER, followed, split
from state.blob import read_blob, write_blob
from state.change_batch import I32, I64
from state.distinct_numbers import places_among
from state.row_store import Replay
from state.stabbed_edges import U64, WORD
from state.stored_columns import Sections, narrow

NO_BATCH = -1
_MAGIC, _VERSION = b"tw-windo", 1


@dataclass(frozen=True, slots=True)
class WindowBounds:
    """For how many batches edges keep rows, 0 for none; and of how many bytes, as they travel, from each cell."""

    batches: int = 0
    bytes: int = 64_000_000


class _Head(msgspec.Struct):
    epoch: int
    batch: int
    window: int
    most: int
    spent: list[tuple[int, int]]
    columns: dict[str, list[str]]


@dataclass(slots=True)
class Known:
    """What is known of k versions: their stamps, batch -1 where there is none, and who has each: uint64[k, words]."""

    batch: I64
    number: I64
    edges: U64


@dataclass(slots=True)
class _Table:
    """The stamps of a table's rows, and which of the sets of virtual edges has each; `fresh`: those of new versions.

    stamp: int64[rows], batch << 32 | number, -1 for none.  edges: int32[rows].
    """

    columns: list[str]
    stamp: I64
    edges: I32
    fresh: tuple[I64, I64, I32] | None = None

    @classmethod
    def of(cls, columns: Sequence[str], rows: int) -> _Table:
        return cls(list(columns), np.full(rows, -1), np.zeros(rows, np.int32))


@dataclass(slots=True)
class RowWindow:
    """Stamps by table. `window` is what holds in this batch; 0: nothing has a stamp, and nothing is remembered."""

    window: int = 0
    most: int = 0
    epoch: int = -1
    batch: int = -1
    _spent: dict[int, int] = field(default_factory=dict)
    _tables: dict[str, _Table] = field(default_factory=dict)
    _sets: U64 = field(default_factory=lambda: np.zeros((1, 1), np.uint64))

    def begin(self, epoch: int, batch: int, partitions: int) -> None:
        """Begin a batch; there are virtual edges below `partitions`."""
        words = -(-partitions // WORD)
        if epoch != self.epoch or batch <= self.batch or words != self._sets.shape[1]:
            self.forget()
            self._sets = np.zeros((1, words), np.uint64)
        self.epoch, self.batch = epoch, batch
        self._spent = {at: size for at, size in self._spent.items() if batch - at < self.window}

    def tell(self, told: Mapping[str, Sequence[str]]) -> None:
        """Say which columns of each table the batch tells. Rows that were sent without some of them are forgotten.

        So are those of tables of which nothing is said.
        """
        self.lose([table for table in self._tables if table not in told])
        for table, columns in told.items():
            known = self._tables.get(table)
            if known is not None and not set(columns) <= set(known.columns):
                del self._tables[table]
            elif known is not None:
                known.columns = list(columns)

    def lose(self, tables: Iterable[str]) -> None:
        """Forget the stamps of some tables."""
        for table in tables:
            self._tables.pop(table, None)

    def forget(self) -> None:
        """Forget all stamps."""
        self._tables.clear()
        self._spent.clear()
        self._sets = self._sets[:1]

    def anew(self, ve: int) -> None:
        """Take a virtual edge out: it has lost what it had."""
        self._sets[:, ve // WORD] &= ~(np.uint64(1) << np.uint64(ve % WORD))

    def known(self, table: str, versions: I64, rows: int) -> Known:
        """Return what is known of versions of a table that had so many rows before the batch."""
        mine = self._tables.get(table)
        if mine is None or not len(mine.stamp) == rows > 0:
            nothing = np.full(len(versions), NO_BATCH)
            return Known(nothing, nothing, np.zeros((len(versions), self._sets.shape[1]), np.uint64))
        stored = versions < rows
        row = np.where(stored, versions, 0)
        stamp = mine.stamp[row]
        young = stored & (stamp >= max(self.batch - self.window + 1, 0) << BITS)
        batch, number = np.where(young, stamp >> BITS, NO_BATCH), np.where(young, stamp & NUMBER, -1)
        return Known(batch, number, self._sets[np.where(young, mine.edges[row], 0)])

    def spell(
        self, table: str, told: Sequence[str], versions: I64, rows: int, known: Known, got: U64, size: int
    ) -> Stamps:
        """Return the stamps under which versions are sent, those that have none yet with a new one.

        got: uint64[k, words], who is sent each or has it named.  size: the bytes of those that are new.
        """
        new = known.batch < 0
        full = sum(self._spent.values()) >= self.most or self.batch >= MOST_BATCHES
        batch = np.where(new, NO_BATCH if full else self.batch, known.batch)
        number = np.where(new, -1 if full else np.cumsum(new) - 1, known.number)
        if not full:
            self._spent[self.batch] = self._spent.get(self.batch, 0) + size
        edges = np.where(batch >= 0, self._numbered(known.edges | got), 0)
        mine = self._tables.get(table)
        if mine is None or len(mine.stamp) != rows:
            mine = self._tables[table] = _Table.of(told, rows)
        stamp, edges = np.where(batch < 0, -1, batch << BITS | number), edges.astype(np.int32)
        stored = int(np.searchsorted(versions, rows))
        mine.stamp[versions[:stored]], mine.edges[versions[:stored]] = stamp[:stored], edges[:stored]
        mine.fresh = versions[stored:], stamp[stored:], edges[stored:]
        return Stamps(batch, number)

    def follow(self, table: str, replay: Replay, seen: SeenChanges) -> None:
        """Let the rows of a table be what a batch left: to be called before its rows are committed."""
        mine = self._tables.get(table)
        if mine is None or not len(replay.before):
            return
        other = np.flatnonzero(replay.current != np.arange(len(replay.current)))
        image = seen.first_images(replay.current[other])
        other, image = other[image != other], image[image != other]
        fresh, stamp, edges = mine.fresh or (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int32))
        place = np.where(image >= replay.rows, places_among(fresh, image), -1)
        stamp, edges = np.append(stamp, np.int64(-1))[place], np.append(edges, np.int32(0))[place]
        current = replay.current.astype(np.int64, copy=False)
        mine.stamp, mine.edges = followed(mine.stamp, mine.edges, current, other, stamp, edges)
        mine.fresh = None

    def dump(self, bounds: WindowBounds) -> bytes:
        """Return all of it as bytes, the same for the same history; the next batch has the window of `bounds`."""
        if bounds.batches != self.window:
            self.forget()
        if not bounds.batches:
            return b""
        oldest = max(self.batch + 2 - bounds.batches, 0)
        tables = {name: each for name, each in sorted(self._tables.items()) if (each.stamp >= oldest << BITS).any()}
        head = _Head(
            self.epoch, self.batch, bounds.batches, bounds.bytes, sorted(self._spent.items()),
            {name: each.columns for name, each in tables.items()},
        )  # fmt: skip
        used = np.zeros(len(self._sets), np.bool_)
        used[0] = True
        parts = [split(each.stamp, each.edges, oldest, self.batch, used) for each in tables.values()]
        number_of = narrow(np.cumsum(used) - 1)
        sections: Sections = {"head": msgspec.msgpack.encode(head), "sets": self._sets[used]}
        for i, (age, number, edges) in enumerate(parts):
            sections[f"{i}/age"], sections[f"{i}/number"] = narrow(age), narrow(number)
            sections[f"{i}/set"] = narrow(number_of[edges])
        return write_blob(_MAGIC, _VERSION, "", sections)

    @classmethod
    def load(cls, data: bytes) -> RowWindow:
        """Read what `dump` wrote; nothing is a window of no batches. Raises StateError for anything else."""
        if not data:
            return cls()
        sections = read_blob(data, _MAGIC, _VERSION, "")
        head = msgspec.msgpack.decode(bytes(sections["head"]), type=_Head)
        tables = {}
        for i, (name, columns) in enumerate(head.columns.items()):
            age, number, edges = (np.asarray(sections[f"{i}/{of}"]) for of in ("age", "number", "set"))
            tables[name] = _Table(columns, _stamps(head.batch, age, number), edges.astype(np.int32))
        sets = np.array(sections["sets"], np.uint64)
        return cls(head.window, head.most, head.epoch, head.batch, dict(head.spent), tables, sets)

    def check(self, rows: Mapping[str, int]) -> None:
        """Assert that each table has as many stamps as rows, and that no two rows share one. Cost: O(rows log rows)."""
        for name, each in self._tables.items():
            assert len(each.stamp) == rows[name] == len(each.edges), (name, len(each.stamp), rows)
            stamps = each.stamp[each.stamp >= 0].tolist()
            assert len({*stamps}) == len(stamps), (name, stamps)
            assert (each.stamp >> BITS <= self.batch).all() and not self._sets[0].any()

    def _numbered(self, masks: U64) -> npt.NDArray[np.int64]:
        """Return the number of each set of virtual edges; new ones are entered."""
        if not len(masks):
            return np.zeros(0, np.int64)
        alike = (masks == masks[0]).all()
        distinct, place = (masks[:1], np.zeros(len(masks), np.int64)) if alike else _distinct(masks)
        numbers = {each.tobytes(): i for i, each in reversed([*enumerate(self._sets)])}
        fresh = [each for each in distinct if each.tobytes() not in numbers]
        numbers |= {each.tobytes(): len(self._sets) + i for i, each in enumerate(fresh)}
        self._sets = np.concatenate([self._sets, np.array(fresh, np.uint64).reshape(-1, self._sets.shape[1])])
        return np.array([numbers[each.tobytes()] for each in distinct])[place]


def _stamps(batch: int, age: npt.NDArray[np.signedinteger], number: npt.NDArray[np.signedinteger]) -> I64:
    """Return stamps, -1 where the age is."""
    stamp = batch - age.astype(np.int64)
    stamp <<= BITS
    stamp |= number
    stamp[age < 0] = -1
    return stamp


def _distinct(masks: U64) -> tuple[U64, I64]:
    """Return the different rows of `masks`, and which of them each is."""
    if masks.shape[1] == 1:
        values, place = np.unique(masks[:, 0], return_inverse=True)
        return values[:, None], place.astype(np.int64)
    rows, place = np.unique(masks, axis=0, return_inverse=True)
    return rows, place.reshape(-1).astype(np.int64)
