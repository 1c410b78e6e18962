from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.packed import pack_best, unpack
from operators.wire.best_pieces import whole
from tests.effort import examples
from tests.operators.wire.test_best import HEADER, MESSAGE, TEXT_BOUNDS, causes_of, messages_of, said


@given(message=MESSAGE, cut=st.integers(1, 3))
@settings(max_examples=examples(100), deadline=None)
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
