import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.channel import channel_of
from operators.control import (
    ControlError,
    EpochBegins,
    Progress,
    RegisterAll,
    Withdraw,
    control_at,
    decode_control,
    encode_control,
)
from operators.packed import is_packed
from tests.effort import examples
from tests.fuzz.mutation import mutated

RECORDS = [
    EpochBegins(3, 1),
    RegisterAll(3, 1),
    Progress(3, 9, 1, "2026-03-01T00:00:00Z"),
    Progress(3, 9, 1, "2026-03-01T00:00:00Z", {"t": {"0": 4}}, {"t": {"0": 2**53 + 1}}),
    Withdraw(3, 7, [channel_of("t", "max", "y", (), None)]),
]


@pytest.mark.parametrize("record", RECORDS)
def test_control_records_come_back_as_they_went(record):
    value = encode_control(record)
    assert decode_control(value) == record
    assert not is_packed(value)


DAMAGED = [
    b"",
    b"{}",
    b"null",
    b"[]",
    b"\xff",
    b'{"kind":"epoch","epoch":"three","catalog":0}',
    b'{"kind":"epoch","epoch":3}',
    b'{"kind":"epoch","epoch":1e400,"catalog":0}',
    b'{"kind":"epoch","epoch":99999999999999999999,"catalog":0}',
    b'{"kind":"progress","epoch":3,"batch":1,"catalog":0,"time":"\xff"}',
    b'{"kind":"progress","epoch":3,"batch":1,"catalog":0,"time":"","more":' + b"[" * 100_000,
    b'{"kind":7}',
]


@pytest.mark.parametrize("value", DAMAGED)
def test_anything_else_is_refused(value):
    with pytest.raises(ControlError, match="not a control record") as refused:
        decode_control(value)
    assert not refused.value.newer


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (b'{"kind":"epoch","format":99,"epoch":3,"catalog":0}', "format 99, expected at most 6"),
        (b'{"kind":"progress","format":7,"place":{}}', "format 7, expected at most 6"),
        (b'{"kind":"epoch","format":"2","epoch":3,"catalog":0}', "format '2', expected at most 6"),
        (b'{"kind":"other"}', "kind `other`"),
    ],
)
def test_a_newer_record_is_told_from_a_damaged_one(value, says):
    with pytest.raises(ControlError, match=says) as refused:
        decode_control(value)
    assert refused.value.newer


def test_the_sentence_says_where_a_record_stands_and_what_to_do():
    with pytest.raises(ControlError, match=r"^`t\.batches` \[0\] offset 7: not a control record .*another `prefix`"):
        control_at("t.batches", 0, 7, None)
    with pytest.raises(
        ControlError, match=r"^`t\.batches` \[0\] offset 7: .*Run the version of tidewire that wrote it"
    ):
        control_at("t.batches", 0, 7, b'{"kind":"progress","format":7}')
    assert control_at("t.batches", 0, 7, encode_control(RegisterAll(3, 1))) == RegisterAll(3, 1)


@given(mutated(st.sampled_from([encode_control(record) for record in RECORDS])))
@settings(max_examples=examples(300), deadline=None)
def test_damaged_bytes_are_a_record_or_refused(value):
    with contextlib.suppress(ControlError):
        encode_control(decode_control(value))
