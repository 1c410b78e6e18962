from __future__ import annotations

import pytest

from catalog.query.channel import Channel, ExtremumChannel, channel_of
from operators.channel_binding import ChannelBinding, ChannelError
from operators.channel_kinds import bind
from tests.operators.watched import RELATION, channel


def bound(kind: str, column: str | None, equal: tuple[str, ...] = (), range_: str | None = "x") -> ChannelBinding:
    return bind(channel(kind, column, equal, range_), RELATION)


def test_min_needs_the_ordering_of_its_conditions() -> None:
    made = bound("min", "y", ("e", "f"))
    assert (made.column, made.order, made.orderings) == (4, ((1, 2), 3), (((1, 2), 3),))
    assert (made.ranked, made.text, made.range_text) == ({}, False, False)


def test_distinct_needs_its_column_in_front_of_the_range_and_the_place_of_nulls() -> None:
    assert bound("distinct", "s", ("e",)).orderings == (((1, 5), 3), ((1,), 3))


@pytest.mark.parametrize(("column", "orderings"), [("e", (((1,), 3),)), ("x", (((1, 3), 3),))])
def test_what_a_condition_is_about_is_never_null(column: str, orderings: object) -> None:
    assert bound("distinct", column, ("e",)).orderings == orderings


def test_texts_that_are_ordered_by_are_ranked() -> None:
    assert bound("min", "s", (), "w").ranked == {5: False, 6: True}
    assert bound("distinct", "s", ("e",)).ranked == {}
    assert bound("values", "w", (), "s").ranked == {5: False}
    assert bound("rows", "s", (), None).ranked == {}


@pytest.mark.parametrize(
    "wrong",
    [
        ExtremumChannel("t", "median", "y", (), "x"),
        channel("max", None),
        channel("distinct", None),
        channel("rows", "nothing"),
        channel("rows", None, ("nothing",)),
        channel_of("u", "min", "y", (), "x"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(wrong: Channel) -> None:
    with pytest.raises(ChannelError, match="does not fit table `t`"):
        bind(wrong, RELATION)


def test_only_numbers_have_sums() -> None:
    with pytest.raises(ChannelError, match="VARCHAR; only numbers"):
        bound("values", "s")
