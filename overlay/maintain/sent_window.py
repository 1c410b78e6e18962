"""The rows that cells spelled out lately, by their stamps: what is only named is looked up here.

    batch 41    rows of quote    7 8 9       stamps (41, 0) (41, 1) (41, 2)
    batch 45    named            (41, 1)     quote 8, with the columns that it had, which are those that it has

A chunk is kept as it was read, which virtual edges of a process share; what of it is young enough is found by the batch
of the stamp, and goes by this alone: the cell counts the same batches (`operators/row_window.py`). Whoever takes a
virtual edge over reads from `offset` on again, and keeps the rows that it finds there.

Cost: O(1) a chunk to keep, 1 us a batch of the window and chunk to drop and to look up; 20 ns a row and column that is
named, 0.1 us a different text. Memory: the columns of the chunks, 9 bytes a value and 60 more a text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from operators.packed import PackedNamed, PackedRows
from operators.timeline import SentColumn, SentRows
from operators.wire.timeline import end_to_end
from state.change_batch import I64
from state.distinct_numbers import places_among
from state.errors import TidewireError

_BYTES_A_TEXT = 60
_SAMPLE = 50


class MissingRowsError(TidewireError):
    """A cell names rows that are not here: they were lost, or never told."""

    code = "missing_rows"


@dataclass(frozen=True, slots=True)
class _Kept:
    """Those of a chunk's rows that have stamps of one batch, by their numbers, which ascend.

    until: the last batch that may name them.  chunk: batch and number of the chunk.  offset: where it stands.
    """

    number: I64
    place: I64
    rows: SentRows
    until: int
    chunk: tuple[int, int]
    offset: int

    @property
    def nbytes(self) -> int:
        """About how many bytes of memory the rows take."""
        columns = self.rows.columns.values()
        texts = sum(_text_bytes(column.texts) for column in columns if column.texts)
        return texts + sum(column.codes.nbytes + column.known.nbytes for column in columns)


class SentWindow:
    """Rows by cell, table and batch of their stamps; all of one epoch."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], dict[int, list[_Kept]]] = {}

    def keep(self, offset: int, chunk: PackedRows, batch: int) -> None:
        """Keep what batches from `batch` on may name of a chunk, found at `offset`; of copies of it the first."""
        rows, header = chunk.rows, chunk.header
        if rows.stamps is None:
            return
        mine = self._kept.setdefault((header.shard, rows.table), {})
        named = header.batch, header.chunk
        for stamped in np.unique(rows.stamps.batch[rows.stamps.number >= 0]).tolist():
            until, there = stamped + header.window - 1, mine.setdefault(stamped, [])
            if until < batch or any(kept.chunk == named for kept in there):
                continue
            place = np.flatnonzero((rows.stamps.batch == stamped) & (rows.stamps.number >= 0))
            number = rows.stamps.number[place]
            if (np.diff(number) < 0).any():
                order = np.argsort(number)
                place, number = place[order], number[order]
            there.append(_Kept(number, place, rows, until, named, offset))

    def drop(self, batch: int) -> None:
        """Drop what batches from `batch` on cannot name."""
        for place, of_table in list(self._kept.items()):
            for stamped, there in list(of_table.items()):
                left = [kept for kept in there if kept.until >= batch]
                if left:
                    of_table[stamped] = left
                else:
                    del of_table[stamped]
            if not of_table:
                del self._kept[place]

    def clear(self) -> None:
        """Forget everything."""
        self._kept.clear()

    def rows_for(self, chunk: PackedNamed) -> list[SentRows]:
        """Return all rows among which those that are only named are looked up."""
        mine = self._kept.get((chunk.header.shard, chunk.rows.table), {})
        return [kept.rows for stamped in np.unique(chunk.rows.stamps.batch).tolist() for kept in mine.get(stamped, ())]

    def spell(self, chunk: PackedNamed) -> SentRows:
        """Return rows that are only named with their columns. Raises MissingRowsError."""
        rows = chunk.rows
        pieces: list[tuple[I64, dict[str, SentColumn]]] = []
        for stamped in np.unique(rows.stamps.batch).tolist():
            asked = np.flatnonzero(rows.stamps.batch == stamped)
            for kept in self._kept.get((chunk.header.shard, rows.table), {}).get(stamped, ()):
                place = places_among(kept.number, rows.stamps.number[asked])
                found = kept.place[place[place >= 0]]
                if len(found):
                    pieces.append((asked[place >= 0], _columns(kept.rows, rows.told, found)))
                asked = asked[place < 0]
            if len(asked):
                raise MissingRowsError(_missing(chunk, stamped, rows.stamps.number[asked]))
        order = np.argsort(np.concatenate([np.zeros(0, np.int64), *(at for at, _ in pieces)]))
        columns = {name: _sorted(end_to_end([each[name] for _, each in pieces]), order) for name in rows.told}
        return SentRows(rows.table, rows.born, rows.died, rows.keys, columns)

    @property
    def offset(self) -> int | None:
        """From where the log must be read again so as to have the same, None where nothing is kept."""
        return min((kept.offset for kept in self._each()), default=None)

    @property
    def rows(self) -> int:
        """How many rows are kept."""
        return sum(len(kept.number) for kept in self._each())

    @property
    def nbytes(self) -> int:
        """About how many bytes of memory they take."""
        return sum({id(kept.rows): kept.nbytes for kept in self._each()}.values())

    def check(self) -> None:
        """Assert that a stamp is kept once in a chunk, and no chunk twice. Raises AssertionError."""
        for of_table in self._kept.values():
            for there in of_table.values():
                chunks = [kept.chunk for kept in there]
                assert len({*chunks}) == len(chunks), chunks
                assert all((np.diff(kept.number) > 0).all() for kept in there), there

    def _each(self) -> Iterator[_Kept]:
        for of_table in self._kept.values():
            for there in of_table.values():
                yield from there


def _text_bytes(texts: Sequence[str]) -> int:
    """Return about what texts take, as long as some of them are."""
    some = texts[:: len(texts) // _SAMPLE + 1]
    return len(texts) * (_BYTES_A_TEXT + sum(map(len, some)) // len(some))


def _columns(rows: SentRows, told: tuple[str, ...], places: I64) -> dict[str, SentColumn]:
    if not rows.columns.keys() >= {*told}:
        raise MissingRowsError(f"rows of `{rows.table}` were told without some of the columns {told}")
    return {name: rows.columns[name].take(places) for name in told}


def _sorted(column: SentColumn, order: I64) -> SentColumn:
    return SentColumn(column.codes[order], column.known[order], column.texts)


def _missing(chunk: PackedNamed, stamped: int, numbers: I64) -> str:
    header = chunk.header
    return (
        f"batch {header.batch} of `{header.shard}` names {len(numbers)} rows of `{header.table}` of batch {stamped}, "
        f"as number {int(numbers[0])}, which are not here"
    )
