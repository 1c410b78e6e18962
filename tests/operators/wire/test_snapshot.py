"""Records of answers: a reply before parts before a code, NULL apart from every code, each where it was put."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.answer import Extremum, Members, Parts, Tally
from operators.operator import Answers
from operators.packed import Header, PackedError, PackedSnapshot, unpack
from operators.reply import Digest, Later, Refused, Reply, Rows, Same, encode_row
from operators.wire.snapshot import pack_snapshot
from state.order_code import INT64_MAX, INT64_MIN
from tests.effort import examples

HEADER = Header("snapshot", 1, "t/0", 4)
CODES = st.sampled_from([None, INT64_MIN, -1, 0, 1, INT64_MAX])
PARTS = st.sampled_from([None, (Tally.of(3, -(2**90)), Extremum("ä")), (Members((None, "b", 7)),), ()])
REPLIES = st.sampled_from(
    [None, Rows((encode_row([1, "a", None]),), last=False), Rows(()), Digest(3, 2**64 - 1, 0), Same(1, 2, 3), Later(),
     Refused("quota", "too many", "end some")]
)  # fmt: skip


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(st.tuples(st.integers(INT64_MIN, INT64_MAX), CODES, PARTS, REPLIES), max_size=6))
def test_what_was_packed_is_read_again(answers: list[tuple[int, int | None, Parts | None, Reply | None]]) -> None:
    version = np.array([version for version, *_ in answers], np.int64)
    new = np.array([code or 0 for _, code, *_ in answers], np.int64)
    has_new = np.array([code is not None for _, code, *_ in answers], np.bool_)
    parts = {i: parts for i, (_, _, parts, _) in enumerate(answers) if parts is not None}
    replies = {i: reply for i, (*_, reply) in enumerate(answers) if reply is not None}
    read = unpack(pack_snapshot(HEADER, version, Answers(new, has_new, parts), replies))
    assert isinstance(read, PackedSnapshot)
    assert read.version.tolist() == version.tolist()
    codes = zip(read.new.tolist(), read.has_new.tolist(), strict=True)
    assert [code if known else None for code, known in codes] == [code for _, code, *_ in answers]
    assert (read.parts, read.replies) == (parts, replies)


def test_answers_that_are_codes_have_no_columns_of_others() -> None:
    plain = Answers(np.arange(500), np.ones(500, np.bool_), {})
    assert pack_snapshot(HEADER, np.arange(500), plain, {}) == pack_snapshot(HEADER, np.arange(500), plain)
    assert len(pack_snapshot(HEADER, np.arange(500), plain, {7: Later()})) > len(
        pack_snapshot(HEADER, np.arange(500), plain)
    )


def test_a_snapshot_is_a_chunk_of_a_batch() -> None:
    nothing = Answers(np.zeros(0, np.int64), np.zeros(0, np.bool_), {})
    with pytest.raises(PackedError, match="chunk 0 of 1 of batch -1"):
        unpack(pack_snapshot(Header("snapshot", 1, "t/0"), np.zeros(0, np.int64), nothing))
