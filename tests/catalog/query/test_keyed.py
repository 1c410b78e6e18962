from __future__ import annotations

import pytest

from catalog.query.best_shape import BestShape
from catalog.query.channel import ImageChannel, Order, channel_from_key, channel_of
from catalog.query.filter_shape import FilterShape
from catalog.query.shape import AnyShape, Output, Shape, shape_from_key

SHAPES = [
    Shape("t", (Output("min", "x"),), ("a",), "x"),
    FilterShape("t", ("x", "x"), (), ("a",), (), ()),
    BestShape("t", ("x",), ("a",), None, (Order("x", True, False),), 3, ()),
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
def test_a_shape_is_read_from_its_key_and_is_shown_without_the_tag(shape: AnyShape) -> None:
    assert shape_from_key(shape.key) == shape
    tag = type(shape).__struct_config__.tag
    assert shape.key == f"[{tag}," + shape.acknowledged[1:]


def test_a_channel_is_read_from_its_key() -> None:
    for channel in (ImageChannel("t"), channel_of("t", "min", "x", ("a",), None)):
        assert channel_from_key(channel.key) == channel
