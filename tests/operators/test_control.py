import msgspec
import pytest

from catalog.shape import Channel
from operators.control import EpochBegins, Progress, RegisterAll, Withdraw, decode_control, encode_control
from operators.packed import is_packed


@pytest.mark.parametrize(
    "record",
    [
        EpochBegins(3, 1),
        RegisterAll(3, 1),
        Progress(3, 9, 1, "2026-03-01T00:00:00Z"),
        Progress(3, 9, 1, "2026-03-01T00:00:00Z", {"t": {"0": 4}}, {"t": {"0": 2**53 + 1}}),
        Withdraw(3, 7, [Channel("t", "max", "y", (), None)]),
    ],
)
def test_control_records_come_back_as_they_went(record):
    value = encode_control(record)
    assert decode_control(value) == record
    assert not is_packed(value)


@pytest.mark.parametrize("value", [b"", b"{}", b'{"kind":"other"}', b'{"kind":"epoch","epoch":"three","catalog":0}'])
def test_anything_else_is_refused(value):
    with pytest.raises(msgspec.DecodeError):
        decode_control(value)
