"""SQL column types: which there are, and how far the order codes of each reach."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum

from state.order_code import INT64_MAX, INT64_MIN, code_of_double

Value = bool | int | float | Decimal | dt.date | dt.datetime | str
JsonValue = bool | int | float | str | None

MAX_CODED_PRECISION = 18
MAX_PRECISION = 38
MAX_DOUBLE = 1.7976931348623157e308
MAX_REAL = 3.4028234663852886e38
_DAY_US = 86_400_000_000


class Kind(Enum):
    """The column types of the catalog. Each is one object, whose identity is hashed faster than its name is."""

    __hash__ = object.__hash__

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
    INT4RANGE = "INT4RANGE"
    INT8RANGE = "INT8RANGE"
    NUMRANGE = "NUMRANGE"
    DATERANGE = "DATERANGE"
    TSRANGE = "TSRANGE"
    FLOAT8RANGE = "FLOAT8RANGE"
    TEXTRANGE = "TEXTRANGE"


RANGES: dict[Kind, Kind] = {
    Kind.INT4RANGE: Kind.INTEGER,
    Kind.INT8RANGE: Kind.BIGINT,
    Kind.NUMRANGE: Kind.DECIMAL,
    Kind.DATERANGE: Kind.DATE,
    Kind.TSRANGE: Kind.TIMESTAMP,
    Kind.FLOAT8RANGE: Kind.DOUBLE,
    Kind.TEXTRANGE: Kind.VARCHAR,
}
"""Types whose values are ranges, and the type of the values that each is a range of."""
_SCALED = frozenset({Kind.DECIMAL, Kind.NUMRANGE})
_TEXTS = frozenset({Kind.VARCHAR, *RANGES})

_FIRST_DAY = dt.date.min.toordinal() - dt.date(1970, 1, 1).toordinal()
_LAST_DAY = dt.date.max.toordinal() - dt.date(1970, 1, 1).toordinal()

_REACH: dict[Kind, tuple[int, int]] = {
    Kind.BOOLEAN: (0, 1),
    Kind.SMALLINT: (-(2**15), 2**15 - 1),
    Kind.INTEGER: (-(2**31), 2**31 - 1),
    Kind.BIGINT: (INT64_MIN, INT64_MAX),
    Kind.REAL: (code_of_double(-MAX_REAL), code_of_double(MAX_REAL)),
    Kind.DOUBLE: (code_of_double(-MAX_DOUBLE), code_of_double(MAX_DOUBLE)),
    Kind.DATE: (_FIRST_DAY, _LAST_DAY),
    Kind.TIMESTAMP: (_FIRST_DAY * _DAY_US, (_LAST_DAY + 1) * _DAY_US - 1),
}


@dataclass(frozen=True, slots=True)
class ColumnType:
    """A column's type; `precision` and `scale` are for DECIMAL and NUMRANGE only.

    whole: of a DECIMAL without digits after the point, which holds integers that no BIGINT does, such as a view's sums
    of integers: it is written as an integer is, in JSON without quotes. None can be declared.
    """

    kind: Kind
    precision: int = 0
    scale: int = 0
    whole: bool = False

    def __str__(self) -> str:
        word: str = self.kind.value
        return f"{word}({self.precision},{self.scale})" if self.kind in _SCALED else word

    @property
    def coded(self) -> bool:
        """Whether every value has an exact, order-preserving int64 code (all but texts and wide DECIMAL)."""
        if self.kind is Kind.DECIMAL:
            return self.precision <= MAX_CODED_PRECISION
        return self.kind not in _TEXTS

    @property
    def is_text(self) -> bool:
        """Whether values are texts: of a VARCHAR any, of a range its one canonical form."""
        return self.kind in _TEXTS

    @property
    def is_range(self) -> bool:
        """Whether values are ranges."""
        return self.kind in RANGES

    @property
    def element(self) -> ColumnType:
        """The type of the values that a range is of. Only for ranges."""
        return ColumnType(RANGES[self.kind], self.precision, self.scale)

    @property
    def reach(self) -> tuple[int, int]:
        """Least and greatest order code that a value of this type has. Only for coded types.

        >>> ColumnType(Kind.DECIMAL, 4, 2).reach
        (-9999, 9999)
        """
        if self.kind is Kind.DECIMAL:
            beyond: int = 10**self.precision
            return 1 - beyond, beyond - 1
        return _REACH[self.kind]
