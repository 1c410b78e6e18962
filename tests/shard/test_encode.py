import numpy as np
import pytest

from operators.answer import Members
from operators.operator import Answers
from operators.packed import Header, PackedMessages, PackedSnapshot, unpack
from shard.encode import Encoder, chunks_of
from shard.route import Route
from shard.snapshot import Snapshot
from state.byte_runs import RECORD_BYTES
from tests.streaming.outgoing_messages import on_the_line


def encoder() -> Encoder:
    return Encoder("notifications", Header("messages", 3, "t/0", 5))


def answers(count: int, parts: dict | None = None) -> Answers:
    return Answers(np.arange(count), np.arange(count) % 2 == 0, parts or {})


def routed(*parts: tuple[list[int], list[int]]) -> Route:
    return Route([(np.array(rows), edges) for rows, edges in parts])


def test_edges_get_their_parts():
    out = list(encoder().encode({}, chunks_of(on_the_line([0, 1, 0]), routed(([0, 2], [0]), ([0, 1, 2], [1, 3])))))
    assert [record.partition for record in out] == [0, 1, 3]
    first, second = (unpack(record.value) for record in out[:2])
    assert isinstance(first, PackedMessages) and isinstance(second, PackedMessages)
    assert first.seq.tolist() == [100, 102] and second.seq.tolist() == [100, 101, 102]
    assert first.messages.new.tolist() == [0, 20] and first.offset.tolist() == [7, 9]
    assert (first.header.first_seq, first.header.last_seq) == (100, 102)
    assert out[1].value is out[2].value


def test_no_parts_nothing_is_sent():
    assert list(encoder().encode({}, chunks_of(on_the_line([0, 1]), Route()))) == []


def test_snapshot_and_messages_share_one_numbering_of_chunks():
    snapshot = Snapshot(np.array([8, 9]), answers(2, {1: (Members(("a",)),)}))
    out = list(encoder().encode({1: snapshot}, chunks_of(on_the_line([0]), routed(([0], [0, 1])))))
    records = [unpack(record.value) for record in out]
    assert [(r.header.kind, r.header.chunk, r.header.of) for r in records] == [
        ("messages", 0, 1),
        ("snapshot", 0, 2),
        ("messages", 1, 2),
    ]
    assert isinstance(records[1], PackedSnapshot)
    assert records[1].version.tolist() == [8, 9] and records[1].has_new.tolist() == [True, False]
    assert records[1].parts == {1: (Members(("a",)),)}


@pytest.mark.parametrize("width", [1, 6_000])
def test_chunks_are_bounded_and_lose_nothing(width):
    groups = [b'["' + b"g" * width + b'%d"]' % i for i in range(40)]
    whole = on_the_line([0] * 20_000, groups)
    out = list(encoder().encode({}, chunks_of(whole, routed((list(range(20_000)), [0])))))
    parts = [unpack(record.value) for record in out]
    assert len(out) > 1
    assert all(len(record.value) <= RECORD_BYTES * 1.05 for record in out)
    assert np.concatenate([part.seq for part in parts]).tolist() == whole.seq.tolist()
    assert [(part.header.chunk, part.header.of) for part in parts] == [(i, len(out)) for i in range(len(out))]
    names = [part.messages.groups[g] for part in parts for g in part.messages.group.tolist()]
    assert names == [groups[i % 40] for i in range(20_000)]


def test_big_answers_are_cut_and_keep_their_places():
    parts = {i: (Members((str(i) * 300_000,)),) for i in (1, 2, 3, 5)}
    out = list(encoder().encode({2: Snapshot(np.arange(10, 17), answers(7, parts))}, {}))
    read = [unpack(record.value) for record in out]
    assert len(read) > 1 and all(len(record.value) <= RECORD_BYTES * 1.05 for record in out)
    assert [version for part in read for version in part.version.tolist()] == list(range(10, 17))
    found = {int(part.version[i]) - 10: answer for part in read for i, answer in part.parts.items()}
    assert found == parts


def test_an_answer_that_is_larger_than_a_record_comes_as_several():
    parts = {1: (Members(tuple(f"{i:03d}" + "x" * 60_000 for i in range(40))),), 2: (Members(("a",)),)}
    out = list(encoder().encode({2: Snapshot(np.arange(10, 13), answers(3, parts))}, {}))
    read = [unpack(record.value) for record in out]
    assert len(read) > 2 and all(len(record.value) <= RECORD_BYTES * 1.05 for record in out)
    versions = [version for part in read for version in part.version.tolist()]
    assert [versions[0], set(versions[1:-1]), versions[-1]] == [10, {11}, 12]
    told = [answer[0].values for part in read for i, answer in sorted(part.parts.items()) if part.version[i] == 11]
    assert tuple(value for values in told for value in values) == parts[1][0].values
