from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.packed import pack_best, unpack
from operators.wire.best_pieces import joined, whole
from state.causes import Causes
from tests.effort import deep_examples
from tests.operators.wire.test_best import HEADER, MESSAGE, TEXT_BOUNDS, causes_of, messages_of, said


@pytest.mark.deep
@given(message=MESSAGE, cut=st.integers(1, 3))
@settings(max_examples=deep_examples(100, few=5), deadline=None)
def test_pieces_of_a_message_are_put_together(message, cut):
    messages, one = messages_of([message], [0]), np.zeros(1, np.int64)
    cands = len(message["cands"])
    cuts = [slice(at, min(at + cut, cands)) for at in range(0, cands, cut)] or [slice(0, 0)]
    pieces = [pack_best(HEADER, messages.piece(0, run, TEXT_BOUNDS), one, causes_of(1)) for run in cuts]
    other = pack_best(HEADER, messages, one + 1, causes_of(1))
    read = [unpack(value) for value in (*pieces, other)]
    assert [said(each.messages) for each in whole(read)] == [said(messages)] * 2
    if len(pieces) > 1:
        with pytest.raises(ValueError, match="more candidates of message 0"):
            whole(read[1:])


@pytest.mark.deep
@given(drawn=st.lists(MESSAGE, min_size=2, max_size=6), data=st.data())
@settings(max_examples=deep_examples(100, few=5), deadline=None)
def test_records_of_whole_messages_become_one(drawn, data):
    count = len(drawn)
    messages = replace(messages_of([one | {"channel": 0} for one in drawn], [*range(count)]), texts=[])
    seq, causes = np.arange(count) * 2, causes_of(count)
    cuts = sorted(data.draw(st.sets(st.integers(1, count - 1), min_size=1)))
    runs = [slice(*ends) for ends in zip([0, *cuts], [*cuts, count], strict=True)]
    several = [None if data.draw(st.booleans()) else np.arange(count) % 2 == 0 for _ in runs]
    read = [
        unpack(pack_best(HEADER, messages.take(run, TEXT_BOUNDS), seq[run], causes, some))
        for run, some in zip(runs, several, strict=True)
    ]
    one = joined(read)
    assert said(one.messages) == said(messages)
    assert one.seq.tolist() == seq.tolist()
    for name in ("partition", "offset"):
        assert getattr(one, name).tolist() == np.concatenate([getattr(part, name) for part in read]).tolist()
    flags = [part.several is not None and bool(part.several[i]) for part in read for i in range(len(part))]
    assert flags == ([False] * count if one.several is None else one.several.tolist())


def test_messages_that_become_one_record_keep_the_topics_of_their_causes():
    drawn = [{"channel": 0, "kind": 1, "box": (0, 1, 2, 3), "base": 0, "left": [1], "right": [], "cands": [(5, 2)],
              "old": 0, "new": -1}] * 4  # fmt: skip
    messages = replace(messages_of(drawn, [*range(4)]), texts=[])
    one, places = causes_of(4), np.array([1, 1, 0, 1])
    for topics, topic in ((["a", "b"], places), (["a"], places * 0)):
        causes = Causes(topics, topic, one.partition, one.offset)
        read = [
            unpack(pack_best(HEADER, messages.take(run, TEXT_BOUNDS), np.arange(4)[run], causes))
            for run in (slice(0, 2), slice(2, 4))
        ]
        both = joined(read)
        assert both.header.topics == topics
        assert (both.topic is None) if len(topics) == 1 else (both.topic.tolist() == topic.tolist())
