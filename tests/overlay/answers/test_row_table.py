"""Rows are there once, however many lists have them, and gone with the last."""

from __future__ import annotations

import numpy as np

from catalog.types.column_type import ColumnType, Kind
from operators.reply import encode_row
from overlay.answers.row_table import Projection, RowTable

BIGINT, TEXT = ColumnType(Kind.BIGINT), ColumnType(Kind.VARCHAR)
NAMES = Projection(("s", "k"), (TEXT,), False)
NUMBERS = Projection(("k",), (BIGINT,), True)


def test_rows_are_told_apart_by_projection_and_image() -> None:
    table = RowTable()
    names, numbers = table.projections.enter(NAMES), table.projections.enter(NUMBERS)
    one, other = encode_row([7]), encode_row([8])
    found = table.enter_all(numbers, [one, other, one])
    assert found[0] == found[2] != found[1]
    same_bytes = table.enter_all(names, [one])
    assert len(table) == 3 and table.images(same_bytes) == [one]
    table.check(np.concatenate([found, same_bytes]), [names, numbers])
    assert table.find(numbers, [other, encode_row([9])]).tolist() == [found[1], -1]
    table.leave(found)
    assert len(table) == 1 and table.find(numbers, [one]).tolist() == [-1]


def test_texts_are_those_of_the_row_that_has_a_number_now() -> None:
    table = RowTable()
    names, numbers = table.projections.enter(NAMES), table.projections.enter(NUMBERS)
    first = table.enter_all(names, [encode_row(["é", 1]), encode_row([None, 2])])
    assert table.texts(first) == dict(zip(first.tolist(), ['["é"]', "[null]"], strict=True))
    table.leave(first)
    again = table.enter_all(numbers, [encode_row([5]), encode_row([6])])
    assert sorted(again.tolist()) == sorted(first.tolist())
    assert table.texts(np.append(again, again)) == dict(zip(again.tolist(), ["[5]", "[6]"], strict=True))
    table.more(again[:1])
    table.leave(again)
    table.check(again[:1], [names, numbers])
    table.projections.leave([names])
    assert table.projections.value(numbers) == NUMBERS


def test_writers_of_projections_that_are_no_more_are_forgotten() -> None:
    table = RowTable()
    for i in range(9):
        number = table.projections.enter(Projection(("k", f"x{i}"), (BIGINT,), False))
        row = table.enter_all(number, [encode_row([i, 0])])
        assert table.texts(row) == {int(row[0]): f"[{i}]"}
        table.leave(row)
        table.projections.leave([number])
    assert len(table._writers) < 4
