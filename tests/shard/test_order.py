import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from connectors.record import RawRecords
from shard.order import order, order_records

Triple = tuple[int, int, int]


def batch(rows: list[Triple], topic: str = "t") -> RawRecords:
    return RawRecords(
        topic=topic,
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


@given(rows, rows, rows, st.integers(0, 12), st.randoms(use_true_random=False))
def test_records_of_all_topics_have_their_places_in_one_order(first, second, third, cut, random):
    by_topic = {"a": first, "b": second, "c": third}
    expected = []
    for topic, taken in by_topic.items():
        highest: dict[int, int] = {}
        for partition, offset, stamp in sorted(taken):
            highest[partition] = max(highest.get(partition, stamp), stamp)
            expected.append((highest[partition], topic, partition, offset))
    pieces = [batch(part, topic) for topic, taken in by_topic.items() for part in (taken[:cut], taken[cut:])]
    random.shuffle(pieces)
    ordered = order(pieces, "registrations", by_topic)
    placed = [
        (place, topic, int(records.partition[i]), int(records.offset[i]))
        for topic, records in ordered.rows.items()
        for i, place in enumerate(ordered.places()[topic].tolist())
    ]
    assert [record[1:] for record in sorted(placed)] == [record[1:] for record in sorted(expected)]
    assert sorted(record[0] for record in placed) == list(range(len(expected)))


def test_registrations_stand_outside_and_go_to_the_member_that_they_name():
    asked = batch([(0, 0, 9), (0, 1, 1)], "registrations")
    asked.keys = [b"t/0", b"u/0"]
    ordered = order([asked, batch([(0, 0, 3)]), batch([(0, 0, 1)], "x")], "registrations", ["t", "u"])
    assert list(ordered.rows) == ["t"] and ordered.places()["t"].tolist() == [0]
    mine = ordered.addressed("u/0")
    assert mine is not None and mine.offset.tolist() == [1]
    assert ordered.addressed("v/0") is None
    assert order([asked], "registrations", []).places() == {}
    one = batch([(0, 0, 9)], "registrations")
    one.keys = [b"t/0"]
    assert order([one], "registrations", []).addressed("t/0") is one
