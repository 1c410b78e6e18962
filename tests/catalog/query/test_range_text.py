from __future__ import annotations

from catalog.query.range_text import held_ends
from catalog.query.shape import BEYOND_KEYS, LOWEST_KEY
from catalog.query.value_set import NOTHING, ValueSet
from catalog.types.column_type import ColumnType, Kind
from catalog.types.order_key import after
from catalog.types.range_value import read_range
from state.order_code import INT64_MAX, INT64_MIN

NUM, TEXT = ColumnType(Kind.NUMRANGE, 6, 2), ColumnType(Kind.TEXTRANGE)


def test_ends_are_said_as_bounds() -> None:
    made = read_range(NUM, "(1,2]")
    assert isinstance(made.lower, int) and isinstance(made.upper, int)
    assert held_ends(NUM, True, ValueSet(((INT64_MIN, made.lower),))) == "up to (1.00"
    assert held_ends(NUM, False, ValueSet(((made.upper, INT64_MAX),), True)) == "from 2.00] or NULL"
    assert held_ends(NUM, True, ValueSet(((INT64_MIN, INT64_MAX),))) == "any"
    assert held_ends(NUM, True, NOTHING) == "nothing"


def test_ends_that_are_texts_are_said_as_bounds() -> None:
    key = str(read_range(TEXT, "[b,]").lower).encode()
    assert held_ends(TEXT, True, ValueSet(((LOWEST_KEY, after(key)),))) == "up to [b"
    assert held_ends(TEXT, True, ValueSet(((key, BEYOND_KEYS),))) == "from [b"
    assert held_ends(TEXT, True, ValueSet(((key, after(key)),))) == "[b"
