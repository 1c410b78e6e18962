"""Only what asks for rows needs the newer format."""

from __future__ import annotations

import pytest

from catalog.query.best_shape import BestShape
from catalog.query.channel import ImageChannel, Order
from catalog.query.filter_shape import FilterShape
from catalog.query.shape import AnyShape, Output, Shape
from operators.needed_format import format_of_channels, format_of_shapes

RANGE = Shape("t", (Output("min", "y"), Output("sum", "y")), ("g",), "x")
SUM = FilterShape("t", (), (Output("sum", "y"),), ("x", "y"), (), ())
ROWS = FilterShape("t", ("x",), (), ("x", "y"), (), ())
LIST = BestShape("t", ("x",), (), None, (Order("x", False, True),), 3, (0,))


@pytest.mark.parametrize("shapes", [[], [RANGE], [RANGE, RANGE]])
def test_ranges_stay_with_the_format_that_they_had(shapes: list[AnyShape]) -> None:
    assert format_of_shapes(shapes) == 2
    assert format_of_channels(channel for shape in shapes for channel in shape.channels) == 2


@pytest.mark.parametrize("shape", [SUM, ROWS, LIST])
def test_one_question_for_rows_is_enough(shape: AnyShape) -> None:
    assert format_of_shapes([RANGE, shape]) == 3
    assert format_of_channels([*RANGE.channels, *shape.channels]) == 3
    assert format_of_channels([ImageChannel("t")]) == 3
