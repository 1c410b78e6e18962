import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.packed import PackedBest, pack_best, unpack
from operators.wire.best_pieces import whole
from shard.outgoing_best import OutgoingBest
from state.causes import Causes
from tests.effort import examples
from tests.operators.watched import RELATION, batch_of
from tests.operators.wire.test_best import HEADER, MESSAGE, messages_of, said


def outgoing_of(drawn: list[dict], starts: list[bool]) -> OutgoingBest:
    batch = batch_of([(i, None) for i in range(len(drawn))])
    batch.cause = np.cumsum([0, *starts[1:]]).astype(np.int32)
    messages = messages_of(drawn, list(range(len(drawn))))
    return OutgoingBest.of(messages, batch, Causes.of("t", batch), 99, RELATION)


@given(st.lists(st.tuples(MESSAGE, st.booleans()), min_size=1, max_size=9), st.sampled_from([1, 60_000, 53_000]))
@settings(max_examples=examples(200), deadline=None)
def test_it_is_cut_without_loss(drawn, most):
    whole_one = outgoing_of([message for message, _ in drawn], [starts for _, starts in drawn])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shard.outgoing_best.RECORD_BYTES", most)
        parts = list(whole_one.split())
    values = [pack_best(HEADER, part.messages, part.seq, part.causes, part.several) for part in parts]
    for value in values:
        assert len(value) <= most or most == 1
    read = [unpack(value) for value in values]
    assert all(isinstance(each, PackedBest) for each in read)
    joined = whole(read)
    assert [seq for each in joined for seq in each.seq.tolist()] == list(range(100, 100 + len(drawn)))
    assert [one for each in joined for one in said(each.messages)] == said(whole_one.messages)
    counts = np.bincount(whole_one.messages.cause)
    for each in joined:
        several = counts[each.messages.cause] > 1
        assert (each.several.tolist() if each.several is not None else [False] * len(each)) == several.tolist()


def test_a_message_with_many_long_candidates_is_cut_between_them():
    message = {"channel": 0, "kind": 1, "box": (0, 1, 2, 3), "base": 0, "left": [], "right": [], "old": 0, "new": -1}
    outgoing = outgoing_of([message | {"cands": [(i, i % 3) for i in range(9)]}], [True])
    outgoing.messages.images["name"].texts[:] = ["n" * 3_000, "", "o" * 3_000]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shard.outgoing_best.RECORD_BYTES", 55_000)
        parts = list(outgoing.split())
    assert len(parts) > 1 and {tuple(part.seq.tolist()) for part in parts} == {(100,)}
    assert sum(int(part.messages.cands[0]) for part in parts) == 9
