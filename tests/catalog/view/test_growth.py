from __future__ import annotations

from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from catalog.view.growth import EITHER, NEGATIVE, POSITIVE, ColumnGrowth, Growth, Signs, declared_growth
from catalog.view.moves import ANY, FIXED, MOVES, RISES

INTEGER = ColumnType(Kind.INTEGER)
QUOTE = Relation("quote", (Column("id", INTEGER, False), Column("n", INTEGER)), ("id",), "quote")


def test_rows_of_a_stream_come_and_stay_as_they_are() -> None:
    columns = {"id": ColumnGrowth(FIXED, EITHER, False), "n": ColumnGrowth(FIXED, EITHER, True)}
    assert declared_growth(QUOTE, True) == Growth(RISES, columns)


def test_of_a_row_of_a_table_only_the_key_stays() -> None:
    columns = {"id": ColumnGrowth(FIXED, EITHER, False), "n": ColumnGrowth(ANY, EITHER, True)}
    assert declared_growth(QUOTE, False) == Growth(MOVES, columns)


def test_signs_of_the_opposite() -> None:
    assert [signs.mirrored for signs in (NEGATIVE, POSITIVE, EITHER, Signs(0))] == [
        POSITIVE,
        NEGATIVE,
        EITHER,
        Signs(0),
    ]
