from __future__ import annotations

from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import encode_terms
from catalog.query.shape import BEYOND_KEYS, LOWEST_KEY, Region
from catalog.query.value_set import ValueSet
from catalog.types.order_key import after, order_key
from operators.coded_terms import CodedRows
from tests.operators.filter_rows import store_of
from tests.operators.watched import RELATION, WIDE

ROWS = CodedRows(RELATION, store_of([(i, {"s": s, "x": i}) for i, s in enumerate(["b", "a", "d", None, "b"])])[0])
SHAPE = FilterShape("t", ("id",), (), ("x", "s", "w"), (), ())


def boxes(*boxes: dict[int, ValueSet]) -> list:
    return ROWS.boxes([Region(SHAPE, b"[]", terms=encode_terms(boxes))])[0]


def test_texts_have_ranks_and_bounds_are_places_among_them() -> None:
    codes, valid = ROWS.codes(5)
    assert codes[valid].tolist() == [1, 0, 2, 1] and valid.tolist() == [True, True, True, False, True]
    assert boxes({1: ValueSet(((b"aa", b"c"),))}) == [[(5, [(1, 1)], False)]]
    assert boxes({1: ValueSet(((LOWEST_KEY, b"b"), (b"d", BEYOND_KEYS)), True)}) == [[(5, [(0, 0), (2, 2)], True)]]


def test_what_no_row_can_be_in_is_left_out() -> None:
    assert boxes({1: ValueSet(((b"e", b"f"),))}) == []
    assert boxes({1: ValueSet(((b"e", b"f"),), True)}) == [[(5, [], True)]]
    assert boxes({1: ValueSet(((b"e", b"f"),))}, {0: ValueSet(((1, 2),))}) == [[(3, ((1, 2),), False)]]
    assert ROWS.boxes([Region(SHAPE, b"[]", empty=True, terms=encode_terms([]))]) == [[]]


def test_the_bounds_of_wide_decimals_are_ordered_as_their_values_are() -> None:
    rows = CodedRows(RELATION, store_of([(i, {"w": w}) for i, w in enumerate(["-1.50", "-12.00", "0.50", "10.00"])])[0])
    assert rows.codes(6)[0].tolist() == [1, 0, 2, 3]
    low, high = order_key(WIDE, "-12.00"), order_key(WIDE, "0.50")
    for lo, hi, ranks in (
        (low, high, [(0, 1)]),
        (after(low), after(high), [(1, 2)]),
        (LOWEST_KEY, BEYOND_KEYS, [(0, 3)]),
    ):
        box = {2: ValueSet(((lo, hi),))}
        assert rows.boxes([Region(SHAPE, b"[]", terms=encode_terms([box]))]) == [[[(6, ranks, False)]]]
