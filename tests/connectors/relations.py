"""Relations and batches of records that the tests of the formats share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from connectors.record import RawRecords

STOCK = Relation(
    "stock",
    (
        Column("symbol", ColumnType(Kind.VARCHAR), nullable=False),
        Column("exchange", ColumnType(Kind.VARCHAR)),
        Column("risk", ColumnType(Kind.DOUBLE)),
        Column("price", ColumnType(Kind.DECIMAL, 12, 2)),
    ),
    ("symbol",),
    "stock",
)


def one_column(kind: Kind, precision: int = 0, scale: int = 0, absent: str = "null", nullable: bool = True) -> Relation:
    """A table of an INTEGER key `k` and one column `v`."""
    columns = (Column("k", ColumnType(Kind.INTEGER), False), Column("v", ColumnType(kind, precision, scale), nullable))
    return Relation("t", columns, ("k",), "t", absent=absent)


def key_of(kind: Kind, precision: int = 0, scale: int = 0) -> Relation:
    """A table whose only column `v` is its key."""
    return Relation("t", (Column("v", ColumnType(kind, precision, scale), False),), ("v",), "t")


def records(pairs: Sequence[tuple[bytes | None, bytes | None]], topic: str = "t") -> RawRecords:
    """Records of partition 3 from offset 100 on."""
    m = len(pairs)
    keys, values = [key for key, _ in pairs], [value for _, value in pairs]
    stamps = np.arange(m, dtype=np.int64) * 1_000 + 5
    return RawRecords(topic, keys, values, np.full(m, 3, np.int32), np.arange(m, dtype=np.int64) + 100, stamps)
