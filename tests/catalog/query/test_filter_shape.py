"""Shapes of filters as they are written, and what they are made from."""

from catalog.query.channel import ImageChannel
from catalog.query.filter_shape import FilterShape
from catalog.query.output import Output

ROWS = FilterShape("t", ("k", "v", "k"), (), ("v", "w"), ("k",), (0,))
TOTALS = FilterShape("t", (), (Output("sum", "v"), Output("count", None)), (), (), ())


def test_keys_stay_as_they_are() -> None:
    assert ROWS.key == '[2,"t",["k","v","k"],[],["v","w"],["k"],[0]]'
    assert TOTALS.key == '[2,"t",[],[["sum","v"],["count",null]],[],[],[]]'
    assert TOTALS.acknowledged == '["t",[],[["sum","v"],["count",null]],[],[],[]]'


def test_all_filters_of_a_table_have_one_channel() -> None:
    assert ROWS.channels == TOTALS.channels == (ImageChannel("t"),)
    assert TOTALS.channel_of(TOTALS.outputs[0]) == ImageChannel("t")
    assert (ROWS.equal, ROWS.range, ROWS.grouped) == ((), None, ("k",))
