"""What only slots of filters have: columns that are not there before one is, constants that are shared."""

from __future__ import annotations

import numpy as np

from overlay.table.slot_filters import NONE, SlotFilters


def array(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def test_no_column_is_there_before_the_first_filter() -> None:
    filters = SlotFilters()
    filters.reserve(1_000)
    assert not len(filters.number) and not filters.are(array(3, 7)).any()
    assert filters.constants(array(3)) == [b""] and filters.sizes(array(3)).tolist() == [0]
    rows, constants = filters.stored(array(3))
    assert not len(rows) and constants == []
    filters.leave(array(3))
    filters.put(array(), [])
    filters.check(array(3))
    assert not len(filters.number)


def test_constants_are_shared_until_the_last_one_leaves() -> None:
    filters = SlotFilters()
    filters.reserve(5)
    filters.put(array(1, 3, 4), [b"x", b"yy", b"x"])
    assert len(filters) == 2 and filters.are(np.arange(5)).tolist() == [False, True, False, True, True]
    assert filters.constants(array(4, 0, 3)) == [b"x", b"", b"yy"] and filters.sizes(array(0, 3)).tolist() == [0, 2]
    filters.start(array(3), array(7), np.array([2**64 - 1], np.uint64), np.array([5], np.uint64))
    filters.check(array(1, 2, 3, 4))
    filters.reserve(9)
    filters.leave(array(2, 3, 4))
    filters.check(array(1, 8))
    assert filters.constants(array(1, 3)) == [b"x", b""] and filters.rows[3] == 0


def test_rows_come_and_go_modulo_two_to_the_64() -> None:
    filters = SlotFilters()
    filters.reserve(4)
    filters.put(array(1, 2), [b"x", b"y"])
    low, high = np.array([2**64 - 1, 2, 9, 2**64 - 4], np.uint64), np.array([1, 1, 0, 5], np.uint64)
    assert filters.add(array(2, 1, 2, 2), array(1, 1, 0, -1), low, high).tolist() == [1, 2]
    assert filters.rows[[1, 2]].tolist() == [1, 0]
    assert filters.low[[1, 2]].tolist() == [2, 4] and filters.high[[1, 2]].tolist() == [1, 6]
    assert not len(filters.add(array(), array(), low[:0], high[:0]))


def test_what_is_stored_is_read_back() -> None:
    filters, again = SlotFilters(), SlotFilters()
    filters.reserve(6)
    again.reserve(6)
    filters.put(array(0, 2, 5), [b"x", b"y", b"x"])
    filters.start(array(2), array(3), np.array([8], np.uint64), np.array([9], np.uint64))
    rows, constants = filters.stored(array(1, 2, 5))
    assert rows["constants"].tolist()[0] == NONE
    again.put_stored(array(1, 2, 5), rows, constants)
    again.check(array(1, 2, 5))
    assert again.constants(array(1, 2, 5)) == [b"", b"y", b"x"] and (again.rows[2], again.high[2]) == (3, 9)
