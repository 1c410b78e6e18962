import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.best_shape import BestShape
from catalog.query.channel import Order, channel_from_key, channel_of
from catalog.query.filter_shape import FilterShape
from catalog.query.shape import Output, Region, Shape, group_key, shape_from_key
from state.order_code import INT64_MAX, INT64_MIN
from tests.effort import examples


def test_a_shape_survives_its_key() -> None:
    shape = Shape("t", (Output("min", "price"), Output("count", None)), ("a", 'b"ü'), None)
    assert shape_from_key(shape.key) == shape
    assert shape.acknowledged == '["t",[["min","price"],["count",null]],["a","b\\"ü"],null]'
    assert shape.key == "[1," + shape.acknowledged[1:]


def test_a_key_of_before_there_were_tags_is_read() -> None:
    shape = Shape("t", (Output("min", "price"),), ("a",), None)
    assert shape_from_key(shape.acknowledged) == shape
    (channel,) = shape.channels
    assert channel.key == '[1,"t","min","price",["a"],null]'
    assert channel_from_key('["t","min","price",["a"],null]') == channel


def test_any_shape_is_read_by_its_tag() -> None:
    range_ = Shape("t", (Output("min", "price"),), ("a",), None)
    rows = FilterShape("t", ("k", "v"), (), ("v",), ("k",), (0,))
    best = BestShape("t", ("k", "v"), (), "v", (Order("k", False, False),), 3, (0,))
    assert [shape_from_key(shape.key) for shape in (range_, rows, best)] == [range_, rows, best]
    assert shape_from_key(range_.acknowledged) == range_
    for shape in (range_, rows, best):
        assert shape.key == f"[{shape.key[1]},{shape.acknowledged[1:]}"
    with pytest.raises(msgspec.ValidationError):
        shape_from_key('[9,"t",[],[],[],[],[]]')


values = st.lists(st.one_of(st.integers(INT64_MIN, INT64_MAX), st.text(max_size=5)), max_size=4).map(tuple)


@given(values, values)
@settings(deadline=None, max_examples=examples(100))
def test_groups_are_equal_exactly_if_their_values_are(a, b) -> None:
    assert (group_key(a) == group_key(b)) == (a == b)


def test_group_bytes_are_canonical() -> None:
    assert group_key(()) == b"[]"
    assert group_key((5, "é")) == '[5,"é"]'.encode()


def test_a_region_has_no_bounds_by_default() -> None:
    region = Region(Shape("t", (Output("min", "a"),), (), None), b"[]")
    assert (region.lo, region.hi, region.empty) == (INT64_MIN, INT64_MAX, False)


def test_count_uses_the_values_that_come_anyway() -> None:
    both = Shape("t", (Output("count", "a"), Output("sum", "a"), Output("count", "b")), (), "x")
    assert both.channels == (channel_of("t", "values", "a", (), "x"), channel_of("t", "rows", "b", (), "x"))
    assert [channel_from_key(channel.key) for channel in both.channels] == list(both.channels)
