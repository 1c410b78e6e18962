from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from operators.packed import Header, PackedError, PackedNamed, PackedRows, unpack
from operators.timeline import NamedRows, Stamps
from operators.wire.sent_rows import pack_named, pack_rows
from overlay.maintain.sent_window import MissingRowsError, SentWindow
from tests.operators.timelines import said, small
from tests.oracle.naive_timeline import values_of

ROWS = small().rows[0]


def stamps(batches: list[int], numbers: list[int]) -> Stamps:
    return Stamps(np.array(batches), np.array(numbers))


def spelled(batch: int, numbers: list[int], window: int = 4, chunk: int = 0, batches: list[int] | None = None):
    header = Header("", 5, "cell/r+s/0", batch, chunk=chunk, of=9, window=window)
    packed = unpack(pack_rows(header, replace(ROWS, stamps=stamps(batches or [batch] * 3, numbers)), 0))
    assert isinstance(packed, PackedRows)
    return packed


def named(batch: int, batches: list[int], numbers: list[int], told: tuple[str, ...] = ("x", "y"), window: int = 4):
    lives, keys = (
        np.zeros(len(batches), np.int64),
        {name: key[:1].repeat(len(batches)) for name, key in ROWS.keys.items()},
    )
    rows = NamedRows("r", lives - 1, lives + 9, keys, told, stamps(batches, numbers))
    packed = unpack(pack_named(Header("", 5, "cell/r+s/0", batch, of=9, window=window), rows, 0))
    assert isinstance(packed, PackedNamed)
    return packed


def values(window: SentWindow, *about) -> list[dict]:
    rows = window.spell(named(*about))
    return [values_of(rows, i) for i in range(len(rows))]


OWN = [values_of(ROWS, i) for i in range(3)]


def test_rows_are_known_by_their_stamps_in_any_order():
    window = SentWindow()
    window.keep(70, spelled(3, [5, 0, 2]), 3)
    window.keep(50, spelled(4, [0, 1, 2], chunk=1), 4)
    assert values(window, 5, [4, 3, 3, 4], [1, 2, 5, 0]) == [OWN[1], OWN[2], OWN[0], OWN[0]]
    assert (window.offset, window.rows) == (50, 6) and window.nbytes > 6 * 18
    assert window.spell(named(5, [3], [0], ("x",))).columns.keys() == {"x"}
    window.check()


def test_a_record_with_stamps_comes_back():
    packed = spelled(6, [0, -1, 7], batches=[6, -1, 4])
    assert packed.rows.stamps is not None and said(packed.rows) == said(ROWS)
    assert (packed.rows.stamps.batch.tolist(), packed.rows.stamps.number.tolist()) == ([6, -1, 4], [0, -1, 7])
    with pytest.raises(PackedError, match="no younger than the window"):
        spelled(9, [0, 1, 2], batches=[9, 5, 9])


def test_what_has_no_stamp_is_not_kept_and_a_copy_is_kept_once():
    window = SentWindow()
    for offset in (8, 9):
        window.keep(offset, spelled(6, [0, -1, 7], batches=[6, -1, 4]), 6)
    assert window.rows == 2 and window.offset == 8
    window.keep(1, unpack(pack_rows(Header("", 5, "cell/r+s/0", 6, of=9), ROWS, 0)), 6)  # type: ignore[arg-type]
    assert window.rows == 2


def test_rows_are_dropped_by_the_batch_of_their_stamps_alone():
    window = SentWindow()
    window.keep(8, spelled(6, [0, 1, 7], batches=[6, 6, 4]), 6)
    window.drop(8)
    with pytest.raises(MissingRowsError, match="batch 7 of `cell/r\\+s/0` names 1 rows of `r` of batch 4, as number 7"):
        values(window, 7, [4], [7])
    assert values(window, 9, [6], [1]) == [OWN[1]]
    window.drop(10)
    assert (window.rows, window.offset, window.nbytes) == (0, None, 0)
    window.keep(8, spelled(6, [0, 1, 2]), 10)
    assert window.rows == 0, "nobody may name it any more"


def test_what_is_not_there_is_said():
    window = SentWindow()
    window.keep(8, spelled(6, [0, 1, 2]), 6)
    for batches, numbers, told in (([6], [3], ("x",)), ([5], [0], ("x",)), ([6], [0], ("z",))):
        with pytest.raises(MissingRowsError):
            window.spell(named(7, batches, numbers, told))
    window.clear()
    with pytest.raises(MissingRowsError):
        values(window, 7, [6], [0])
