"""Channels as they are written, today and before there were tags."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.query.channel import BestChannel, Channel, ImageChannel, Order, channel_from_key, channel_of, is_known

KINDS = ("min", "max", "distinct", "rows", "values")
names = st.text(max_size=4)
channels = st.builds(
    channel_of, names, st.sampled_from(KINDS), st.none() | names, st.lists(names, max_size=2).map(tuple),
    st.none() | names,
)  # fmt: skip


@given(channels)
def test_a_channel_survives_its_key_with_its_tag_and_without(channel: Channel) -> None:
    tag, *rest = json.loads(channel.key)
    assert isinstance(tag, int) and channel_from_key(channel.key) == channel == channel_from_key(json.dumps(rest))
    assert is_known(channel)


@given(st.lists(channels, min_size=2, max_size=2))
def test_keys_are_equal_exactly_if_channels_are(two: list[Channel]) -> None:
    assert (two[0].key == two[1].key) == (two[0] == two[1])


def test_a_kind_under_the_tag_of_another_is_known_to_nobody() -> None:
    assert not is_known(channel_from_key('[1,"t","distinct","v",[],null]'))


def test_channels_of_rows_stay_as_they_are_written() -> None:
    best = BestChannel("t", "best", None, ("a",), "x", (Order("b", True, False), Order("k", False, False)), 5)
    written = '[5,"t","best",null,["a"],"x",[["b",true,false],["k",false,false]],5]'
    assert best.key == written and channel_from_key(written) == best and is_known(best)
    assert ImageChannel("t").key == '[4,"t","image",null,[],null]'
    assert channel_from_key(ImageChannel("t").key) == ImageChannel("t") and is_known(ImageChannel("t"))
    assert not is_known(channel_from_key('[4,"t","best",null,[],null]'))


@pytest.mark.parametrize(
    "key", ['[9,"t","min","v",[],null]', '["t","best","v",[],null]', '["t","image",null,[],null]', "{}", "[]", '"t"']
)
def test_what_is_no_channel_is_not_read(key: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        channel_from_key(key)
