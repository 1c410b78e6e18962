"""Whether an answer is the one that a scenario expects, by the type of each of its columns.

    COUNT, SUM of integers, and the integer types   the same integer, of any size; 2.0 is 2
    DECIMAL, and its SUM                            the same number, exactly: "2.50" is "2.5", and 2.5
    DOUBLE, and SUM of DOUBLE or REAL               the same double; what is expected is read as the nearest one
    REAL                                            the same 32-bit float, likewise
    AVG                                             within 1e-12 of it, relatively
    columns of rows                                 as their types, each
    BOOLEAN, VARCHAR, DATE, TIMESTAMP               the same JSON value: "7.00" is not "007", true is not 1
    ranges                                          the same values, in whatever form they are expected

What is expected has been read exactly, numbers with a point or an exponent as Decimal. Where the types are not known
(the question was not compiled here), text that looks like a DECIMAL is compared as one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial

from catalog.ddl.cell_ddl import create_join
from catalog.ddl.statements import apply_ddl
from catalog.query.compiler import Compiler
from catalog.query.shape import COUNTS
from catalog.schema.catalog import Catalog
from catalog.sql.errors import CellMissing
from catalog.types.column_type import ColumnType, Kind
from catalog.types.range_value import RangeRefused, read_range
from state.errors import UserError
from state.nearest_float import nearest_real
from tidewire.scenario.script import Json

Same = Callable[[Json, Json], bool]
"""(got, expected) of one column: whether they are the same value."""

_SHOWN = ""
"""In place of a function: a column of a row, shown as it is."""
_DECIMAL = re.compile(r"-?\d+(\.\d+)?")
_AVG_TOLERANCE = 1e-12
_FLOATS = (Kind.REAL, Kind.DOUBLE)
_INTEGERS = (Kind.SMALLINT, Kind.INTEGER, Kind.BIGINT)


def columns_of(catalog: Catalog, sql: str) -> list[Same] | None:
    """Return how the columns of a question's answers are compared; None where it does not compile."""
    try:
        compiled = Compiler(catalog).compile(sql)
    except CellMissing as missing:
        joined = apply_ddl(catalog, create_join(missing.tables), catalog.version + 1)
        compiled = Compiler(joined).compile(sql)
    except UserError:
        return None
    outputs = compiled.region.shape.outputs
    functions = [output.function for output in outputs] or [_SHOWN] * len(compiled.columns)
    return [_rule(function, type_) for function, type_ in zip(functions, compiled.columns, strict=True)]


def same_bag(got: Sequence[Json], expected: Sequence[Json], columns: Sequence[Same] | None) -> bool:
    """Whether there are the same rows, each as often, in any order. Cost: O(n^2) where the order differs."""
    left = list(got)
    for row in expected:
        place = next((i for i, other in enumerate(left) if _same_row(other, row, columns)), None)
        if place is None:
            return False
        del left[place]
    return not left


def same_list(got: Sequence[Json], expected: Sequence[Json], columns: Sequence[Same] | None) -> bool:
    """Whether there are the same rows in the same order."""
    return len(got) == len(expected) and all(
        _same_row(one, other, columns) for one, other in zip(got, expected, strict=True)
    )


def _same_row(got: Json, expected: Json, columns: Sequence[Same] | None) -> bool:
    if not isinstance(got, list) or not isinstance(expected, list) or len(got) != len(expected):
        return False
    rules = columns if columns is not None and len(columns) == len(got) else [_same_unknown] * len(got)
    return all(rule(one, other) for rule, one, other in zip(rules, got, expected, strict=True))


def _rule(function: str, type_: ColumnType | None) -> Same:
    if function in COUNTS or type_ is None:
        return _same_number
    if function == "avg":
        return _close
    if type_.kind is Kind.REAL and function != "sum":
        return _same_real
    if type_.kind in _FLOATS:
        return _same_double
    if type_.kind in _INTEGERS:
        return _same_number
    if type_.is_range:
        return partial(_same_range, type_)
    return _same_decimal if type_.kind is Kind.DECIMAL else _same_json


def _same_range(type_: ColumnType, got: Json, expected: Json) -> bool:
    """Compare ranges by what is in them: a scenario may write them in any form."""
    if not isinstance(got, str) or not isinstance(expected, str):
        return _same_json(got, expected)
    try:
        return got == read_range(type_, expected).text
    except RangeRefused:
        return False


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _same_json(got: Json, expected: Json) -> bool:
    return type(got) is type(expected) and bool(got == expected)


def _same_number(got: Json, expected: Json) -> bool:
    """Compare numbers exactly: Python compares int, float and Decimal by their values."""
    return bool(got == expected) if _is_number(got) and _is_number(expected) else _same_json(got, expected)


def _same_decimal(got: Json, expected: Json) -> bool:
    one, other = _decimal(got), _decimal(expected)
    return _same_json(got, expected) if one is None or other is None else one == other


def _decimal(value: Json) -> Decimal | None:
    if isinstance(value, str):
        return Decimal(value) if _DECIMAL.fullmatch(value) else None
    return Decimal(value) if _is_number(value) else None


def _same_double(got: Json, expected: Json) -> bool:
    return _double(got) == _double(expected) if _is_number(got) and _is_number(expected) else _same_json(got, expected)


def _same_real(got: Json, expected: Json) -> bool:
    if not _is_number(got) or not _is_number(expected):
        return _same_json(got, expected)
    return nearest_real(str(got)) == nearest_real(str(expected))


def _close(got: Json, expected: Json) -> bool:
    if not _is_number(got) or not _is_number(expected):
        return _same_json(got, expected)
    return math.isclose(_double(got), _double(expected), rel_tol=_AVG_TOLERANCE)


def _same_unknown(got: Json, expected: Json) -> bool:
    if isinstance(got, float) and _is_number(expected):
        return _same_double(got, expected)
    return _same_decimal(got, expected) if isinstance(got, str) else _same_number(got, expected)


def _double(value: int | float | Decimal) -> float:
    """Return the nearest double; beyond all of them, infinity."""
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value)
