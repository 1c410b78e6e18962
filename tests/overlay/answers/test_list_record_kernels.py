"""Lists as `edge-state` has them, written by compiled loops, against MessagePack: rows of all lengths, none, many."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.answers.list_record_kernels import FEW_ROWS, HEAD, sizes, write
from tests.effort import examples

SKIP = 3
ROWS = [b"", b"a", b"\xff" * 255, b"b" * 256, b"c" * 0xFFFF, b"d" * 0x10000, b"bc"]


def records(lists: list[list[int]], skip: int = SKIP) -> list[bytes]:
    """The records of lists of numbers of `ROWS`, which lie apart, and behind `skip` bytes that are left out."""
    starts, lengths, data = list[int](), list[int](), b""
    for row in ROWS:
        data += b"??"
        starts.append(len(data))
        lengths.append(skip + len(row))
        data += b"!" * skip + row
    numbers = np.array([number for one in lists for number in one], np.int64)
    counts, size = np.array(list(map(len, lists)), np.int64), np.zeros(len(lists), np.int64)
    columns = np.array(starts, np.uint32), np.array(lengths, np.int32)
    sizes(numbers, counts, columns[1], skip, size)
    out = np.zeros(int(size.sum()), np.uint8)
    write(numbers, counts, np.frombuffer(bytearray(data), np.uint8), *columns, skip, out)
    ends = np.cumsum(size).tolist()
    return [out[end - n : end].tobytes() for end, n in zip(ends, size.tolist(), strict=True)]


def expected(one: list[int]) -> bytes:
    """A whole list without bounds and parts, of rows, from place 0 on."""
    return msgspec.msgpack.encode([True, None, None, None, 0, [], [], [ROWS[number] for number in one], 0])


@settings(max_examples=examples(100), deadline=None)
@given(
    st.lists(st.lists(st.sampled_from([0, 1, 2, 3, 6]), max_size=FEW_ROWS - 1), max_size=4), st.sampled_from([0, SKIP])
)
def test_a_record_is_what_messagepack_writes(lists: list[list[int]], skip: int) -> None:
    assert records(lists, skip) == [expected(one) for one in lists]


@pytest.mark.parametrize("row", range(len(ROWS)))
def test_rows_of_all_lengths(row: int) -> None:
    assert records([[row], [1, row]]) == [expected([row]), expected([1, row])]


def test_there_is_room_for_just_few_rows() -> None:
    (most,) = records([[1] * (FEW_ROWS - 1)])
    assert most == expected([1] * (FEW_ROWS - 1))
    assert most.startswith(HEAD.tobytes() + bytes([0x90 + FEW_ROWS - 1]))
