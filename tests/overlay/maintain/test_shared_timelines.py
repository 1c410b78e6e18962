from __future__ import annotations

from operators.packed import Header, unpack
from operators.wire.timeline import pack, split
from overlay.maintain.shared_timelines import SharedTimelines
from tests.operators.timelines import small


def chunks() -> list:
    parts = list(split(small()))
    headers = [Header("", 5, "cell/r+s/0", 3, chunk=i, of=len(parts)) for i in range(len(parts))]
    return [unpack(pack(header, part)) for header, part in zip(headers, parts, strict=True)]


def test_the_very_same_chunks_and_rows_make_the_same_and_equal_ones_do_not():
    shared, sent, rows, made = SharedTimelines(), chunks(), [small().rows[0]], []

    def make():
        made.append(small())
        return made[-1]

    one = shared.of(sent, rows, make)
    assert shared.of(list(sent), list(rows), make) is one and len(made) == 1
    assert shared.of(chunks(), rows, make) is not one
    assert shared.of(sent, [small().rows[0]], make) is not one
    assert shared.of(sent, [], make) is not one


def test_the_oldest_goes():
    shared, sent = SharedTimelines(), chunks()
    one = shared.of(sent, [], small)
    for _ in range(8):
        shared.of(chunks(), [], small)
    assert shared.of(sent, [], small) is not one
