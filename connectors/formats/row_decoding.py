"""What formats have in common whose records are whole rows, read one by one: keys, absent columns, NULL, batches.

1. Key and value together are at most `MAX_RECORD_BYTES` long. 2. A tombstone deletes its key. 3. A row without a key is
taken only where the topic has one partition. 4. Columns that are absent follow the table's `absent`, null stands only
where a column is nullable. 5. The row's primary key equals the key's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np

from catalog.schema.relation import Column, Relation
from connectors.dead_letter import DeadLetter, RecordFault
from connectors.decoded import Decoded, sample_names
from connectors.json.canonical_key import CanonicalKey
from connectors.json.record import JsonRow
from connectors.json.scalar import Coded
from connectors.record import RawRecords
from connectors.record_limits import MAX_RECORD_BYTES
from state.change_batch import I64, Bool, ChangeBatch

Read = Callable[[], Coded | None]
"""Reads one value of a row; None is NULL. Raises RecordFault, which does not name the column."""


class RowReader(Protocol):
    """Reads the bytes of one format."""

    def key(self, data: bytes) -> tuple[Coded, ...]:
        """Return the primary key that a record's key says. Raises RecordFault."""
        ...

    def row(self, data: bytes) -> Mapping[str, Read]:
        """Return how to read the values of a row, by column. Raises RecordFault."""
        ...


class RowDecoder:
    """Decodes batches of one relation by a `RowReader`. `keyless`: the topic has one partition."""

    def __init__(self, relation: Relation, keyless: bool, reader: RowReader) -> None:
        self.relation = relation
        self.keyless = keyless
        self._reader = reader
        self._key = CanonicalKey(relation)
        self._names = frozenset(c.name for c in relation.columns)
        self._primary = [relation.index(c.name) for c in self._key.columns]

    def decode(self, records: RawRecords) -> Decoded:
        """Decode a batch of ordered records. Raises nothing for bad input. Cost: 10-20 us a record."""
        rows: list[JsonRow] = []
        places: list[int] = []
        dead: list[DeadLetter] = []
        for i, (key, value) in enumerate(zip(records.keys, records.values, strict=True)):
            try:
                rows.append(self.one(key, value))
                places.append(i)
            except RecordFault as fault:
                dead.append(DeadLetter.of(fault, records, i))
        return _decoded(self.relation, records, rows, np.array(places, np.int64), dead)

    def one(self, key: bytes | None, value: bytes | None) -> JsonRow:
        """Decode one record. Raises RecordFault."""
        length = len(key or b"") + len(value or b"")
        if length > MAX_RECORD_BYTES:
            raise RecordFault("too_large", f"key and value have {length} bytes, expected at most {MAX_RECORD_BYTES}")
        stated = None if key is None else self._key.write(self._reader.key(key))
        if stated is None and value is None:
            raise RecordFault("missing_key", "a tombstone without a Kafka key: it does not say what to delete")
        if value is None:
            width = len(self.relation.columns)
            return JsonRow(stated or b"", False, [None] * width, [False] * width, [])
        if stated is None and not self.keyless:
            raise RecordFault("missing_key", "the record has no Kafka key, and its topic may have several partitions")
        return self._row(stated, self._reader.row(value))

    def _row(self, stated: bytes | None, reads: Mapping[str, Read]) -> JsonRow:
        columns = self.relation.columns
        values = [self._value(column, reads.get(column.name)) for column in columns]
        key = self._key.write([value for i in self._primary if (value := values[i]) is not None])
        if stated is not None and key != stated:
            raise RecordFault("key_disagrees", f"the row says {key.decode()}, its Kafka key {stated.decode()}")
        unknown = [name for name in reads if name not in self._names]
        return JsonRow(key, True, values, [column.name in reads for column in columns], unknown)

    def _value(self, column: Column, read: Read | None) -> Coded | None:
        if read is None:
            rule = self.relation.absent
            if column.name in self.relation.key or rule == "error" or (rule == "null" and not column.nullable):
                raise RecordFault("missing_column", f"column `{column.name}`: expected {column.type}, got none")
            return None
        try:
            value = read()
        except RecordFault as fault:
            raise RecordFault(fault.code, f"column `{column.name}`: {fault.message}") from None
        if value is None and (not column.nullable or column.name in self.relation.key):
            raise RecordFault("null_not_allowed", f"column `{column.name}`: expected {column.type}, got null")
        return value


def in_columns(
    relation: Relation, rows: Sequence[Sequence[Coded | None]]
) -> tuple[I64, Bool, dict[int, list[str | None]]]:
    """Return the rows' values as a `ChangeBatch` has them: codes, validity and texts; a row of none is all NULL."""
    columns, m = relation.columns, len(rows)
    codes, valid = np.zeros((len(columns), m), np.int64), np.zeros((len(columns), m), np.bool_)
    texts: dict[int, list[str | None]] = {c: [None] * m for c, column in enumerate(columns) if not column.type.coded}
    for i, row in enumerate(rows):
        for c, value in enumerate(row):
            valid[c, i] = value is not None
            if isinstance(value, str):
                texts[c][i] = value
            else:
                codes[c, i] = value or 0
    return codes, valid, texts


def _decoded(
    relation: Relation, records: RawRecords, rows: list[JsonRow], places: np.ndarray, dead: list[DeadLetter]
) -> Decoded:
    codes, valid, texts = in_columns(relation, [row.values for row in rows])
    present = np.zeros_like(valid)
    for i, row in enumerate(rows):
        present[:, i] = row.present
    live = np.array([row.live for row in rows], np.bool_)
    kept = ~present & live if relation.absent == "keep" else None
    partition, offset = records.partition[places], records.offset[places]
    changes = ChangeBatch([row.key for row in rows], live, codes, valid, dict(texts), partition, offset, kept)
    seen = {column.name: int(np.count_nonzero(present[c])) for c, column in enumerate(relation.columns)}
    return Decoded(changes, dead, _sample(row.unknown for row in rows), seen)


def _sample(unknown: Iterable[list[str]]) -> list[str]:
    names = next((names for names in unknown if names), [])
    return sample_names(names)
