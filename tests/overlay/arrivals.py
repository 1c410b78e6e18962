"""Accepted subscriptions, put together by hand."""

from __future__ import annotations

from catalog.query.compiler import Compiled
from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from overlay.table.accepted_batch import AcceptedBatch

TABLE = Relation("t", (Column("k", ColumnType(Kind.BIGINT), False), Column("s", ColumnType(Kind.VARCHAR))), ("k",), "t")


def newcomers(*arrivals: tuple[bytes, int, Compiled], relation: Relation = TABLE) -> AcceptedBatch:
    """Return subscriptions as (id, version, what it is compiled to)."""
    made = AcceptedBatch([key for key, _, _ in arrivals], [version for _, version, _ in arrivals])
    for i, (_, _, compiled) in enumerate(arrivals):
        made.put_one(i, compiled, relation)
    return made
