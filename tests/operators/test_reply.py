import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.operator import Answers
from operators.packed import Header, PackedSnapshot, pack_snapshot, unpack
from operators.reply import (
    Digest,
    Later,
    Refused,
    Rows,
    Same,
    decode_row,
    decode_rows,
    encode_reply,
    encode_row,
    encode_rows,
    reply_size,
    rows_apart,
)

REPLIES = [
    Rows((b"[1]", b"")), Rows((), last=False), Digest(3, 2**64 - 1, 0), Same(2**63 - 1, 2**64 - 1, 2**64 - 2),
    Refused("quota", "ü", "less"), Later(),
]  # fmt: skip


def test_a_registration_is_answered_by_a_value_or_by_any_reply() -> None:
    count = len(REPLIES) + 1
    answers = Answers(np.full(count, 7), np.ones(count, np.bool_), {})
    packed = pack_snapshot(Header("snapshot", 1, "t/0", 4), np.arange(count), answers, dict(enumerate(REPLIES, 1)))
    read = unpack(packed)
    assert isinstance(read, PackedSnapshot) and read.replies == dict(enumerate(REPLIES, 1)) and read.new[0] == 7


def test_rows_are_cut_and_the_last_piece_says_so() -> None:
    rows = Rows(tuple(encode_row((i, None, "ü")) for i in range(20)))
    assert [decode_row(row) for row in rows.rows[:2]] == [[0, None, "ü"], [1, None, "ü"]]
    pieces = rows_apart(rows, 100)
    assert len(pieces) > 2 and tuple(row for piece in pieces for row in piece.rows) == rows.rows
    assert [piece.last for piece in pieces] == [*[False] * (len(pieces) - 1), True]
    assert all(len(encode_reply(piece)) <= 100 for piece in pieces)
    assert all(rows_apart(reply, 10**6) == [reply] for reply in REPLIES)


@pytest.mark.parametrize("reply", REPLIES)
def test_its_size_is_bounded(reply) -> None:
    assert len(encode_reply(reply)) <= reply_size(reply)


def test_rows_are_written_together_as_alone() -> None:
    rows = [(1, None, "ü"), (), (2**63 - 1, "")]
    assert encode_rows(rows) == [encode_row(row) for row in rows]


pieces = st.sampled_from(
    [
        b"",
        b"\x01",
        b"\x90",
        b"\x91\x01",
        b"\x91",
        b"\x92\x01",
        b"\x02",
        b"\x91\x90",
        b"\xc1",
        b"\x91" * 5_000,
        b"\xa1\xff",
    ]
)
some_bytes = st.lists(pieces, max_size=3).map(b"".join) | st.binary(max_size=6)
sound = st.lists(st.integers(-(2**63), 2**63 - 1) | st.text(max_size=3) | st.none(), max_size=3).map(encode_row)


@given(st.lists(sound | some_bytes, max_size=6), st.integers(0, 3))
@settings(deadline=None)
def test_rows_are_read_together_as_alone(rows, width) -> None:
    """Bytes that are rows only where they lie behind each other are none."""

    def alone(row: bytes):
        try:
            read = decode_row(row)
            return read if len(read) == width else None
        except (msgspec.DecodeError, RecursionError):
            return None

    assert decode_rows(rows, width) == [alone(row) for row in rows]
