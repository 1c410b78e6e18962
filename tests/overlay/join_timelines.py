"""Timelines of a join of two tables, drawn at random, and what they do to answers, by nested loops over all rows.

The tables have a key of one or two columns, and columns of every kind, full of ties and NULLs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import Box, encode_terms
from catalog.query.value_set import ValueSet
from catalog.schema.join import Join, place_of
from catalog.types.column_type import ColumnType, Kind
from catalog.types.order_key import after
from operators.timeline import SentColumn, SentRows, Timeline
from state.lifetimes import NEVER, STORED
from state.order_code import INT64_MAX, INT64_MIN

Value = int | str | None
Row = dict[str, Value]
Joined = tuple[Row, Row]
Bag = Counter[tuple[Value, ...]]
NUMBER, TEXT = ColumnType(Kind.BIGINT), ColumnType(Kind.VARCHAR)
TYPES = {"k": NUMBER, "m": NUMBER, "x": NUMBER, "y": NUMBER, "s": TEXT}
"""The columns of both tables; rows are joined by k, or by k and m."""
LETTERS = ["", "a", "b", "ab"]
NAMES = [f"{position}.{name}" for position in (0, 1) for name in TYPES]


@dataclass
class Version:
    row: Row
    born: int = STORED
    died: int = NEVER


@dataclass
class Change:
    cause: int
    table: int
    before: int
    after: int


@dataclass
class Drawn:
    """A batch: the versions of both tables' rows, and changes by cause."""

    join: Join
    top: int
    versions: tuple[list[Version], list[Version]] = field(default_factory=lambda: ([], []))
    changes: list[Change] = field(default_factory=list)

    @property
    def timeline(self) -> Timeline:
        of = [np.array([getattr(change, name) for change in self.changes], np.int64)
              for name in ("table", "before", "after", "cause")]  # fmt: skip
        table, before, after_, cause = of
        numbers = np.arange(len(self.changes))
        rows = (self._rows(0), self._rows(1))
        return Timeline(
            rows, numbers, table, before, after_, cause, numbers + 5, ["a", "b"], table, numbers * 0, cause + 100
        )

    def _rows(self, position: int) -> SentRows:
        versions = self.versions[position]
        born, died = (np.array([getattr(v, name) for v in versions], np.int64) for name in ("born", "died"))
        columns = {name: _column(type_, [v.row[name] for v in versions]) for name, type_ in TYPES.items()}
        keys = {}
        for number, each in enumerate(self.join.classes):
            ((_, name),) = [place for place in each if place[0] == position]
            values = [v.row[name] for v in versions]
            keys[self.join.name, number, position] = np.array([-1 if v is None else 3 * v for v in values], np.int64)
        return SentRows(self.join.tables[position], born, died, keys, columns)

    def states(self) -> Iterator[tuple[int, list[Joined], list[Joined]]]:
        """Yield each cause, and the joined rows before and after it."""
        before = self._joined(-1)
        for i, change in enumerate(self.changes):
            if i + 1 == len(self.changes) or self.changes[i + 1].cause != change.cause:
                now = self._joined(i)
                yield change.cause, before, now
                before = now

    def _joined(self, at: int) -> list[Joined]:
        first, second = ([v.row for v in side if v.born <= at < v.died] for side in self.versions)
        return [(a, b) for a in first for b in second if self._are_joined((a, b))]

    def _are_joined(self, rows: Joined) -> bool:
        for each in self.join.classes:
            values = [rows[position][name] for position, name in each]
            if None in values or len(set(values)) > 1:
                return False
        return True


