"""The naive twin of `operators.range_questions`: a dict of rows, and every answer recomputed from scratch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from catalog.query.channel import Channel
from catalog.schema.relation import Relation
from catalog.types.column_type import Kind
from catalog.types.order_key import order_key
from operators.exact_units import unit_of

Scalar = int | str | None
Bound = int | bytes
Row = Mapping[str, Scalar]
Held = Scalar | frozenset[Scalar] | tuple[int, int]
"""What a subscriber has of a channel: an extremum, a set of values, or (count, total in units)."""

KEEP = "keep"
"""Stands for an absent member of a row in a table with absent = 'keep'."""


class NaiveRangeQuestions:
    """Rows by primary key; NULLs as SQL has them. Cost: O(rows) an answer."""

    def __init__(self, relation: Relation) -> None:
        self._types = {column.name: column.type for column in relation.columns}
        self.rows: dict[bytes, dict[str, Scalar]] = {}

    def change(self, key: bytes, row: Row | None) -> None:
        """Put `row` in the place of the row called `key`; None deletes it."""
        old = self.rows.pop(key, None)
        if row is not None:
            stored = old or dict.fromkeys(self._types)
            given = {name: row.get(name) for name in self._types}
            self.rows[key] = {name: stored[name] if value == KEEP else value for name, value in given.items()}

    def sorted_by(self, column: str, value: Scalar) -> Bound:
        """Return what values of the column are ordered by."""
        assert value is not None
        return value if isinstance(value, int) else order_key(self._types[column], value)

    def unit(self, column: str, value: Scalar) -> int:
        """Return a value in units."""
        return 0 if value is None else unit_of(self._types[column], value)

    def answer(self, channel: Channel, group: bytes, lo: Bound, hi: Bound) -> Held:
        """Return what the channel holds for the rows of the group whose range attribute is within."""
        return self.held(channel, list(self._within(channel, self.of_group(channel, group), lo, hi)))

    def of_group(self, channel: Channel, group: bytes) -> list[Row]:
        """Return the rows of a group."""
        wanted = msgspec.json.decode(group)
        return [row for row in self.rows.values() if [row[name] for name in channel.equal] == wanted]

    def answers(self, channel: Channel, group: bytes, ranges: list[tuple[Bound, Bound]]) -> list[Held]:
        """Return the answers of many ranges of one group."""
        rows = self.of_group(channel, group)
        return [self.held(channel, list(self._within(channel, rows, lo, hi))) for lo, hi in ranges]

    def held(self, channel: Channel, rows: list[Row]) -> Held:
        """Return what the channel holds for these rows."""
        column = channel.column
        if column is None:
            return len(rows), 0
        if channel.kind == "distinct":
            return frozenset(row[column] for row in rows)
        values = [row[column] for row in rows if row[column] is not None]
        if channel.kind in ("min", "max"):
            best = min if channel.kind == "min" else max
            return best(values, key=lambda value: self.sorted_by(column, value), default=None)
        return len(values), sum(self.unit(column, value) for value in values) if channel.kind == "values" else 0

    def _within(self, channel: Channel, rows: list[Row], lo: Bound, hi: Bound) -> Iterator[Row]:
        for row in rows:
            if channel.range is None:
                yield row
            elif row[channel.range] is not None:
                x = self.sorted_by(channel.range, row[channel.range])
                if lo <= x < hi if isinstance(x, bytes) else lo <= x <= hi:  # type: ignore[operator]
                    yield row

    def is_text(self, column: str | None) -> bool:
        """Whether values of the column have no order codes."""
        return column is not None and (self._types[column].kind is Kind.VARCHAR or not self._types[column].coded)
