"""What an edge takes from `notifications`, what is a loss, and what only a newer edge can read."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from catalog.query.channel import ImageChannel
from operators.control import Progress, Withdraw, encode_control
from operators.operator import Answers
from operators.packed import Header, PackedImages, pack_images, pack_snapshot
from operators.record_error import RecordError
from operators.row_images import Images
from overlay.machine import notification
from overlay.machine.notification import NotificationError, read_notification
from state.causes import Causes


def test_control_records_are_read() -> None:
    progress = Progress(5, 3, 0, "2026-03-01T00:00:00Z")
    assert read_notification(encode_control(progress), "here") == progress


def images(seq: int) -> bytes:
    nothing = np.zeros(1, np.int64)
    causes = Causes(["t"], nothing.astype(np.int32), nothing.astype(np.int32), nothing)
    told = Images(nothing.astype(np.int32), nothing, {})
    return pack_images(Header("images", 5, "t/0", 3), ImageChannel("t"), told, nothing + seq, causes)


def test_chunks_that_several_virtual_edges_may_be_sent_are_unpacked_once() -> None:
    assert read_notification(images(7), "here") is read_notification(images(7), "there")
    read = [read_notification(images(seq), "here") for seq in range(100)]
    assert [packed.seq.tolist() for packed in read if isinstance(packed, PackedImages)] == [[i] for i in range(100)]
    assert len(notification._shared) == notification._CHUNKS_SHARED


def test_a_snapshot_is_for_one_virtual_edge_and_not_kept() -> None:
    answers = Answers(np.zeros(1, np.int64), np.zeros(1, np.bool_), {})
    value = pack_snapshot(Header("snapshot", 5, "t/0", 3), np.zeros(1, np.int64), answers)
    assert read_notification(value, "here") is not read_notification(value, "here")


@pytest.mark.parametrize("value", [b"", b"{", encode_control(Withdraw(0, 0, []))])
def test_what_is_no_notification_is_a_record_error(value: bytes) -> None:
    with pytest.raises(RecordError):
        read_notification(value, "here")


def test_what_a_newer_engine_wrote_says_where_and_what_to_do() -> None:
    newer = msgspec.json.decode(encode_control(Progress(5, 3, 0, "t"))) | {"format": 99}
    with pytest.raises(NotificationError, match=r"here cannot be read: .*Run an edge of the engine's version"):
        read_notification(msgspec.json.encode(newer), "here")
