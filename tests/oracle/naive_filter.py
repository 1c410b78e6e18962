"""Filters by looking at every row: conditions with SQL's three values, bags of rows, and images of changes.

A condition is written by a test, and judged on a row as SQL says. What a shard is asked (`Region.terms`) is judged by
looking whether a value is in one of the intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from catalog.query.best_shape import BestShape
from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import decode_terms
from catalog.query.shape import Output, Region
from operators.answer import Parts, Tally
from operators.exact_units import unit_of
from operators.reply import Asked, Digest, Refused, Reply, Rows, Same, encode_row
from operators.row_images import ImageColumn, Images
from state.row_digest import Digest as Told
from state.row_digest import hashes
from tests.oracle.naive_answer import Naive, Row, Stored
from tests.oracle.naive_answer import Rows as Table

KEY = bytes(16)
Truth = bool | None


@dataclass(frozen=True)
class Where:
    """A condition: `op` of a column and values, or `and`, `or`, `not` of others. `values` as they are stored."""

    op: str
    column: str = ""
    values: tuple[Stored, ...] = ()
    parts: tuple[Where, ...] = ()
    sql: str = ""

    def truth(self, naive: Naive, row: Row) -> Truth:
        truths = [part.truth(naive, row) for part in self.parts]
        if self.op == "and":
            return False if False in truths else None if None in truths else True
        if self.op == "or":
            return True if True in truths else None if None in truths else False
        if self.op == "not":
            return None if truths[0] is None else not truths[0]
        value = row.get(self.column)
        if self.op in ("is null", "is not null"):
            return (value is None) == (self.op == "is null")
        if value is None:
            return None
        return self._compare(naive, value)

    def _compare(self, naive: Naive, value: Stored) -> Truth:
        if self.op == "prefix":
            return str(value).startswith(str(self.values[0]))
        mine, *others = (naive.sort_key(self.column, one) for one in (value, *self.values))
        first = others[0]
        return {
            "=": mine == first,
            "<>": mine != first,
            "<": mine < first,  # type: ignore[operator]
            "<=": mine <= first,  # type: ignore[operator]
            ">": mine > first,  # type: ignore[operator]
            ">=": mine >= first,  # type: ignore[operator]
            "in": mine in others,
            "between": first <= mine <= others[-1],  # type: ignore[operator]
        }[self.op]

    @property
    def columns(self) -> frozenset[str]:
        own = {self.column} - {""}
        return frozenset(own.union(*(part.columns for part in self.parts)))


EVERYTHING = Where("and")


def met(naive: Naive, region: Region, row: Row) -> bool:
    """Whether a row is in one of the boxes of a filter's region."""
    shape = region.shape
    assert isinstance(shape, FilterShape)
    for box in decode_terms(region.terms):
        if all(_holds(naive, shape.tested[place], row, values) for place, values in box.items()):
            return True
    return False


def _holds(naive: Naive, column: str, row: Row, values: Any) -> bool:
    value = row.get(column)
    if value is None:
        return bool(values.null)
    key = naive.sort_key(column, value)
    coded = naive.type_of(column).coded
    return any(lo <= key <= hi if coded else lo <= key < hi for lo, hi in values.intervals)


def shown(shape: FilterShape, row: Row) -> tuple[Stored, ...]:
    """Return a row as the SELECT list shows it."""
    return tuple(row.get(name) for name in shape.shown)


def digest_of(naive: Naive, shape: FilterShape, rows: Sequence[tuple[Stored, ...]], by_keys: bool) -> Told:
    """Return the digest of projected rows, one after the other."""
    places = shape.keys if by_keys else range(len(shape.shown))
    total = Told()
    coded = [naive.type_of(shape.shown[place]).coded for place in places]
    for row in rows:
        total += Told.of(*_hash([row[place] for place in places], coded))
    return total


def _hash(values: Sequence[Stored], coded: Sequence[bool]) -> Any:
    codes = [np.array([value if isinstance(value, int) else 0], np.int64) for value in values]
    known = [np.array([value is not None]) for value in values]
    texts = [None if is_coded else [str(value)] for value, is_coded in zip(values, coded, strict=True)]
    return hashes(KEY, codes, known, texts)


