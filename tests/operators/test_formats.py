"""What the releases before wrote is read as it was meant, and what they cannot know has a format of its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from catalog.query.best_shape import BestShape
from catalog.query.channel import Channel, ImageChannel, Order
from catalog.query.shape import Region
from operators.control import Withdraw, decode_control, encode_control
from operators.needed_format import format_of_channels
from operators.packed import (
    Header,
    PackedError,
    PackedMessages,
    PackedRegistrations,
    PackedSnapshot,
    PackedSummary,
    pack_messages,
    pack_registrations,
    unpack,
)
from operators.record_error import HORIZON_FORMAT
from state.causes import Causes
from tests.operators.test_packed import CHANNELS, SAMPLES, SHAPE, messages

GOLDEN = Path(__file__).parent / "golden"
LIST = BestShape("t", ("x",), ("g",), None, (Order("x", True, False), Order("id", False, False)), 3, ())


def old(kind: str, format_: int = 1) -> bytes:
    return (GOLDEN / f"format_{format_}_{kind}.bin").read_bytes()


def withdrawn_rows() -> bytes:
    channels: list[Channel] = [*CHANNELS, ImageChannel("t"), *LIST.channels]
    return encode_control(Withdraw(5, 3, channels, format_of_channels(channels)))


def messages_of_a_stream() -> bytes:
    """What a view of a stream sends, with its horizon: of format 5."""
    rows = [{"cause": cause, "new": cause + 3, "has_new": True} for cause in (0, 1)]
    causes = Causes(["s"], np.zeros(2, np.int32), np.zeros(2, np.int32), np.arange(2))
    header = Header("messages", 5, "v/0", 3, horizon=1_772_326_800_000_000, format=HORIZON_FORMAT)
    return pack_messages(header, messages(rows, []), np.arange(2), causes, np.zeros(2, np.bool_))


def test_messages_of_format_1_say_what_they_said() -> None:
    before, now = unpack(old("messages")), unpack(SAMPLES["messages"])
    assert isinstance(before, PackedMessages) and isinstance(now, PackedMessages)
    assert (before.header.format, now.header.format) == (1, 2)
    assert before.messages.channels == now.messages.channels == CHANNELS
    for name in ("channel", "group", "rows", "new", "old", "lo_min", "lo_max", "hi_min", "hi_max"):
        assert getattr(before.messages, name).tolist() == getattr(now.messages, name).tolist(), name
    for name in ("seq", "partition", "offset"):
        assert getattr(before, name).tolist() == getattr(now, name).tolist(), name


def test_answers_and_registrations_of_format_1_say_what_they_said() -> None:
    before, now = unpack(old("snapshot")), unpack(SAMPLES["snapshot"])
    assert isinstance(before, PackedSnapshot) and isinstance(now, PackedSnapshot)
    assert before.parts == now.parts and before.version.tolist() == now.version.tolist()
    asked, today = unpack(old("register")), unpack(SAMPLES["register"])
    assert isinstance(asked, PackedRegistrations) and isinstance(today, PackedRegistrations)
    assert (asked.versions, asked.regions) == (today.versions, today.regions)
    assert (asked.live, today.live) == ([True, True], [False, False])
    summary = unpack(old("summary"))
    assert isinstance(summary, PackedSummary) and summary.header.channels == CHANNELS[:2]
    assert decode_control(old("withdraw")) == Withdraw(5, 3, CHANNELS)


def test_what_ranges_register_has_the_bytes_that_c92b348_gave_it() -> None:
    """An engine of that version goes on beside newer edges as long as nobody asks for rows."""
    assert SAMPLES["register"] == old("register", 2)
    assert SAMPLES["summary"] == old("summary", 2)
    withdrawn = Withdraw(5, 3, CHANNELS, format_of_channels(CHANNELS))
    assert encode_control(withdrawn) == old("withdraw", 2)
    assert decode_control(old("withdraw", 2)) == withdrawn


def test_what_questions_for_rows_register_is_of_a_format_at_which_that_version_ends() -> None:
    assert SAMPLES["filters"] == old("register", 3)
    assert SAMPLES["needed"] == old("summary", 3)
    assert withdrawn_rows() == old("withdraw", 3)
    for value in (old("register", 3), old("summary", 3)):
        record = unpack(value)
        assert isinstance(record, PackedRegistrations | PackedSummary) and record.header.format == 3
    withdrawn = decode_control(old("withdraw", 3))
    assert isinstance(withdrawn, Withdraw) and withdrawn.format == 3 and ImageChannel("t") in withdrawn.channels


def test_what_a_view_of_a_stream_sends_in_format_5_is_read_for_ever() -> None:
    assert messages_of_a_stream() == old("messages", 5)
    record = unpack(old("messages", 5))
    assert isinstance(record, PackedMessages) and record.messages.new.tolist() == [3, 4]
    assert (record.header.format, record.header.horizon) == (5, 1_772_326_800_000_000)


def test_rows_of_one_cause_are_told_so_in_both_formats() -> None:
    before = unpack(old("sweeps"))
    assert isinstance(before, PackedMessages) and before.several is not None
    assert before.several.tolist() == [False, True, False, True, False]
    assert before.messages.cause[1] == before.messages.cause[3] and before.offset.tolist() == [10, 11, 3, 11, 12]
    rows = [{"cause": cause, "new": i, "has_new": True} for i, cause in enumerate((2, 4, 4, 7))]
    causes = Causes(["a", "b"], np.arange(8, dtype=np.int32) % 2, np.arange(8, dtype=np.int32), 10 * np.arange(8))
    value = pack_messages(Header("messages", 5, "t/0", 3), messages(rows, []), np.arange(4), causes, np.arange(8) == 4)
    now = unpack(value)
    assert isinstance(now, PackedMessages) and now.several is not None and now.header.topics == ["a", "b"]
    assert now.messages.cause.tolist() == [2, 4, 4, 7] and now.several.tolist() == [False, True, True, False]
    assert (now.partition.tolist(), now.offset.tolist()) == ([2, 4, 4, 7], [20, 40, 40, 70])


def test_constants_that_do_not_route_come_back() -> None:
    regions = [Region(SHAPE, b"[1]", 1, 5, terms=b"[2]"), Region(SHAPE, b"[1]", 1, 5)]
    (value,) = pack_registrations(Header("register", 2, "t/0"), [1, 2], regions, [True, False])
    read = unpack(value)
    assert isinstance(read, PackedRegistrations) and read.regions == regions and read.live == [True, False]


def test_a_table_that_a_later_version_adds_is_not_passed_over() -> None:
    batch = pa.RecordBatch.from_pydict({"key": pa.array([b"x"])}, metadata={b"name": b"images"})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    with pytest.raises(PackedError, match="a table `images`, which this version does not know") as refused:
        unpack(SAMPLES["messages"] + sink.getvalue().to_pybytes())
    assert refused.value.newer
