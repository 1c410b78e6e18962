"""Joined rows, read as the rows of one relation are: so what answers filters of a table answers those of a join.

    by position   rows 0 4 4        column `1.price` of the join's relation: that of the table at position 1,
                  rows 7 1 2        at 7, 1, 2

Nothing of a table is copied before somebody asks for a column of it. Codes are those of the tables, numbers and ranks
of texts too: a column is all of one table.
Cost: 5 ns for each joined row and column that is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from catalog.schema.join import Join, place_of
from catalog.schema.relation import Relation
from operators.coded_terms import CodedRows
from state.byte_table import Strings
from state.change_batch import I64, Bool


class Side(NamedTuple):
    """Where a column of a join is: the rows of its table, its number there, and the position."""

    table: CodedRows
    column: int
    position: int


class _Texts:
    """The texts of the tables' dictionaries."""

    def __init__(self, sides: Sequence[Side]) -> None:
        self._sides = sides

    def strings_of(self, column: int) -> Strings:
        """Return the texts of a text column, each under its number."""
        side = self._sides[column]
        return side.table.rows.strings_of(side.column)

    def texts_of(self, column: int, numbers: I64) -> list[str]:
        """Return the texts under these numbers."""
        side = self._sides[column]
        return side.table.rows.texts_of(side.column, numbers)


class _Gathered:
    """Codes and validity of the joined rows, a column at a time."""

    def __init__(self, sides: Sequence[Side], rows: Sequence[I64]) -> None:
        self.codes = _Columns(sides, rows, "codes")
        self.valid = _Columns(sides, rows, "valid")


class _Columns:
    def __init__(self, sides: Sequence[Side], rows: Sequence[I64], what: str) -> None:
        self._sides = sides
        self._rows = rows
        self._what = what
        self._made: dict[int, I64] = {}

    def __getitem__(self, column: int) -> I64:
        if column not in self._made:
            table, number, position = self._sides[column]
            values: I64 = getattr(table.still, self._what)[number]
            self._made[column] = values[self._rows[position]]
        return self._made[column]


class JoinedRows(CodedRows):
    """Joined rows: `rows` has by position the row of each. `tables` are those of the join's tables, by name."""

    def __init__(self, relation: Relation, join: Join, tables: Mapping[str, CodedRows], rows: Sequence[I64]) -> None:
        self.relation = relation
        places = [place_of(column.name) for column in relation.columns]
        mine = [(tables[join.tables[position]], name, position) for position, name in places]
        self._sides = [Side(table, table.relation.index(name), position) for table, name, position in mine]
        self._count = len(rows[0])
        self._by_position = rows
        self.rows = _Texts(self._sides)
        self.still = _Gathered(self._sides, rows)

    def __len__(self) -> int:
        return self._count

    def side(self, column: int) -> Side:
        """Return where a column is."""
        return self._sides[column]

    def codes(self, column: int) -> tuple[I64, Bool]:
        """Return the code of each joined row, and where it has a value."""
        table, number, position = self._sides[column]
        codes, valid = table.codes(number)
        return codes[self._by_position[position]], valid[self._by_position[position]]

    def _ranked(self, column: int) -> tuple[I64, Strings]:
        return self._sides[column].table._ranked(self._sides[column].column)
