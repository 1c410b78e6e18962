"""What an edge takes from `notifications`, what is a loss, and what only a newer edge can read."""

from __future__ import annotations

import msgspec
import pytest

from operators.control import Progress, Withdraw, encode_control
from operators.record_error import RecordError
from overlay.machine.notification import NotificationError, read_notification


def test_control_records_are_read() -> None:
    progress = Progress(5, 3, 0, "2026-03-01T00:00:00Z")
    assert read_notification(encode_control(progress), "here") == progress


@pytest.mark.parametrize("value", [b"", b"{", encode_control(Withdraw(0, 0, []))])
def test_what_is_no_notification_is_a_record_error(value: bytes) -> None:
    with pytest.raises(RecordError):
        read_notification(value, "here")


def test_what_a_newer_engine_wrote_says_where_and_what_to_do() -> None:
    newer = msgspec.json.decode(encode_control(Progress(5, 3, 0, "t"))) | {"format": 99}
    with pytest.raises(NotificationError, match=r"here cannot be read: .*Run an edge of the engine's version"):
        read_notification(msgspec.json.encode(newer), "here")
