"""Format `json`: a topic of rows by primary key; a tombstone is a delete.

A batch goes through compiled code, which is sure of almost all records; the rest goes one by one to the exact
decoder (`json_record.py`), which alone refuses, and knows why. So one bad record costs a few microseconds more
than a good one, and never its neighbours anything.

1. Rows are read from the values, and their canonical keys are written.
2. A Kafka key that is those very bytes agrees. Other keys, and those of tombstones, are read and written
   canonically too, and compared.
3. What is not plainly right by then is decoded exactly: it is put in its place, or becomes a dead letter.

Cost, measured with benchmarks/decode_cost.py on stock(symbol, exchange, risk, price), 100,000 records a batch:
0.5 us a record; 0.33 us is what msgspec alone takes to make a struct of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import TypeVar, cast

import numpy as np

from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from connectors.dead_letter import DeadLetter, RecordFault
from connectors.decoded import Decoded, sample_names
from connectors.json.byte_layout import ByteLayout, equal_strings
from connectors.json.columns import JsonColumns, read_columns
from connectors.json.key_writer import KeyWriter
from connectors.json.plan import Plan
from connectors.json.record import JsonRecordDecoder, JsonRow
from connectors.record import RawRecords
from connectors.record_limits import MAX_RECORD_BYTES
from state.arrow_strings import ArrowStrings
from state.change_batch import I64, Bool, ChangeBatch

_NO_KEY = b"{}"
"""The key of all rows of a stream, whose records come here without one."""
Part = TypeVar("Part", I64, Bool)


@dataclass(slots=True)
class _Batch:
    """m records on their way: what is known of each so far. `taken` = its change stands in the columns.

    Keys and texts may be Arrow's until one of them must be written.
    """

    keys: Sequence[bytes | None]
    live: Bool
    codes: I64
    valid: Bool
    present: Bool
    texts: dict[int, Sequence[str | None]]
    taken: Bool
    unknown: Bool
    dead: list[DeadLetter] = field(default_factory=list)

    def key_list(self) -> list[bytes | None]:
        """Return the keys as the list that they are from now on."""
        listed = self.keys if isinstance(self.keys, list) else list(self.keys)
        self.keys = listed
        return listed

    def text_list(self, column: int) -> list[str | None]:
        """Return the texts of a column as the list that they are from now on."""
        texts = self.texts[column]
        listed = texts if isinstance(texts, list) else list(texts)
        self.texts[column] = listed
        return listed


def warm() -> None:
    """Compile or load every kernel of the format.

    A daemon calls it before it forks workers, so that none of them compiles: about 10 s the first time on a
    machine, 0.5 s from numba's cache.
    """
    relation = Relation("warm", (Column("k", ColumnType(Kind.VARCHAR), False),), ("k",), "warm")
    places = np.arange(2)
    pair = RawRecords("warm", [b'"a"', b'"a"'], [b'{"k":"a"}', None], places.astype(np.int32), places, places)
    JsonFormat(relation).decode(pair)


class JsonFormat:
    """Decodes batches of one relation. `keyless`: rows without a Kafka key are taken (one partition)."""

    def __init__(self, relation: Relation, keyless: bool = False) -> None:
        self.relation = relation
        self.keyless = keyless
        self._exact = JsonRecordDecoder(relation, keyless)
        self._key_columns = self._exact.key.columns
        self._key_indexes = [relation.index(column.name) for column in self._key_columns]
        self._row_plan = Plan.of_rows(relation)
        self._key_plan = Plan.of_keys(relation)
        self._writer = KeyWriter(self._key_columns)

    def decode(self, records: RawRecords) -> Decoded:
        """Decode a batch of ordered records. Raises nothing for bad input."""
        values, live = ByteLayout.of_nullable(records.values)
        keys, keyed = ByteLayout.of_nullable(records.keys)
        small = values.lengths + keys.lengths <= MAX_RECORD_BYTES
        which = np.flatnonzero(live & small & (keyed | self.keyless))
        rows = read_columns(values, which, self._row_plan, self.relation.columns, as_keys=False)
        batch = self._place(records, live, which, rows)
        if self._key_columns:
            self._settle_keys(batch, rows, which, keys, keyed, small)
        else:
            batch.taken[which], batch.keys = rows.plain, [_NO_KEY] * len(records)
        self._settle_exactly(batch, records)
        return self._decoded(batch, records)

    def _place(self, records: RawRecords, live: Bool, which: I64, rows: JsonColumns) -> _Batch:
        """Spread the rows read over the places of their records."""
        m = len(records)
        texts: dict[int, Sequence[str | None]] = {c: part.texts(rows.valid[c]) for c, part in rows.texts.items()}
        unknown = np.zeros(m, np.bool_)
        unknown[which] = rows.unknown
        taken = np.zeros(m, np.bool_)
        if len(which) == m:
            codes, valid, present = rows.codes, rows.valid, rows.present
        else:
            codes, valid = _spread(rows.codes, which, m), _spread(rows.valid, which, m)
            present = _spread(rows.present, which, m)
            texts = {c: _spread_list(part, which, m) for c, part in texts.items()}
        keys = records.keys if isinstance(records.keys, ArrowStrings) else list(records.keys)
        return _Batch(keys, live, codes, valid, present, texts, taken, unknown)

    def _settle_keys(
        self, batch: _Batch, rows: JsonColumns, which: I64, keys: ByteLayout, keyed: Bool, small: Bool
    ) -> None:
        """Take the rows whose key agrees, and the deletes; note their canonical keys."""
        row_keys = self._canonical(rows, self._key_indexes)
        places = np.arange(len(which))
        same = equal_strings(row_keys, places, keys, which)
        batch.taken[which] = rows.plain & (same | ~keyed[which])
        _note_keys(batch, row_keys, np.flatnonzero(rows.plain & ~keyed[which]), which)
        row_of = np.full(len(batch.live), -1)
        row_of[which] = places
        other = np.flatnonzero(
            (~batch.live & keyed & small) | _spread(rows.plain & keyed[which] & ~same, which, len(keyed))
        )
        if not len(other):
            return
        read = read_columns(keys, other, self._key_plan, self._key_columns, as_keys=True)
        stated = self._canonical(read, list(range(len(self._key_columns))))
        agrees = read.plain.copy()
        of_rows = np.flatnonzero(batch.live[other])
        agrees[of_rows] &= equal_strings(stated, of_rows, row_keys, row_of[other[of_rows]])
        batch.taken[other] = agrees
        _note_keys(batch, stated, np.flatnonzero(agrees), other)

    def _canonical(self, read: JsonColumns, indexes: list[int]) -> ByteLayout:
        return self._writer.write([read.codes[c] for c in indexes], [read.texts.get(c) for c in indexes])

    def _settle_exactly(self, batch: _Batch, records: RawRecords) -> None:
        for i in np.flatnonzero(~batch.taken).tolist():
            try:
                self._put(batch, i, self._exact.decode(records.keys[i], records.values[i]))
            except RecordFault as fault:
                batch.dead.append(DeadLetter.of(fault, records, i))

    def _put(self, batch: _Batch, i: int, row: JsonRow) -> None:
        batch.key_list()[i] = row.key
        batch.taken[i] = True
        batch.unknown[i] = bool(row.unknown)
        for c, value in enumerate(row.values):
            batch.valid[c, i] = value is not None
            batch.present[c, i] = row.present[c]
            if c in batch.texts:
                batch.text_list(c)[i] = None if value is None else str(value)
            else:
                batch.codes[c, i] = value or 0

    def _decoded(self, batch: _Batch, records: RawRecords) -> Decoded:
        names = self._unknown_names(batch, records)
        partition, offset = records.partition, records.offset
        if batch.dead:
            partition, offset = partition[batch.taken], offset[batch.taken]
            _drop_dead(batch)
        keys = cast("Sequence[bytes]", batch.keys)  # what is not dead has its canonical key by now
        kept = ~batch.present & batch.live if self.relation.absent == "keep" else None
        changes = ChangeBatch(keys, batch.live, batch.codes, batch.valid, batch.texts, partition, offset, kept)
        columns = self.relation.columns
        seen = {column.name: int(np.count_nonzero(batch.present[c])) for c, column in enumerate(columns)}
        return Decoded(changes, batch.dead, names, seen)

    def _unknown_names(self, batch: _Batch, records: RawRecords) -> list[str]:
        """The names in the first record that has any."""
        having = np.flatnonzero(batch.unknown & batch.taken)
        if not len(having):
            return []
        row = self._exact.decode(records.keys[having[0]], records.values[having[0]])
        return sample_names(row.unknown)


def _note_keys(batch: _Batch, keys: ByteLayout, at: I64, which: I64) -> None:
    """Note canonical key number at[j] as that of record which[at[j]]."""
    if len(at):
        strings, listed = keys.byte_strings(), batch.key_list()
        for j, i in zip(at.tolist(), which[at].tolist(), strict=True):
            listed[i] = strings[j]


def _spread(part: Part, which: I64, m: int) -> Part:
    whole = np.zeros((*part.shape[:-1], m), part.dtype)
    whole[..., which] = part
    return whole


def _spread_list(part: Sequence[str | None], which: I64, m: int) -> list[str | None]:
    whole = np.full(m, None, np.object_)
    whole[which] = list(part)
    return list(whole.tolist())


def _drop_dead(batch: _Batch) -> None:
    """Leave out what is dead. Selected columns come in another memory order, and kernels want rows of columns."""
    taken = batch.taken
    batch.keys = list(compress(batch.keys, taken))
    batch.texts = {c: list(compress(texts, taken)) for c, texts in batch.texts.items()}
    batch.live = batch.live[taken]
    batch.codes = np.ascontiguousarray(batch.codes[:, taken])
    batch.valid = np.ascontiguousarray(batch.valid[:, taken])
    batch.present = np.ascontiguousarray(batch.present[:, taken])
