"""Which bucket of a table a row is in, told by its Kafka key alone, and which one a question is about.

    bucket = crc32(canonical JSON of the `bucket.by` columns) modulo the buckets      {"exchange":"NYSE"} -> 5

A key may be spelled in many ways, and all spellings of one key must meet in one shard: the columns are read from the
key, as the record's decoder reads them, and written in the one canonical way (`json/canonical_key.py`). Almost
all keys go through compiled code; those that it is not sure of are read exactly.

A record whose key is missing or is none becomes a dead letter wherever it comes: it goes to bucket 0.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import lru_cache
from zlib import crc32

import msgspec
import numpy as np

from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from connectors.dead_letter import RecordFault
from connectors.json.byte_layout import ByteLayout
from connectors.json.canonical_key import CanonicalKey
from connectors.json.columns import read_columns
from connectors.json.key_writer import KeyWriter
from connectors.json.plan import Plan
from connectors.json.scalar import Coded
from connectors.json.scan import U8, compiled
from state.change_batch import I64

_POLYNOMIAL = 0xEDB88320
NOWHERE = 0
"""The bucket of what is in none: records that are no rows, questions that no row can meet."""


def warm() -> None:
    """Compile or load the kernels (`connectors/json/format.py` tells why)."""
    key = Column("k", ColumnType(Kind.VARCHAR), False)
    relation = Relation("warm", (key,), ("k",), "warm", buckets=2, bucket_by=("k",))
    Buckets(relation).of_keys([b'"a"', None])


def shard_of(relation: Relation, equal: tuple[str, ...], group: bytes) -> str:
    """Return the shard of `relation` that answers questions with these equalities (`Region`)."""
    if not relation.bucket_by:
        return relation.shard
    return relation.shards[buckets_of(relation).of_group(equal, group)]


@lru_cache(maxsize=256)
def buckets_of(relation: Relation) -> Buckets:
    """Return what tells the buckets of `relation`, made once."""
    return Buckets(relation)


class Buckets:
    """Tells the buckets of one relation, which must have some."""

    def __init__(self, relation: Relation) -> None:
        self._key = CanonicalKey(relation)
        self._plan = Plan.of_keys(relation)
        self._count = relation.buckets
        self._chosen = [i for i, column in enumerate(self._key.columns) if column.name in relation.bucket_by]
        self._bucket_key = CanonicalKey(dataclasses.replace(relation, key=relation.bucket_by))
        self._by = [column.name for column in self._bucket_key.columns]
        self._writer = KeyWriter(self._bucket_key.columns)

    def of_keys(self, keys: Sequence[bytes | None]) -> I64:
        """Return the bucket of each record, given the Kafka keys. Cost: 0.2 us each; 10 us for those read exactly."""
        layout, keyed = ByteLayout.of_nullable(keys)
        which = np.flatnonzero(keyed)
        read = read_columns(layout, which, self._plan, self._key.columns, as_keys=True)
        written = self._writer.write([read.codes[i] for i in self._chosen], [read.texts.get(i) for i in self._chosen])
        buckets = np.full(len(keyed), NOWHERE, np.int64)
        buckets[which] = checksums(written) % self._count
        for i in which[~read.plain].tolist():
            buckets[i] = self._of_key(keys[i] or b"")
        return buckets

    def of_group(self, equal: tuple[str, ...], group: bytes) -> int:
        """Return the bucket of all rows whose columns `equal` have the values of `group` (`Region`). Cost: 4 us."""
        values = msgspec.json.decode(group)
        if len(values) < len(equal):
            return NOWHERE
        return self._of_values([values[equal.index(name)] for name in self._by])

    def _of_key(self, key: bytes) -> int:
        try:
            values = self._key.read(key)
        except RecordFault:
            return NOWHERE
        return self._of_values([values[i] for i in self._chosen])

    def _of_values(self, values: Sequence[Coded]) -> int:
        return crc32(self._bucket_key.write(values)) % self._count


def checksums(strings: ByteLayout) -> I64:
    """Return the CRC-32 of each string, as zlib and Spark SQL have it. Cost: 2 ns a byte."""
    sums = np.empty(len(strings), np.int64)
    _checksums(strings.data, strings.offsets, _TABLE, sums)
    return sums


def _table() -> I64:
    table = np.arange(256, dtype=np.int64)
    for _ in range(8):
        table = np.where(table & 1, table >> 1 ^ _POLYNOMIAL, table >> 1)
    return table


@compiled
def _checksums(data: U8, offsets: I64, table: I64, sums: I64) -> None:
    for i in range(len(sums)):
        value = 0xFFFFFFFF
        for at in range(offsets[i], offsets[i + 1]):
            value = table[(value ^ data[at]) & 255] ^ value >> 8
        sums[i] = value ^ 0xFFFFFFFF


_TABLE = _table()
