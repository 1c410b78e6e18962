import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from connectors.record import RawRecords
from shard.order import order_records

Triple = tuple[int, int, int]


def batch(rows: list[Triple]) -> RawRecords:
    return RawRecords(
        topic="t",
        keys=[b"%d/%d" % (partition, offset) for partition, offset, _ in rows],
        values=[None] * len(rows),
        partition=np.array([partition for partition, _, _ in rows], np.int32),
        offset=np.array([offset for _, offset, _ in rows], np.int64),
        timestamp=np.array([stamp for _, _, stamp in rows], np.int64),
    )


def naive(rows: list[Triple]) -> list[bytes]:
    highest: dict[int, int] = {}
    keyed = []
    for partition, offset, stamp in sorted(rows):
        highest[partition] = max(highest.get(partition, stamp), stamp)
        keyed.append((highest[partition], partition, offset))
    return [b"%d/%d" % (partition, offset) for _, partition, offset in sorted(keyed)]


rows = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 30), st.integers(0, 5)), max_size=12, unique_by=lambda row: row[:2]
)


@given(rows, st.integers(0, 12), st.randoms(use_true_random=False))
def test_any_arrival_gives_the_one_order(rows, cut, random):
    expected = naive(rows)
    random.shuffle(rows)
    ordered = order_records([batch(rows[:cut]), batch(rows[cut:])])
    assert ordered.keys == expected
    assert [b"%d/%d" % pair for pair in zip(ordered.partition, ordered.offset, strict=True)] == expected


def test_a_clock_that_jumps_back_does_not_reorder_a_partition():
    ordered = order_records([batch([(0, 0, 9), (0, 1, 1), (1, 0, 5)])])
    assert ordered.keys == [b"1/0", b"0/0", b"0/1"]


def test_what_is_in_order_is_not_copied():
    records = batch([(0, 0, 1), (0, 1, 1), (0, 2, 4)])
    assert order_records([records]) is records
