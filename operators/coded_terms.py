"""Terms of filters over the rows of one moment: all conditions as closed intervals of 64-bit codes.

Order codes are such already. A text has none, but among the texts that a table has at a moment its rank is as good: its
place when they are sorted as their order keys are. A bound, which need be no text that is there, becomes how many texts
are below it; so [lo, hi) of order keys is [rank(lo), rank(hi) - 1]. Each different text is compared with a bound by the
sort alone, whatever the number of rows and filters.

    texts     b  a  d  b            sorted  a  b  d       ["aa", "c")   ->   [1, 1]      only b
    ranks     1  0  2  1                    0  1  2       ["e", end)    ->   [3, 2]      none: left out

Cost: a sort of the column's d different texts, d log d comparisons of 20 ns; 0.2 us and O(log d) a bound of texts;
5 us a filter to read its terms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import decode_terms
from catalog.query.shape import AnyShape, Region
from catalog.query.value_set import ValueSet
from catalog.schema.relation import Relation
from catalog.types.column_type import ColumnType, Kind
from catalog.types.order_key import text_of_key
from operators.readable_rows import Images, Texts
from state import text_rank
from state.byte_table import Strings
from state.change_batch import I64, Bool
from state.filter_columns import CodedBox
from state.row_store import RowStore

_WIDE_KEY_BYTES = 16


class CodedRows:
    """The stored rows of a table, each column as codes in which terms are closed intervals; made when first asked for.

    Columns are numbered as declared.
    """

    def __init__(self, relation: Relation, rows: RowStore) -> None:
        self.relation = relation
        self.rows: Texts = rows
        self.still: Images = rows.still()
        self._count = len(rows)
        self._ranks: dict[int, tuple[I64, Strings]] = {}

    def __len__(self) -> int:
        return self._count

    def codes(self, column: int) -> tuple[I64, Bool]:
        """Return the code of each row, and where it has a value."""
        codes, valid = self.still.codes[column], self.still.valid[column]
        if self._type(column).coded:
            return codes, valid
        ranks, _ = self._ranked(column)
        return (ranks[codes] if len(ranks) else codes), valid

    def boxes(self, regions: Sequence[Region]) -> list[list[CodedBox]]:
        """Return the boxes of each region over these rows; those that no value of the rows' can be in are left out.

        All regions are of filters. Raises ValueError for terms that are not sound.
        """
        decoded = [[] if region.empty else decode_terms(region.terms) for region in regions]
        shapes = {id(region.shape): self._tested(region.shape) for region in regions}
        columns = [shapes[id(region.shape)] for region in regions]
        texts: dict[int, list[ValueSet]] = {}
        for boxes, numbers in zip(decoded, columns, strict=True):
            for box in boxes:
                for place, values in box.items():
                    if values.intervals and not self._type(numbers[place]).coded:
                        texts.setdefault(numbers[place], []).append(values)
        closed = {column: self._closed(column, sets) for column, sets in texts.items()}
        found: list[list[CodedBox]] = []
        for boxes, numbers in zip(decoded, columns, strict=True):
            coded = ([self._coded(numbers[place], box[place], closed) for place in box] for box in boxes)
            found.append([box for box in coded if all(intervals or null for _, intervals, null in box)])
        return found

    def _tested(self, shape: AnyShape) -> list[int]:
        assert isinstance(shape, FilterShape)
        return [self.relation.index(name) for name in shape.tested]

    def _coded(
        self, column: int, values: ValueSet, closed: dict[int, Iterator[list[tuple[int, int]]]]
    ) -> tuple[int, Sequence[tuple[int, int]], bool]:
        """Return a condition; those of texts come in the order in which they were collected."""
        if not values.intervals or self._type(column).coded:
            return column, values.intervals, values.null  # type: ignore[return-value]
        return column, next(closed[column]), values.null

    def _closed(self, column: int, sets: Sequence[ValueSet]) -> Iterator[list[tuple[int, int]]]:
        """Yield the intervals of each set as closed ones of ranks, without those that hold no text that is there."""
        type_ = self._type(column)
        keys = [key for values in sets for interval in values.intervals for key in interval]
        past = [type_.kind is Kind.DECIMAL and len(key) > _WIDE_KEY_BYTES for key in keys]  # type: ignore[arg-type]
        bounds = [_bound(type_, key) for key in keys]  # type: ignore[arg-type]
        _, texts = self._ranked(column)
        ranks = text_rank.places(texts, Strings.of(bounds), np.array(past, np.bool_), type_.kind is Kind.DECIMAL)
        pairs = iter(ranks.reshape(-1, 2).tolist())
        for values in sets:
            mine = islice(pairs, len(values.intervals))
            yield [(lo, hi - 1) for lo, hi in mine if lo < hi]

    def _ranked(self, column: int) -> tuple[I64, Strings]:
        """Return the rank of each text by its number, and the texts in order."""
        if column not in self._ranks:
            strings = self.rows.strings_of(column)
            order = text_rank.order(strings, 0, self._type(column).kind is Kind.DECIMAL)
            ranks = np.empty(len(order), np.int64)
            ranks[order] = np.arange(len(order))
            self._ranks[column] = ranks, strings.take(order)
        return self._ranks[column]

    def _type(self, column: int) -> ColumnType:
        return self.relation.columns[column].type


def _bound(type_: ColumnType, key: bytes) -> bytes:
    """Return an order key as what the texts are compared with."""
    return text_of_key(type_, key).encode() if type_.kind is Kind.DECIMAL else key