def draw(source: Random, most: int = 14) -> Drawn:
    """Draw a batch."""
    keys = ["k", "m"] if source.random() < 0.3 else ["k"]
    join, _ = Join.of(["a", "b"], [((0, name), (1, name)) for name in keys])
    made = Drawn(join, source.choice([1, 2, 5]))
    alive: tuple[dict[int, int], dict[int, int]] = ({}, {})
    for side in (0, 1):
        for key in range(source.randrange(6)):
            alive[side][key] = len(made.versions[side])
            made.versions[side].append(Version(_row(source, made.top)))
    cause = -1
    while len(made.changes) < most:
        cause += 1
        side, many = source.randrange(2), source.choice([1, 1, 1, 2, 4])
        for key in source.sample(range(6), many):
            _change(source, made, cause, side, alive[side], key)
    return made


def _change(source: Random, made: Drawn, cause: int, side: int, alive: dict[int, int], key: int) -> None:
    versions, at = made.versions[side], len(made.changes)
    before, now = alive.pop(key, -1), -1
    if before < 0 or source.random() < 0.75:
        row = _row(source, made.top)
        if before >= 0:
            row = {name: value if source.random() < 0.5 else row[name] for name, value in versions[before].row.items()}
        now = alive[key] = len(versions)
        versions.append(Version(row, born=at))
    if before >= 0:
        versions[before].died = at
    made.changes.append(Change(cause, side, before, now))


def _row(source: Random, top: int) -> Row:
    def number(most: int) -> int | None:
        return None if source.random() < 0.06 else source.randint(0, most)

    text = None if source.random() < 0.1 else source.choice(LETTERS)
    return {"k": number(2), "m": number(1), "x": number(top), "y": number(top), "s": text}


def _column(type_: ColumnType, values: Sequence[Any]) -> SentColumn:
    known = np.array([value is not None for value in values], np.bool_)
    if type_.coded:
        return SentColumn(np.array([value if value is not None else 0 for value in values], np.int64), known)
    places = [0 if value is None else LETTERS.index(value) for value in values]
    return SentColumn(np.array(places, np.int64), known, LETTERS)


def question(source: Random, join: Join, top: int) -> tuple[FilterShape, bytes]:
    """Draw a filter of a join: any conditions of single columns, all of which must hold; now and then one of two."""
    shown = tuple(source.choices(NAMES, k=source.randint(1, 3)))
    tested = tuple(sorted(source.sample(NAMES, source.randint(0, 4))))
    boxes = [_box(source, tested, top) for _ in range(1 + (source.random() < 0.1))]
    return FilterShape(join.name, shown, (), tested, (), ()), encode_terms(boxes)


def _box(source: Random, tested: Sequence[str], top: int) -> Box:
    box = {}
    for place, name in enumerate(tested):
        a, b = source.randint(0, top), source.randint(0, top)
        lo, hi = min(a, b), max(a, b)
        kinds = [
            ValueSet(((lo, hi),)), ValueSet(((a, a),)), ValueSet(((lo, INT64_MAX),)), ValueSet(((INT64_MIN, hi),)),
            ValueSet(((INT64_MIN, a - 1), (a + 1, INT64_MAX))), ValueSet((), True), ValueSet(((lo, hi),), True),
        ]  # fmt: skip
        if TYPES[place_of(name)[1]] is TEXT:
            key = source.choice(LETTERS).encode()
            kinds = [ValueSet(((key, after(key)),))] * 6 + [ValueSet(((key, b"\xff"),)), ValueSet((), True)]
        box[place] = source.choice(kinds)
    return box


def answer(shape: FilterShape, boxes: Sequence[Box], rows: Sequence[Joined]) -> Bag:
    """Return the rows of an answer as they are shown."""
    return Counter(
        tuple(value_of(row, name) for name in shape.shown)
        for row in rows
        if any(all(_holds(values, value_of(row, shape.tested[p])) for p, values in box.items()) for box in boxes)
    )


def value_of(row: Joined, name: str) -> Value:
    position, column = place_of(name)
    return row[position][column]


def _holds(values: ValueSet, value: Value) -> bool:
    if value is None:
        return values.null
    if isinstance(value, str):
        return any(lo <= value.encode() < hi for lo, hi in values.intervals)  # type: ignore[operator]
    return any(lo <= value <= hi for lo, hi in values.intervals)  # type: ignore[operator]
