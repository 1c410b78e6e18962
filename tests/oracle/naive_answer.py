"""Answers of every family by looking at all rows, exact: what SQL says, with Python's own numbers.

A row is a dict from column to order code, or to text where the column's type has none, or to None. The WHERE of a
filter is read as the boxes that stand in its region's terms, so what is checked is what boxes mean, not how they were
made (for that there is `naive_condition.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import msgspec

from catalog.query.shape import Output, Region, Shape, group_key
from catalog.schema.relation import Relation
from catalog.types.column_type import ColumnType, Kind
from catalog.types.order_key import order_key
from catalog.types.value import json_of_code
from state.order_code import double_of_code

Stored = int | str | None
Row = dict[str, Stored]
Rows = dict[str, Row]
Exact = int | str | Fraction | frozenset[Stored] | None
"""An output: MIN and MAX as stored, COUNT an int, SUM and AVG a fraction, DISTINCT a set."""


@dataclass(frozen=True)
class Naive:
    """The columns' types of a relation, and what follows from them."""

    relation: Relation

    def type_of(self, column: str) -> ColumnType:
        return self.relation.column(column).type

    def sort_key(self, column: str, value: Stored) -> int | bytes:
        assert value is not None
        return value if isinstance(value, int) else order_key(self.type_of(column), value)

    def number(self, column: str, value: Stored) -> Fraction:
        type_ = self.type_of(column)
        if isinstance(value, str):
            return Fraction(value)
        assert value is not None
        if type_.kind in (Kind.REAL, Kind.DOUBLE):
            return Fraction(double_of_code(value))
        return Fraction(value, 10**type_.scale)

    def inside(self, region: Region, row: Row) -> bool:
        """Whether a row is one of those that the region is about."""
        shape = region.shape
        if hasattr(shape, "tested"):
            boxes = msgspec.msgpack.decode(region.terms)
            return any(all(self._holds(shape.tested[place], row, *values) for place, *values in box) for box in boxes)
        equal = [row[column] for column in shape.equal]
        if region.empty or None in equal or group_key(tuple(equal)) != region.group:  # type: ignore[arg-type]
            return False
        if shape.range is None:
            return True
        value = row[shape.range]
        if value is None:
            return False
        key = self.sort_key(shape.range, value)
        if isinstance(region.lo, bytes):
            return region.lo <= key < region.hi  # type: ignore[operator]
        return region.lo <= key <= region.hi  # type: ignore[operator]

    def _holds(self, column: str, row: Row, intervals: list[list[Any]], null: bool) -> bool:
        """Whether a column's value is in one of the intervals: closed ones of codes, half open ones of keys."""
        value = row[column]
        if value is None:
            return null
        key = self.sort_key(column, value)
        open_ends = isinstance(key, bytes) or not self.type_of(column).coded
        return any(lo <= key and (key < hi if open_ends else key <= hi) for lo, hi in intervals)

    def rows(self, region: Region, rows: Rows) -> Any:
        """Return the rows shown: of a filter a Counter of tuples, of a best-k a tuple of them, as they are stored."""
        mine = [row for row in rows.values() if self.inside(region, row)]
        shape: Any = region.shape
        for order in reversed(getattr(shape, "order", ())):
            mine.sort(key=lambda row, c=order.column: _least(self, c, row[c]), reverse=order.descending)
            mine.sort(key=lambda row, c=order.column: row[c] is None, reverse=order.nulls_first)
        made = [tuple(row[column] for column in shape.shown) for row in mine]
        return tuple(made[: shape.limit]) if hasattr(shape, "order") else Counter(made)

    def answer(self, region: Region, rows: Rows) -> tuple[Exact, ...]:
        """Return the exact outputs."""
        mine = [row for row in rows.values() if self.inside(region, row)]
        return tuple(self.output(output, mine) for output in region.shape.outputs)

    def output(self, output: Output, rows: Sequence[Row]) -> Exact:
        column = output.column
        if column is None:
            return len(rows)
        if output.function == "distinct":
            return frozenset(row.get(column) for row in rows)
        values = [row[column] for row in rows if row.get(column) is not None]
        match output.function:
            case "count":
                return len(values)
            case "count_distinct":
                return len(set(values))
            case "min":
                return min(values, key=lambda value: self.sort_key(column, value), default=None)
            case "max":
                return max(values, key=lambda value: self.sort_key(column, value), default=None)
        total = sum((self.number(column, value) for value in values), Fraction())
        if not values:
            return None
        return total if output.function == "sum" else total / len(values)

    def json(self, shape: Shape, answer: tuple[Exact, ...]) -> Any:
        """Return an answer as deliveries write it (DISTINCT: the sorted array)."""
        texts = [self._json(output, exact) for output, exact in zip(shape.outputs, answer, strict=True)]
        return texts[0] if len(texts) == 1 else texts

    def values_json(self, column: str, values: frozenset[Stored]) -> list[Any]:
        known = sorted((value for value in values if value is not None), key=lambda v: self.sort_key(column, v))
        return [None] * (None in values) + [self._stored(column, value) for value in known]

    def _json(self, output: Output, exact: Exact) -> Any:
        if isinstance(exact, frozenset):
            return self.values_json(output.column or "", exact)
        if output.function.startswith("count") or exact is None:
            return exact
        if not isinstance(exact, Fraction):
            return self._stored(output.column or "", exact)
        type_ = self.type_of(output.column or "")
        if output.function == "avg" or type_.kind in (Kind.REAL, Kind.DOUBLE):
            return _nearest(exact)
        if type_.kind is Kind.DECIMAL:
            return f"{'-' if exact < 0 else ''}{_fixed(abs(exact), type_.scale)}"
        return int(exact)

    def stored_json(self, column: str, value: Stored) -> Any:
        """Return a value as deliveries write it."""
        return None if value is None else self._stored(column, value)

    def _stored(self, column: str, value: Stored) -> Any:
        return json_of_code(self.type_of(column), value) if isinstance(value, int) else value


def _least(naive: Naive, column: str, value: Stored) -> tuple[bool, Any]:
    """Return what values sort by, NULL beside them in any place."""
    return (False, 0) if value is None else (True, naive.sort_key(column, value))


def _nearest(exact: Fraction) -> float | str:
    try:
        return float(exact) + 0.0
    except OverflowError:
        return "Infinity" if exact > 0 else "-Infinity"


def _fixed(value: Fraction, scale: int) -> str:
    digits = str(int(value * 10**scale)).rjust(scale + 1, "0")
    return f"{digits[:-scale]}.{digits[-scale:]}" if scale else digits
