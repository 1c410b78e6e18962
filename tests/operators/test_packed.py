import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.shape import Region, Shape, group_key
from operators.operator import Messages
from operators.packed import (
    MAX_REGISTRATIONS,
    Header,
    PackedError,
    PackedMessages,
    PackedRegistrations,
    PackedSnapshot,
    is_packed,
    pack_messages,
    pack_registrations,
    pack_snapshot,
    unpack,
)
from state.order_code import INT64_MAX, INT64_MIN

SHAPE = Shape("t", "min", "y", ("g",), "x")
EXTREMES = np.array([INT64_MIN, INT64_MAX], np.int64)


def messages() -> Messages:
    index = np.array([0, 0], np.int32)
    return Messages(
        [SHAPE],
        [group_key(("ä",))],
        index,
        index,
        index,
        EXTREMES,
        np.array([True, False]),
        EXTREMES,
        EXTREMES,
        EXTREMES,
        EXTREMES,
    )


def test_messages_come_back_as_they_went():
    header = Header("messages", 5, "t/0", 3, 8, 9, 1, 2, shapes=[SHAPE])
    value = pack_messages(header, messages(), np.array([8, 9]), np.array([0, 2]), np.array([70, 80]))
    assert is_packed(value)
    read = unpack(value)
    assert isinstance(read, PackedMessages)
    assert read.header == header
    assert read.seq.tolist() == [8, 9] and read.partition.tolist() == [0, 2] and read.offset.tolist() == [70, 80]
    assert read.messages.groups == [group_key(("ä",))]
    assert read.messages.has_new.tolist() == [True, False] and read.messages.new[0] == INT64_MIN
    assert read.messages.lo_min.tolist() == read.messages.hi_max.tolist() == EXTREMES.tolist()


def test_the_same_messages_give_the_same_bytes():
    header = Header("messages", 5, "t/0", 3, 8, 9, shapes=[SHAPE])
    arguments = (np.array([8, 9]), np.array([0, 2]), np.array([70, 80]))
    assert pack_messages(header, messages(), *arguments) == pack_messages(header, messages(), *arguments)


INT64 = st.one_of(st.integers(-3, 3), st.sampled_from([INT64_MIN, INT64_MAX]), st.integers(INT64_MIN, INT64_MAX))


@given(rows=st.lists(st.tuples(*[INT64] * 6, st.booleans(), st.integers(0, 2)), min_size=1, max_size=6))
@settings(max_examples=150, deadline=None)
def test_any_numbers_come_back_exactly(rows):
    offset, new, lo_min, lo_max, hi_min, hi_max, known, group = (np.array(column) for column in zip(*rows, strict=True))
    index, seq = np.zeros(len(rows), np.int32), np.arange(len(rows)) * 3 + 7
    groups = [group_key((i,)) for i in range(3)]
    sent = Messages([SHAPE], groups, index, index, group.astype(np.int32), new, known, lo_min, lo_max, hi_min, hi_max)
    read = unpack(pack_messages(Header("messages", 5, "t/0"), sent, seq, index, offset))
    assert isinstance(read, PackedMessages)
    assert (read.seq.tolist(), read.offset.tolist()) == (seq.tolist(), offset.tolist())
    assert read.messages.new.tolist() == np.where(known, new, 0).tolist()
    for name in ("has_new", "group", "lo_min", "lo_max", "hi_min", "hi_max"):
        assert getattr(read.messages, name).tolist() == getattr(sent, name).tolist()


def test_a_column_of_equal_values_takes_no_room():
    def size(m: int, step: int) -> int:
        same = np.full(m, 2**60)
        index = np.zeros(m, np.int32)
        bounds = [same + np.arange(m) * step * 2**20] * 4
        part = Messages([SHAPE], [b"[]"], index, index, index, same, np.ones(m, np.bool_), *bounds)
        return len(pack_messages(Header("messages", 5, "t/0"), part, np.arange(m), index, same))

    assert size(10_000, 0) < 2_000 < 20_000 < size(10_000, 1)


def test_a_snapshot_keeps_null_apart_from_every_code():
    value = pack_snapshot(Header("snapshot", 1, "t/0", 4), np.array([7, 8]), EXTREMES, np.array([True, False]))
    read = unpack(value)
    assert isinstance(read, PackedSnapshot)
    assert read.version.tolist() == [7, 8] and read.has_new.tolist() == [True, False] and read.new[0] == INT64_MIN


def test_registrations_are_cut_at_ten_thousand():
    regions = [Region(SHAPE, group_key(("a",)), i, INT64_MAX, empty=i % 2 == 0) for i in range(MAX_REGISTRATIONS + 3)]
    values = list(pack_registrations(Header("register", 2, "t/0", ve=3, catalog=6), range(len(regions)), regions))
    first, second = (unpack(value) for value in values)
    assert isinstance(first, PackedRegistrations) and isinstance(second, PackedRegistrations)
    assert first.regions + second.regions == regions
    assert first.versions + second.versions == list(range(len(regions)))
    assert second.header == Header("register", 2, "t/0", ve=3, catalog=6, shapes=[SHAPE])


@pytest.mark.parametrize("value", [b"", b"\xff", b"{}", b"\xff\xff\xff\xff\x00\x00\x00\x00", b"PK\x03\x04"])
def test_what_is_no_packed_record_is_said_so(value):
    with pytest.raises(PackedError, match="not a packed record"):
        unpack(value)
