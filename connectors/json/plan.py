"""The plan of some columns: what compiled code must know of them to read JSON, as two flat arrays."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from catalog.schema.relation import Column, Relation
from catalog.types.column_type import MAX_CODED_PRECISION, RANGES, Kind
from connectors.json.scalar import INTEGER_BOUNDS
from connectors.json.scan import U8
from state.change_batch import I64

KIND, LIMIT, SCALE, NULLABLE, OPTIONAL, NAME, NAME_STOP = range(7)


class JsonKind(IntEnum):
    """How a column is read: the three integer types alike, DECIMAL by whether it has codes."""

    BOOLEAN = 0
    INTEGER = 1
    DOUBLE = 2
    REAL = 3
    DECIMAL = 4
    WIDE = 5
    DATE = 6
    TIMESTAMP = 7
    TEXT = 8


_KINDS = {
    Kind.BOOLEAN: JsonKind.BOOLEAN,
    Kind.SMALLINT: JsonKind.INTEGER,
    Kind.INTEGER: JsonKind.INTEGER,
    Kind.BIGINT: JsonKind.INTEGER,
    Kind.REAL: JsonKind.REAL,
    Kind.DOUBLE: JsonKind.DOUBLE,
    Kind.DATE: JsonKind.DATE,
    Kind.TIMESTAMP: JsonKind.TIMESTAMP,
    Kind.VARCHAR: JsonKind.TEXT,
    **dict.fromkeys(RANGES, JsonKind.TEXT),
}


@dataclass(frozen=True, slots=True)
class Plan:
    """`fields[c]` has what KIND to NAME_STOP number; names[fields[c, NAME]:fields[c, NAME_STOP]] is what column c is
    called, with the escapes that JSON demands.

    LIMIT is the largest positive integer or unscaled decimal; OPTIONAL says that the member may be absent.
    """

    names: U8
    fields: I64

    @classmethod
    def of_rows(cls, relation: Relation) -> Plan:
        """Lay out the columns of a relation's rows."""
        primary = set(relation.key)
        nullable = [column.nullable and column.name not in primary for column in relation.columns]
        keep, refuse = relation.absent == "keep", relation.absent == "error"
        optional = [
            not refuse and (null or (keep and c.name not in primary))
            for c, null in zip(relation.columns, nullable, strict=True)
        ]
        return cls._of(relation.columns, nullable, optional)

    @classmethod
    def of_keys(cls, relation: Relation) -> Plan:
        """Lay out the primary key: nothing may be null or absent."""
        columns = [column for column in relation.columns if column.name in relation.key]
        return cls._of(columns, [False] * len(columns), [False] * len(columns))

    @classmethod
    def _of(cls, columns: Sequence[Column], nullable: list[bool], optional: list[bool]) -> Plan:
        names = [json.dumps(column.name, ensure_ascii=False)[1:-1].encode() for column in columns]
        ends = np.cumsum([0, *(len(name) for name in names)])
        fields = [
            (kind_of(column), _limit(column), column.type.scale, nullable[c], optional[c], ends[c], ends[c + 1])
            for c, column in enumerate(columns)
        ]
        return cls(np.frombuffer(b"".join(names), np.uint8), np.array(fields, np.int64))


def kind_of(column: Column) -> JsonKind:
    """Return how `column` is read."""
    if column.type.kind is Kind.DECIMAL:
        return JsonKind.DECIMAL if column.type.coded else JsonKind.WIDE
    return _KINDS[column.type.kind]


def _limit(column: Column) -> int:
    if column.type.kind is Kind.DECIMAL:
        return int(10 ** min(column.type.precision, MAX_CODED_PRECISION)) - 1
    return INTEGER_BOUNDS.get(column.type.kind, 1) - 1
