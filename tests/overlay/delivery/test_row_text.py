"""The text of a row is the JSON of its values, whatever form the columns come in."""

from __future__ import annotations

import msgspec
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from catalog.types.column_type import ColumnType, Kind
from catalog.types.value import json_of_code
from overlay.delivery.row_text import RowColumn, RowTexts

CODED = {
    ColumnType(Kind.INTEGER): st.integers(-3, 3),
    ColumnType(Kind.BIGINT): st.sampled_from([-(2**63), 2**63 - 1, 2**53 + 1]),
    ColumnType(Kind.BOOLEAN): st.integers(0, 1),
    ColumnType(Kind.DECIMAL, 8, 2): st.integers(-150, 150),
    ColumnType(Kind.DOUBLE): st.sampled_from([0, 4_607_182_418_800_017_408, -4_607_182_418_800_017_409]),
    ColumnType(Kind.DATE): st.integers(-1, 20_000),
    ColumnType(Kind.TIMESTAMP): st.sampled_from([0, 1, -1, 1_772_357_400_000_000]),
}
TEXTS = st.sampled_from(["", "a", 'b"\n', "é", "\u2028", "𝄞", "\\", "null"])
UNCODED = (ColumnType(Kind.VARCHAR), ColumnType(Kind.DECIMAL, 38, 2))
TYPES = st.lists(st.sampled_from([*CODED, *UNCODED]), min_size=1, max_size=4)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[ColumnType], list[list[int | str | None]]]:
    types = draw(TYPES)
    row = st.tuples(*(st.none() | CODED.get(type_, TEXTS) for type_ in types))
    return types, [list(one) for one in draw(st.lists(row, max_size=6))]


def in_columns(types: list[ColumnType], rows: list[list[int | str | None]]) -> list[RowColumn]:
    """Return rows as a record of images has them: unknown places and codes are anything."""
    columns = []
    for place, type_ in enumerate(types):
        values = [row[place] for row in rows]
        known = np.array([value is not None for value in values], np.bool_)
        if type_.coded:
            columns.append(RowColumn(np.array([value or 0 for value in values], np.int64), known))
            continue
        texts = [*dict.fromkeys(value for value in values if value is not None), "nobody has this"]
        places = [99 if value is None else texts.index(value) for value in values]
        columns.append(RowColumn(np.array(places, np.int64), known, texts))
    return columns


@given(tables())
def test_rows_are_the_json_of_their_values(table: tuple[list[ColumnType], list[list[int | str | None]]]) -> None:
    types, rows = table
    expected = [
        msgspec.json.encode(
            [
                json_of_code(type_, value) if isinstance(value, int) else value
                for type_, value in zip(types, row, strict=True)
            ]
        ).decode()
        for row in rows
    ]
    texts = RowTexts(types)
    assert texts.texts(in_columns(types, rows)) == expected
    assert texts.of_values(rows) == expected
    assert texts.of_values(rows) == expected, "what is remembered is the same"


def test_integers_that_no_bigint_holds_are_integers() -> None:
    rows = RowTexts([ColumnType(Kind.DECIMAL, 38, 0, whole=True), ColumnType(Kind.DECIMAL, 38, 0)])
    found = rows.of_values([["-9223372036854775809", "5"], [None, None]])
    assert found == ['[-9223372036854775809,"5"]', "[null,null]"]
    column = RowColumn(np.array([0, 1]), np.array([True, False]), ["99999999999999999999"])
    assert rows.texts([column, column]) == ['[99999999999999999999,"99999999999999999999"]', "[null,null]"]


def test_a_column_may_be_shown_twice() -> None:
    texts = RowTexts([ColumnType(Kind.VARCHAR), ColumnType(Kind.VARCHAR)])
    column = RowColumn(np.array([0, 1]), np.array([True, False]), ["a"])
    assert texts.texts([column, column]) == ['["a","a"]', "[null,null]"]
