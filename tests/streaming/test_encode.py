import numpy as np
import pytest

from catalog.shape import Shape, group_key
from operators.operator import Messages
from operators.packed import MAX_BYTES, Header, PackedMessages, PackedSnapshot, unpack
from streaming.encode import Encoder, Outgoing, route
from streaming.register import Snapshot

LOW = Shape("t", "min", "y", (), "x")
HIGH = Shape("t", "max", "y", (), "x")


def outgoing(shapes: list[int], groups: list[bytes] | None = None) -> Outgoing:
    m = len(shapes)
    column = np.arange(m, dtype=np.int64)
    names = groups or [group_key(())]
    messages = Messages(
        shapes=[LOW, HIGH],
        groups=names,
        cause=np.arange(m, dtype=np.int32),
        shape=np.array(shapes, np.int32),
        group=(np.arange(m) % len(names)).astype(np.int32),
        new=column * 10,
        has_new=column % 2 == 0,
        lo_min=column,
        lo_max=column,
        hi_min=column,
        hi_max=column,
    )
    return Outgoing(messages, column + 100, np.zeros(m, np.int64), column + 7)


def encoder() -> Encoder:
    return Encoder("notifications", Header("messages", 3, "t/0", 5), 4)


def test_edges_get_the_shapes_they_listen_to_and_nothing_else():
    out = list(encoder().encode({}, outgoing([0, 1, 0]), {LOW: 0b0011, HIGH: 0b0010}))
    assert [record.partition for record in out] == [0, 1]
    only_low, both = (unpack(record.value) for record in out)
    assert isinstance(only_low, PackedMessages) and isinstance(both, PackedMessages)
    assert only_low.seq.tolist() == [100, 102] and both.seq.tolist() == [100, 101, 102]
    assert only_low.messages.new.tolist() == [0, 20] and only_low.messages.has_new.tolist() == [True, True]
    assert only_low.offset.tolist() == [7, 9]
    assert (only_low.header.first_seq, only_low.header.last_seq) == (100, 102)


def test_nobody_listens_nothing_is_sent():
    assert list(encoder().encode({}, outgoing([0, 1]), {LOW: 0})) == []


def test_route_leaves_out_shapes_that_do_not_occur():
    assert route({LOW: 0b1, HIGH: 0b11}, outgoing([0, 0]).messages, 4) == {frozenset({0}): [0]}


def test_snapshot_and_messages_share_one_numbering_of_chunks():
    snapshot = Snapshot(np.array([8, 9]), np.array([1, 0]), np.array([True, False]))
    out = list(encoder().encode({1: snapshot}, outgoing([0]), {LOW: 0b11}))
    records = [unpack(record.value) for record in out]
    assert [(r.header.kind, r.header.chunk, r.header.of) for r in records] == [
        ("messages", 0, 1),
        ("snapshot", 0, 2),
        ("messages", 1, 2),
    ]
    assert isinstance(records[1], PackedSnapshot)
    assert records[1].version.tolist() == [8, 9] and records[1].has_new.tolist() == [True, False]


@pytest.mark.parametrize("width", [1, 6_000])
def test_chunks_are_bounded_and_lose_nothing(width):
    groups = [b'["' + b"g" * width + b'%d"]' % i for i in range(40)]
    whole = outgoing([0] * 20_000, groups)
    out = list(encoder().encode({}, whole, {LOW: 0b1}))
    parts = [unpack(record.value) for record in out]
    assert len(out) > 1
    assert all(len(record.value) <= MAX_BYTES * 1.05 for record in out)
    assert np.concatenate([part.seq for part in parts]).tolist() == whole.seq.tolist()
    assert [(part.header.chunk, part.header.of) for part in parts] == [(i, len(out)) for i in range(len(out))]
    names = [part.messages.groups[g] for part in parts for g in part.messages.group.tolist()]
    assert names == [groups[i % 40] for i in range(20_000)]
