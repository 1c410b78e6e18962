from __future__ import annotations

from operators.channel_kind import its_own_ordering, of_a_column
from tests.operators.watched import RELATION, channel


def test_a_channel_of_a_column_says_what_it_lacks_without_one() -> None:
    assert of_a_column(channel("min", "y"), RELATION) == ""
    assert of_a_column(channel("min", None), RELATION) == "`min` needs a column"


def test_its_own_ordering_is_that_of_what_is_compared_whatever_is_measured() -> None:
    order = ((1, 2), 3)
    assert its_own_ordering(4, order) == its_own_ordering(None, order) == (order,)
