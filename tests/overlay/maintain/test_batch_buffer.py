"""Chunks wait until their batch is committed."""

from __future__ import annotations

import numpy as np
import pytest

from operators.packed import Header, PackedSnapshot
from overlay.maintain.batch_buffer import BatchBuffer, MissingChunksError


def chunk(batch: int, number: int, of: int, shard: str = "t/0", format_: int = 2) -> PackedSnapshot:
    header = Header("snapshot", 0, shard, batch, chunk=number, of=of, format=format_)
    return PackedSnapshot(header, np.array([number]), np.zeros(1, np.int64), np.ones(1, np.bool_), {})


def test_chunks_come_out_in_order_whatever_order_they_came_in() -> None:
    buffer = BatchBuffer()
    for offset, (shard, number) in enumerate([("u/0", 1), ("t/0", 0), ("u/0", 0)]):
        assert buffer.add(offset, chunk(3, number, 2 if shard == "u/0" else 1, shard))
        buffer.check()
    taken = buffer.take(3)
    assert [(c.header.shard, c.header.chunk) for c in taken.snapshots] == [("t/0", 0), ("u/0", 0), ("u/0", 1)]
    assert buffer.resume_offset is None


def test_the_first_copy_is_kept_and_its_offset_is_where_reading_resumes() -> None:
    buffer = BatchBuffer()
    assert buffer.add(10, chunk(3, 0, 2))
    assert not buffer.add(11, chunk(3, 0, 2))
    assert buffer.add(12, chunk(4, 0, 1))
    assert buffer.resume_offset == 10
    with pytest.raises(MissingChunksError):
        buffer.take(3)
    buffer.add(13, chunk(3, 1, 2))
    buffer.take(3)
    assert buffer.resume_offset == 12
    buffer.clear()
    assert buffer.resume_offset is None


def test_two_runs_of_a_batch_that_differ_are_found() -> None:
    buffer = BatchBuffer()
    buffer.add(1, chunk(3, 0, 2))
    with pytest.raises(MissingChunksError, match=r"expected chunks of 2, got a chunk of 3"):
        buffer.add(2, chunk(3, 0, 3))


def test_after_a_loss_shards_that_are_not_whole_are_left_out() -> None:
    buffer = BatchBuffer()
    buffer.add(1, chunk(3, 1, 2))
    buffer.add(2, chunk(3, 0, 1, "u/0"))
    taken = buffer.take(3, lenient=True)
    assert [c.header.shard for c in taken.snapshots] == ["u/0"]
    assert buffer.resume_offset is None


def test_a_higher_format_voids_what_is_buffered_of_a_lower_one_for_the_same_batch_and_shard() -> None:
    buffer = BatchBuffer()
    buffer.add(1, chunk(3, 0, 3, format_=1))
    buffer.add(2, chunk(3, 2, 3, format_=1))
    buffer.add(3, chunk(3, 0, 1, "u/0", format_=1))
    assert buffer.add(4, chunk(3, 0, 2)) and not buffer.add(5, chunk(3, 1, 3, format_=1))
    buffer.check()
    assert buffer.add(6, chunk(3, 1, 2)) and buffer.resume_offset == 3
    taken = buffer.take(3)
    assert [(c.header.shard, c.header.chunk, c.header.format) for c in taken.snapshots] == [
        ("t/0", 0, 2), ("t/0", 1, 2), ("u/0", 0, 1)
    ]  # fmt: skip