@dataclass
class FilterAnswers:
    """What a shard answers filters' registrations with. `most`: rows that an answer may have."""

    naive: Naive
    most: int = 100

    def reply(self, region: Region, asked: Asked, rows: Table) -> Reply:
        shape = region.shape
        assert isinstance(shape, FilterShape)
        found = [shown(shape, row) for row in rows.values() if met(self.naive, region, row)]
        digest = digest_of(self.naive, shape, found, asked.by_keys)
        if asked.told == digest:
            return Same(digest.count, digest.low, digest.high)
        if asked.digest_only:
            return Digest(digest.count, digest.low, digest.high)
        if len(found) > self.most:
            return Refused("quota", f"{len(found)} rows")
        return Rows(tuple(encode_row(row) for row in found))

    def parts(self, region: Region, rows: Table) -> Parts:
        mine = [row for row in rows.values() if met(self.naive, region, row)]
        tallies: dict[tuple[str, str | None], Tally] = {}
        summed = {output.column for output in region.shape.outputs if output.function != "count"}
        for output in region.shape.outputs:
            kind = "values" if output.column in summed and output.column is not None else "rows"
            tallies[kind, output.column] = self._tally(output, kind, mine)
        return tuple(tallies.values())

    def _tally(self, output: Output, kind: str, rows: Sequence[Row]) -> Tally:
        if output.column is None:
            return Tally.of(len(rows), 0)
        values = [row[output.column] for row in rows if row.get(output.column) is not None]
        type_ = self.naive.type_of(output.column)
        return Tally.of(len(values), sum(unit_of(type_, value) for value in values) if kind == "values" else 0)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Image:
    """One row change, before it is packed."""

    cause: int
    old: Row | None
    new: Row | None


@dataclass
class ImageTeller:
    """Tells images of the columns that are needed."""

    naive: Naive
    needed: set[str] = field(default_factory=set)

    def says(self, old: Row | None, new: Row | None) -> bool:
        """Whether a change of a row is told."""
        if old is None or new is None:
            return old is not new
        return any(old.get(name) != new.get(name) for name in self.needed)

    def images(self, said: Sequence[Image]) -> Images:
        names = [column.name for column in self.naive.relation.columns if column.name in self.needed]
        rows = np.array([(one.new is not None) - (one.old is not None) for one in said], np.int64)
        cause = np.array([one.cause for one in said], np.int32)
        return Images(cause, rows, {name: self._column(name, said) for name in names})

    def _column(self, name: str, said: Sequence[Image]) -> ImageColumn:
        texts: dict[str, int] = {}

        def codes(rows: Sequence[Row | None]) -> tuple[Any, Any]:
            values = [None if row is None else row.get(name) for row in rows]
            found = [texts.setdefault(v, len(texts)) if isinstance(v, str) else v or 0 for v in values]
            return np.array(found, np.int64), np.array([value is not None for value in values], np.bool_)

        old, new = codes([one.old for one in said]), codes([one.new for one in said])
        coded = self.naive.type_of(name).coded
        return ImageColumn(*old, *new, None if coded else list(texts))


def needed_by(regions: Sequence[Region]) -> set[str]:
    """Return the columns that filters compare, show or sum, and that first rows have images of."""
    shapes = [region.shape for region in regions if isinstance(region.shape, FilterShape)]
    columns = {column for shape in shapes for column in (*shape.shown, *shape.tested)}
    best = [region.shape for region in regions if isinstance(region.shape, BestShape)]
    columns |= {column for shape in best for column in shape.images}
    return columns | {output.column for shape in shapes for output in shape.outputs if output.column is not None}


def row_json(naive: Naive, shape: FilterShape, row: Sequence[Stored]) -> tuple[Any, ...]:
    return tuple(naive.stored_json(name, value) for name, value in zip(shape.shown, row, strict=True))
