from __future__ import annotations

import numpy as np

from operators.channel_binding import ChannelBinding
from operators.channel_kinds import bind
from operators.delta import Delta
from operators.message_merge import MessageMerge
from state.order_code import INT64_MAX, INT64_MIN
from tests.operators.grounds import ground_of
from tests.operators.watched import RELATION, Change, channel

ROWS: list[Change] = [(i, {"e": "ab"[i % 2], "x": i, "y": i, "s": "pqr"[i]}) for i in range(3)]


def found(bound: ChannelBinding, causes: list[int], groups: list[int], new: list[int], box: list[int]) -> Delta:
    n = len(causes)
    zeros, ones = np.zeros(n, np.int64), np.ones(n, np.bool_)
    boxes = np.repeat(np.array(box)[:, None], n, axis=1)
    return Delta(bound.order, np.array(causes), np.array(groups), zeros, zeros, ~ones, np.array(new), ones, boxes)


def test_nothing_is_no_message() -> None:
    bound = bind(channel("min", "y"), RELATION)
    messages = MessageMerge(ground_of(bound, ROWS), [bound]).messages()
    assert (len(messages), messages.channels, messages.groups, messages.texts) == (0, [bound.channel], [], [])


def test_messages_are_by_cause_then_channel_and_share_groups() -> None:
    bounds = [bind(channel(kind, "y", ("e",)), RELATION) for kind in ("max", "min")]
    join = MessageMerge(ground_of(bounds[0], ROWS), bounds)
    join.add(0, found(bounds[0], [0, 2], [0, 1], [7, 8], [1, 2, 3, 4]))
    join.add(1, found(bounds[1], [0, 1], [1, 1], [5, 6], [1, 2, 3, 4]))
    messages = join.messages()
    assert messages.cause.tolist() == [0, 0, 1, 2]
    assert messages.channel.tolist() == [0, 1, 1, 0]
    assert [messages.groups[group] for group in messages.group] == [b'["a"]', b'["b"]', b'["b"]', b'["b"]']
    assert messages.new.tolist() == [7, 5, 6, 8]
    assert messages.hi_max.tolist() == [4] * 4
    assert messages.cause.dtype == messages.channel.dtype == messages.group.dtype == np.int32


def test_numbers_of_texts_become_places_and_ranks_become_cuts() -> None:
    bound = bind(channel("max", "s", (), "s"), RELATION)
    join = MessageMerge(ground_of(bound, ROWS), [bound])
    join.add(0, found(bound, [0], [0], [1], [1, 1, 1, 1]))
    join.add(0, found(bound, [1], [0], [2], [INT64_MIN, 2, 2, INT64_MAX]))
    messages = join.messages()
    assert [messages.texts[place] for place in messages.new.tolist()] == ["q", "r"]
    cuts = [messages.lo_min, messages.lo_max, messages.hi_min, messages.hi_max]
    named = [[messages.texts[place] if place >= 0 else None for place in cut.tolist()] for cut in cuts]
    assert named == [["p", None], ["q", "r"], ["q", "r"], ["r", None]]
    assert sorted(messages.texts) == ["p", "q", "r"]
