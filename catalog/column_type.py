"""SQL column types: which there are, and how a value of each becomes an order code, a JSON value and back."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum

Value = bool | int | float | Decimal | dt.date | dt.datetime | str
JsonValue = bool | int | float | str | None

MAX_CODED_PRECISION = 18


class Kind(Enum):
    """The ten column types of the catalog."""

    BOOLEAN = "BOOLEAN"
    SMALLINT = "SMALLINT"
    INTEGER = "INTEGER"
    BIGINT = "BIGINT"
    REAL = "REAL"
    DOUBLE = "DOUBLE"
    DECIMAL = "DECIMAL"
    DATE = "DATE"
    TIMESTAMP = "TIMESTAMP"
    VARCHAR = "VARCHAR"


@dataclass(frozen=True, slots=True)
class ColumnType:
    """A column's type; `precision` and `scale` are for DECIMAL only."""

    kind: Kind
    precision: int = 0
    scale: int = 0

    def __str__(self) -> str:
        if self.kind is Kind.DECIMAL:
            return f"DECIMAL({self.precision},{self.scale})"
        return self.kind.value

    @property
    def coded(self) -> bool:
        """Whether every value has an exact, order-preserving int64 code (all but VARCHAR and wide DECIMAL)."""
        if self.kind is Kind.DECIMAL:
            return self.precision <= MAX_CODED_PRECISION
        return self.kind is not Kind.VARCHAR
