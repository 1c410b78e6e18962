"""Results of unknown size, collected in pieces."""

from __future__ import annotations

import numpy as np

from overlay.index import pair_buffer
from overlay.index.pair_buffer import Pairs, collect, in_order


def test_room_is_doubled_until_the_largest_message_fits(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(pair_buffer, "_LEAST", 1)
    sizes = [0, 3, 17, 1, 0]

    def run(start: int, out: Pairs) -> tuple[int, int]:
        count = 0
        for message in range(start, len(sizes)):
            if count + sizes[message] > len(out[0]):
                return message, count
            out[0][count : count + sizes[message]] = message
            out[1][count : count + sizes[message]] = range(sizes[message])
            count += sizes[message]
        return len(sizes), count

    message, slot = in_order(collect(0, len(sizes), run))
    assert np.bincount(message, minlength=5).tolist() == sizes
    assert slot.tolist() == [*range(3), *range(17), 0]


def test_pieces_are_merged_by_message_and_stay_in_order_within() -> None:
    first = (np.array([0, 2, 2]), np.array([5, 4, 3], np.int32))
    second = (np.array([1, 2]), np.array([9, 8], np.int32))
    message, slot = in_order([first, second])
    assert message.tolist() == [0, 1, 2, 2, 2] and slot.tolist() == [5, 9, 4, 3, 8]
    assert len(in_order([])[0]) == 0
