"""Terms of filters read by a compiled loop: every form of a number, each bound of what is taken, what stands where."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from catalog.bulk.term_kernels import COUNT, NULL, read
from catalog.query.filter_terms import MAX_BOXES, MAX_COLUMNS, MAX_INTERVALS
from state.order_code import INT64_MAX, INT64_MIN


def taken(*terms: bytes) -> tuple[list[bool], list[int], list[int], list[list[int]], list[list[int]]]:
    """What is taken, the boxes of each, the conditions of each box, these, and the bounds apart."""
    data, n = np.frombuffer(b"".join(terms), np.uint8), len(terms)
    ends = np.cumsum([0, *map(len, terms)], dtype=np.int64)
    flags, boxes, starts = np.zeros(n, np.bool_), np.zeros(n + 1, np.int64), np.zeros(len(data) + 2, np.int64)
    conditions, bounds = np.zeros((len(data) // 4 + 1, 3), np.int64), np.zeros((len(data) // 3 + 1, 2), np.int64)
    box, row, used = read(data, ends, flags, boxes, starts, conditions, bounds)
    return flags.tolist(), boxes.tolist(), starts[: box + 1].tolist(), conditions[:row].tolist(), bounds[:used].tolist()


def packed(*boxes: list[tuple[int, list[tuple[int, int]], bool]]) -> bytes:
    return msgspec.msgpack.encode(boxes)


NUMBERS = [0, 1, 127, 128, 255, 256, 65_535, 65_536, 2**32 - 1, 2**32, INT64_MAX,
           -1, -32, -33, -128, -129, -32_768, -32_769, -(2**31), -(2**31) - 1, INT64_MIN]  # fmt: skip


@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_of_every_width(number: int) -> None:
    flags, _, _, conditions, _ = taken(packed([(3, [(number, number)], False)]))
    assert (flags, conditions) == ([True], [[3 | 1 << COUNT, number, number]])


WIDER = [b"\xcc", b"\xcd\0", b"\xce\0\0\0", b"\xcf" + b"\0" * 7, b"\xd0", b"\xd1\0", b"\xd2\0\0\0", b"\xd3" + b"\0" * 7]


@pytest.mark.parametrize("head", WIDER)
def test_a_number_that_is_wider_than_it_needs_to_be(head: bytes) -> None:
    data = head + b"\5"
    assert taken(b"\x91\x91\x93\x03\x91\x92" + data + data + b"\xc2")[3] == [[3 | 1 << COUNT, 5, 5]]


def test_where_boxes_conditions_and_bounds_stand() -> None:
    terms = [
        packed([(0, [(1, 2)], False), (2, [(3, 4), (6, 7)], True)], [(1, [], True)]),
        packed(),
        packed([]),
        packed([(5, [(0, 0), (2, 2), (4, 4)], False)]),
    ]
    flags, boxes, starts, conditions, bounds = taken(*terms)
    assert (flags, boxes, starts) == ([True] * 4, [0, 2, 2, 3, 4], [0, 2, 3, 3, 4])
    one, two = 1 << COUNT, 2 << COUNT
    assert conditions == [[one, 1, 2], [2 | 1 << NULL | two, 0, 0], [1 | 1 << NULL, 2, 0], [5 | 3 << COUNT, 2, 0]]
    assert bounds == [[3, 4], [6, 7], [0, 0], [2, 2], [4, 4]]


def test_what_is_not_taken_leaves_nothing_behind() -> None:
    """Its boxes and bounds are written over by what stands behind it."""
    good = packed([(0, [(1, 1), (3, 3)], False)])
    broken = packed([(0, [(5, 5), (7, 7)], False)], [(1, [(2, 1)], False)])
    flags, boxes, starts, conditions, bounds = taken(good, broken, good)
    assert (flags, boxes, starts) == ([True, False, True], [0, 1, 1, 2], [0, 1, 2])
    assert [row[1] for row in conditions] == [0, 2]
    assert bounds == [[1, 1], [3, 3]] * 2


def many(count: int) -> list[tuple[int, int]]:
    return [(2 * i, 2 * i) for i in range(count)]


@pytest.mark.parametrize(
    ("terms", "sound"),
    [
        (packed(*[[(0, [(1, 1)], False)]] * MAX_BOXES), True),
        (packed(*[[(0, [(1, 1)], False)]] * (MAX_BOXES + 1)), False),
        (packed([(i, [(1, 1)], False) for i in range(MAX_COLUMNS)]), True),
        (packed([(i, [(1, 1)], False) for i in range(MAX_COLUMNS + 1)]), False),
        (packed([(0, many(MAX_INTERVALS), False)]), True),
        (packed([(0, many(MAX_INTERVALS + 1), False)]), False),
        (packed([(2**16 - 1, [(1, 1)], False)]), True),
        (packed([(2**16, [(1, 1)], False)]), False),
        (packed([(-1, [(1, 1)], False)]), False),
        (packed([(1, [(1, 1)], False), (1, [(1, 1)], False)]), False),
        (packed([(0, [], False)]), False),
        (packed([(0, [], True)]), True),
        (packed([(0, [(2, 1)], False)]), False),
        (packed([(0, [(1, 1), (2, 2)], False)]), False),
        (packed([(0, [(1, 1), (3, 3)], False)]), True),
        (packed([(0, [(3, 3), (1, 1)], False)]), False),
        (packed([(0, [(1, INT64_MAX), (INT64_MIN, 0)], False)]), False),
        (packed([(0, [(INT64_MIN, INT64_MIN), (INT64_MIN + 1, 5)], False)]), False),
        (packed([(0, [(INT64_MIN, INT64_MIN), (INT64_MIN + 2, 5)], False)]), True),
        (packed([(0, [(1, 1)], False)]) + b"\x00", False),
        (packed([(0, [(1, 1)], False)])[:-1], False),
        (packed([(0, [(1, 1)], False)])[:-1] + b"\xc0", False),
        (b"\x91\x91\x93\x00\x91\x93\x01\x01\x01\xc2", False),
        (b"", False),
    ],
)
def test_what_is_taken(terms: bytes, sound: bool) -> None:
    assert taken(terms)[0] == [sound]
