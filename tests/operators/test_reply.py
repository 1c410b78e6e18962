import numpy as np
import pytest

from operators.operator import Answers
from operators.packed import Header, PackedSnapshot, pack_snapshot, unpack
from operators.reply import Digest, Later, Refused, Rows, Same, encode_reply, reply_size

REPLIES = [
    Rows((b"[1]", b"")), Rows((), last=False), Digest(3, 2**64 - 1, 0), Same(), Refused("quota", "ü", "less"), Later()
]  # fmt: skip


def test_a_registration_is_answered_by_a_value_or_by_any_reply() -> None:
    count = len(REPLIES) + 1
    answers = Answers(np.full(count, 7), np.ones(count, np.bool_), {})
    packed = pack_snapshot(Header("snapshot", 1, "t/0", 4), np.arange(count), answers, dict(enumerate(REPLIES, 1)))
    read = unpack(packed)
    assert isinstance(read, PackedSnapshot) and read.replies == dict(enumerate(REPLIES, 1)) and read.new[0] == 7


@pytest.mark.parametrize("reply", REPLIES)
def test_its_size_is_bounded(reply) -> None:
    assert len(encode_reply(reply)) <= reply_size(reply)
