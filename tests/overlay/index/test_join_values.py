"""Numbers of fixed values: who is in is found, NULL and what nobody fixed is not, numbers are given again."""

from __future__ import annotations

import numpy as np
import pytest

from catalog.types.column_type import ColumnType, Kind
from catalog.types.order_key import order_key
from operators.timeline import SentColumn
from overlay.index.join_values import EqualValues

NUMBER, TEXT, WIDE = ColumnType(Kind.BIGINT), ColumnType(Kind.VARCHAR), ColumnType(Kind.DECIMAL, 30, 2)
YES = np.ones(4, np.bool_)
CODES = SentColumn(np.array([3, 7, 3, 0]), np.array([True, True, True, False]))
TEXTS = SentColumn(np.array([1, 0, 0, 1]), YES, ["b", "a"])


def test_texts_and_codes_are_found_together() -> None:
    values = EqualValues([TEXT, NUMBER])
    assert values.find([TEXTS, CODES], 4).tolist() == [-1] * 4
    assert [values.enter((b"a", 3)), values.enter((b"b", 3)), values.enter((b"a", 3))] == [0, 1, 0]
    assert values.find([TEXTS, CODES], 4).tolist() == [0, -1, 1, -1]
    values.leave(0)
    assert values.find([TEXTS, CODES], 4).tolist() == [0, -1, 1, -1]
    values.leave(0)
    assert values.find([TEXTS, CODES], 4).tolist() == [-1, -1, 1, -1]
    assert values.enter((b"b", 7)) == 0 and len(values) == 2
    assert values.find([TEXTS, CODES], 4).tolist() == [-1, 0, 1, -1]
    values.check(np.array([0, 1]))
    with pytest.raises(AssertionError):
        values.check(np.array([0, 0, 1]))


def test_one_column_and_none() -> None:
    values = EqualValues([NUMBER])
    values.enter((3,))
    assert values.find([CODES], 4).tolist() == [0, -1, 0, -1]
    assert EqualValues([]).find([], 3).tolist() == [0, 0, 0]


def test_wide_decimals_are_known_by_their_keys() -> None:
    values = EqualValues([WIDE])
    values.enter((order_key(WIDE, "10.50"),))
    column = SentColumn(np.array([0, 1, 0, 1]), YES, ["10.50", "-3.00"])
    assert values.find([column], 4).tolist() == [0, -1, 0, -1]
