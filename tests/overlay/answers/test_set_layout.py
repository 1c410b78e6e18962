"""A DISTINCT is written in order, and its changes as what went and what came."""

from __future__ import annotations

from catalog.query.shape import Output, Shape
from catalog.types.column_type import ColumnType, Kind
from overlay.answers.answer import SetAnswer
from overlay.answers.set_layout import SetLayout


def test_a_distinct_tells_what_went_and_what_came() -> None:
    one = SetLayout(Shape("t", (Output("distinct", "v"),), (), None), [ColumnType(Kind.BIGINT)])
    assert one.text(SetAnswer({3, None, 1})) == "[null,1,3]"
    assert one.body(None, SetAnswer({2, 1})) == '"removed":[],"added":[1,2]'
    assert one.body(SetAnswer({1, 2}), SetAnswer({2, 3})) == '"removed":[1],"added":[3]'
    assert one.body(SetAnswer({1}), None) == '"removed":[1],"added":[]'
    assert one.differ(SetAnswer({1}), SetAnswer({2})) and not one.differ(SetAnswer({1}), SetAnswer({1}))
