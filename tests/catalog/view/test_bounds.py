"""Bounds of numbers: exact, and types that hold them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.types.column_type import ColumnType, Kind
from catalog.view.bounds import (
    MOST_ROWS,
    WIDE_INTEGER,
    Bound,
    TooWide,
    bound_of,
    common_type,
    least_type,
    type_of,
)
from tests.catalog.sample import of

SMALL, INTEGER, BIG = of("SMALLINT"), of("INTEGER"), of("BIGINT")
exact = st.sampled_from([SMALL, INTEGER, BIG, of("DECIMAL", 4, 2), of("DECIMAL", 18, 0), of("DECIMAL", 20, 10)])


def bound(type_: ColumnType) -> Bound:
    found = bound_of(type_)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("made", "type_"),
    [
        (bound(SMALL).added(bound(SMALL)), BIG),
        (bound(INTEGER).multiplied(bound(INTEGER)), BIG),
        (bound(BIG), WIDE_INTEGER),
        (bound(INTEGER).summed(), BIG),
        (bound(BIG).summed(), WIDE_INTEGER),
        (bound(BIG).summed().added(bound(BIG).summed()).summed(), WIDE_INTEGER),
        (bound(of("DECIMAL", 8, 2)).added(bound(of("DECIMAL", 6, 2))), of("DECIMAL", 9, 2)),
        (bound(of("DECIMAL", 8, 2)).summed(), of("DECIMAL", 18, 2)),
        (bound(of("DECIMAL", 8, 2)).multiplied(bound(of("DECIMAL", 6, 2))), of("DECIMAL", 14, 4)),
        (bound(of("DECIMAL", 4, 2)).added(bound(INTEGER)), of("DECIMAL", 12, 2)),
        (Bound(1, 5, whole=False), of("DECIMAL", 5, 5)),
        (Bound(10**18, 0, whole=False), of("DECIMAL", 19, 0)),
    ],
)
def test_types_hold_what_is_computed(made: Bound, type_: ColumnType) -> None:
    assert type_of(made) == type_


def test_more_than_38_digits_are_too_many() -> None:
    assert type_of(Bound(10**38 - 1)) == WIDE_INTEGER
    for wide in (Bound(10**38), Bound(1, 39, whole=False), bound(of("DECIMAL", 38, 2)).summed()):
        with pytest.raises(TooWide):
            type_of(wide)


@given(exact, exact, st.booleans(), st.booleans())
def test_a_bound_holds_sums_and_products_of_the_greatest(
    one: ColumnType, other: ColumnType, up: bool, down: bool
) -> None:
    left, right = bound(one), bound(other)
    a, b = left.most * (1 if up else -1), right.most * (1 if down else -1)
    added, scale = left.added(right), max(left.scale, right.scale)
    assert abs(a * 10 ** (scale - left.scale) + b * 10 ** (scale - right.scale)) <= added.most
    assert abs(a * b) <= left.multiplied(right).most
    assert abs(a * MOST_ROWS) <= left.summed().most
    assert left.united(right).most >= max(left.at(scale).most, right.at(scale).most)


@pytest.mark.parametrize(
    ("types", "common"),
    [
        ([SMALL], SMALL),
        ([SMALL, BIG, INTEGER], BIG),
        ([BIG, WIDE_INTEGER], WIDE_INTEGER),
        ([SMALL, of("DECIMAL", 4, 2)], of("DECIMAL", 7, 2)),
        ([of("REAL")], of("REAL")),
        ([of("REAL"), SMALL], of("DOUBLE")),
        ([of("REAL"), of("DOUBLE")], of("DOUBLE")),
        ([of("VARCHAR"), of("VARCHAR")], of("VARCHAR")),
        ([of("VARCHAR"), SMALL], None),
        ([of("DATE"), of("TIMESTAMP")], None),
    ],
)
def test_a_type_for_several(types: list[ColumnType], common: ColumnType | None) -> None:
    assert common_type(types, [bound_of(type_) for type_ in types]) == common


def test_the_least_type_of_a_number() -> None:
    found = [least_type(n) for n in (0, -(2**15), 2**15, 2**31 - 1, 2**31, -(2**63), 2**63)]
    assert found == [SMALL, SMALL, INTEGER, INTEGER, BIG, BIG, WIDE_INTEGER]
    assert bound_of(ColumnType(Kind.DOUBLE)) is None
    with pytest.raises(TooWide):
        least_type(10**38)
