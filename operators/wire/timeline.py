"""What a cell sends a virtual edge of a batch, as chunks: first the rows of each table, then the changes.

Of a table those that are only named stand behind the others (`wire/sent_rows.py`).

The record `changes`:

    number seq table before after cause topic partition offset     a row each change

`seq` travels as what it is more than `number`, which is always the same. `before` and `after` are places among the rows
of the table in the batch, whatever chunk they stand in; `topic` one in the header's `topics`. A chunk is at most
`RECORD_BYTES` by the estimates here; where it is cut must stay as it is within a format (`state/byte_runs.py`).

    split    timeline -> chunks         pack    chunk -> record         (read_rows, read_changes: `operators/packed.py`)
    joined   the records of a batch -> timeline
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np

from operators.timeline import CHANGE, NamedRows, SentColumn, SentRows, Timeline
from operators.wire.columns import Columns, write
from operators.wire.header import Header, PackedError
from operators.wire.sent_rows import PackedNamed, PackedRows, pack_named, pack_rows, row_sizes
from state.byte_runs import RECORD_BYTES, byte_runs
from state.change_batch import I64

_BYTES_A_RECORD = 20_000
"""What a record takes beside its rows and the names of its joins: more than it does."""
_BYTES_A_KEY = 48
_BYTES_A_CHANGE = 48
_STEPS = ("number", "cause", "offset")


@dataclass(frozen=True, slots=True)
class RowsPart:
    """Rows of one table for one record; `first` is the place of the first among those of the batch."""

    rows: SentRows | NamedRows
    first: int


@dataclass(frozen=True, slots=True)
class ChangesPart:
    """Changes for one record, those of a timeline without rows; `first` is the place of the first in the batch."""

    changes: Timeline
    first: int


Part = RowsPart | ChangesPart


@dataclass(slots=True)
class PackedChanges:
    """Some of a batch's changes, as a timeline without rows; the header's `first` is the place of the first of them."""

    header: Header
    changes: Timeline

    def __len__(self) -> int:
        return len(self.changes)


def split(timeline: Timeline, most: int = RECORD_BYTES - _BYTES_A_RECORD) -> Iterator[Part]:
    """Yield the chunks of a timeline in order; a table of which nothing is sent has none. Cost: O(rows and changes)."""
    for i, rows in enumerate(timeline.rows):
        yield from _cut(rows, 0, most)
        if timeline.named:
            yield from _cut(timeline.named[i], len(rows), most)
    for run in byte_runs(np.full(len(timeline), _BYTES_A_CHANGE), most):
        yield ChangesPart(timeline.only(run), run.start)


def _cut(rows: SentRows | NamedRows, first: int, most: int) -> Iterator[Part]:
    """Yield chunks of rows, the first of which has place `first` among those of its table."""
    named = sum(len(name.encode()) + _BYTES_A_KEY for name, _, _ in rows.keys)
    for run in byte_runs(row_sizes(rows), max(most - named, most // 2)):
        whole = run.stop - run.start == len(rows)
        yield RowsPart(rows if whole else rows.take(np.arange(run.start, run.stop)), first + run.start)


def pack(header: Header, part: Part) -> bytes:
    """Return a chunk as a record; `header` has epoch, shard, batch, and which chunk it is of how many."""
    if isinstance(part, RowsPart):
        if isinstance(part.rows, NamedRows):
            return pack_named(header, part.rows, part.first)
        return pack_rows(header, part.rows, part.first)
    changes = part.changes
    header = msgspec.structs.replace(
        header, kind="changes", topics=changes.topics, first=part.first, count=len(changes),
        first_seq=int(changes.seq[0]), last_seq=int(changes.seq[-1]),
    )  # fmt: skip
    names = ("table", "before", "after", "topic", "partition")
    numbers = {"seq": changes.seq - changes.number, **{name: getattr(changes, name) for name in names}}
    return write(header, numbers, {}, {name: getattr(changes, name) for name in _STEPS})


def read_changes(header: Header, columns: Columns) -> PackedChanges:
    """Read a record. Raises ValueError, KeyError where it is not sound."""
    header.check_chunk()
    tables = header.sources
    if tables is None or header.first < 0 or header.count != columns.layout.rows:
        raise ValueError(f"{header.count} changes from {header.first} on, of the cell `{header.shard}`")
    number, cause = columns.ints("number"), columns.ints("cause")
    before, after = columns.ints("before"), columns.ints("after")
    if len(number) and not (number[0] >= 0 and number[-1] < 2**31 - 1 and (np.diff(number) > 0).all()):
        raise ValueError("the column `number` does not ascend from 0 or more")
    if len(cause) and not (cause[0] >= 0 and cause[-1] < 2**31 and (np.diff(cause) >= 0).all()):
        raise ValueError("the column `cause` does not ascend from 0 or more")
    if len(before) and (min(before.min(), after.min()) < -1 or np.maximum(before, after).min() < 0):
        raise ValueError("a change between rows that there are not")
    changes = Timeline(
        rows=(), number=number, table=columns.places("table", len(tables)), before=before, after=after, cause=cause,
        seq=columns.ints("seq") + number, topics=header.topics, topic=columns.places("topic", len(header.topics)),
        partition=columns.ints("partition"), offset=columns.ints("offset"),
    )  # fmt: skip
    return PackedChanges(header, changes)


TimelineChunk = PackedRows | PackedNamed | PackedChanges
Spell = Callable[[PackedNamed], SentRows]
"""Returns rows that are only named with their columns."""


def _unknown(chunk: PackedNamed) -> SentRows:
    raise ValueError(f"{len(chunk)} rows that are only named")


def joined(chunks: Sequence[TimelineChunk], spell: Spell = _unknown) -> Timeline:
    """Return the timeline that all chunks of one batch make, in any order.

    A table without a chunk has no rows, no keys and no columns. That all chunks are there is for their numbers to say
    (`Header.of`); raises PackedError where they do not fit together. Cost: nothing is copied of what is one chunk.
    """
    try:
        return _joined(chunks, spell)
    except (ValueError, LookupError) as error:
        raise PackedError(f"the chunks of a batch of a cell do not fit together: {error}") from error


def _joined(chunks: Sequence[TimelineChunk], spell: Spell) -> Timeline:
    tables = chunks[0].header.sources or ()
    if len({(chunk.header.epoch, chunk.header.shard, chunk.header.batch, *chunk.header.views) for chunk in chunks}) > 1:
        raise ValueError("they are of several batches")
    by_table: dict[str, list[SentRows]] = {table: [] for table in tables}
    changes: list[Timeline] = []
    for chunk in sorted(chunks, key=lambda chunk: chunk.header.first):
        before = changes if isinstance(chunk, PackedChanges) else by_table[chunk.header.table]
        if chunk.header.first != sum(map(len, before)):
            raise ValueError(f"a chunk begins with {chunk.header.first}, expected {sum(map(len, before))}")
        if isinstance(chunk, PackedChanges):
            changes.append(chunk.changes)
        else:
            by_table[chunk.header.table].append(chunk.rows if isinstance(chunk, PackedRows) else spell(chunk))
    rows = tuple(_rows(table, parts) for table, parts in by_table.items())
    return _checked(replace(_changes(changes), rows=rows))


def _checked(timeline: Timeline) -> Timeline:
    """Return a timeline whose changes name rows that it has, in ascending order. Raises ValueError for any other."""
    counts = np.array([len(rows) for rows in timeline.rows], np.int64)[timeline.table]
    if (timeline.before >= counts).any() or (timeline.after >= counts).any():
        raise ValueError("a change names a row that was not sent")
    if (np.diff(timeline.number) <= 0).any() or (np.diff(timeline.cause) < 0).any():
        raise ValueError("changes do not ascend")
    return timeline


def _changes(parts: Sequence[Timeline]) -> Timeline:
    if len({tuple(part.topics) for part in parts}) != 1:
        raise ValueError(f"{len(parts)} chunks of changes, expected some, of the same topics")
    if len(parts) == 1:
        return parts[0]
    columns: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in CHANGE}
    return replace(parts[0], **columns)


def _rows(table: str, parts: Sequence[SentRows]) -> SentRows:
    """Return the rows of chunks of one table end to end. Raises ValueError where their columns differ."""
    if not parts:
        none = np.zeros(0, np.int64)
        return SentRows(table, none, none, {}, {})
    head = parts[0]
    if len(parts) == 1:
        return head
    if any(part.keys.keys() != head.keys.keys() or list(part.columns) != list(head.columns) for part in parts):
        raise ValueError(f"rows of `{table}` in chunks of different columns")
    shared: dict[tuple[int, ...], I64] = {}  # what is one column in each chunk stays one
    keys = {}
    for name in head.keys:
        arrays = [part.keys[name] for part in parts]
        keys[name] = shared.setdefault(tuple(map(id, arrays)), np.concatenate(arrays))
    columns = {name: end_to_end([part.columns[name] for part in parts]) for name in head.columns}
    born, died = (np.concatenate([getattr(part, name) for part in parts]) for name in ("born", "died"))
    return SentRows(table, born, died, keys, columns)


def end_to_end(parts: Sequence[SentColumn]) -> SentColumn:
    """Return columns end to end as one, each text once. Raises ValueError where some have texts and some have none."""
    known = np.concatenate([part.known for part in parts])
    if all(part.texts is None for part in parts):
        return SentColumn(np.concatenate([part.codes for part in parts]), known)
    texts: dict[str, int] = {}
    codes = []
    for part in parts:
        if part.texts is None:
            raise ValueError("a column that has texts in some chunks only")
        place = np.array([texts.setdefault(text, len(texts)) for text in part.texts] or [0], np.int64)
        codes.append(np.where(part.known, place[part.codes], 0))
    return SentColumn(np.concatenate(codes), known, list(texts))
