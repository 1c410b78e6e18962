"""What a shard may be made to hold, as registrations meet it."""

import pytest

from shard.bounds import Bounds, held
from shard.register import take_registrations
from tests.shard.test_register import BOTH, EPOCH, SHAPE, asked_of, state


def test_what_needs_more_than_the_bounds_is_refused_unless_it_has_begun():
    shard = state()
    take_registrations(shard, EPOCH, asked_of(SHAPE, 1))
    full = Bounds(channels=1)
    refused = take_registrations(shard, EPOCH, asked_of(BOTH, 2, 5), bounds=full)[3]
    assert [reply.code for reply in refused.replies.values()] == ["quota"] * 2 and len(shard.listeners) == 1
    assert refused.replies[0].hint.endswith("or raise the setting `shard_channels`.")
    assert "`t/0` has 1 channels and may have 1: this subscription needs 1 more" in refused.replies[0].message
    assert not take_registrations(shard, EPOCH, asked_of(SHAPE, 3), bounds=full)[3].replies
    assert not take_registrations(shard, EPOCH, asked_of(BOTH, 4, live=True), bounds=full)[3].replies
    assert len(shard.listeners) == 2


@pytest.mark.parametrize(("bounds", "what"), [(Bounds(orderings=0), "orderings"), (Bounds(state_bytes=4), "bytes")])
def test_orderings_and_bytes_are_bounded_too(bounds, what):
    refused = take_registrations(state(), EPOCH, asked_of(SHAPE, 1), bounds=bounds)[3]
    assert what in refused.replies[0].message


def test_what_is_held_is_told_by_setting_beside_its_bound():
    shard, bounds = state(), Bounds(channels=5, orderings=3, state_bytes=100)
    assert held(shard, bounds) == {"shard_channels": (0, 5), "shard_orderings": (0, 3), "shard_state_mb": (0, 100)}
    take_registrations(shard, EPOCH, asked_of(BOTH, 1), bounds=bounds)
    assert held(shard, bounds)["shard_channels"] == (2, 5) and held(shard, bounds)["shard_orderings"] == (1, 3)
