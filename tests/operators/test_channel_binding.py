"""Orders that channels keep: an ordering is told from a rank order, whatever numbers and columns stand in them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from operators.channel_binding import ChannelBinding, ChannelError, KeptOrder, OrderingKey, orderings_of, ranks_of
from state.errors import TidewireError
from state.rank_order import RankKey
from tests.effort import examples
from tests.operators.watched import channel

COLUMNS = st.integers(0, 2)
ORDERINGS = st.tuples(st.lists(COLUMNS, max_size=2).map(tuple), st.none() | COLUMNS)
RANKS = st.lists(st.tuples(COLUMNS, st.booleans(), st.booleans()), min_size=1, max_size=2).map(tuple)


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.tuples(st.booleans(), ORDERINGS, RANKS)))
def test_orders_are_parted_by_kind_and_keep_their_order(drawn: list[tuple[bool, OrderingKey, RankKey]]) -> None:
    """A rank order of two columns is a pair, too, as an ordering is."""
    kept: list[KeptOrder] = [rank if ranked else ordering for ranked, ordering, rank in drawn]
    assert orderings_of(kept) == [ordering for ranked, ordering, _ in drawn if not ranked]
    assert ranks_of(kept) == [rank for ranked, _, rank in drawn if ranked]


def test_all_that_a_channel_keeps() -> None:
    order: OrderingKey = ((1,), 3)
    rank: RankKey = ((4, True, False), (0, False, False))
    plain = ChannelBinding(channel("min", "y"), 4, order, (order, ((1,), None)), {}, False, False)
    assert plain.kept == (order, ((1,), None))
    ranked = ChannelBinding(channel("rows", None), None, order, (order,), {}, False, False, rank)
    assert ranked.kept == (order, rank)
    assert (orderings_of(ranked.kept), ranks_of(ranked.kept)) == ([order], [rank])


def test_a_channel_that_is_not_served_has_a_code() -> None:
    assert issubclass(ChannelError, TidewireError)
    assert ChannelError("no").code == "channel"
