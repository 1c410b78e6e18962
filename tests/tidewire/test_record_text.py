"""Any record as JSON and as a line."""

import msgspec
import numpy as np

from connectors.kafka.record import KafkaRecord
from operators.operator import Answers
from operators.packed import Header, pack_snapshot
from tidewire.record_text import describe, readable, to_json


def test_json_text_and_bytes() -> None:
    record = KafkaRecord("t", 1, 2, 3, b"key", b'{"a":1}')
    assert to_json(record)["value"] == {"a": 1}
    assert describe(record) == 't/1/2  key  {"a":1}'
    assert describe(KafkaRecord("t", 1, 2, 3, None, None)) == "t/1/2  (none)  (none)"
    assert readable(b"\xfe\x00") == "0xfe00"


def test_numbers_are_shown_as_they_were_written() -> None:
    value = b'{"a":[12345678901234567890.120,1e400,-0.0,123456789012345678901234567890]}'
    record = KafkaRecord("t", 1, 2, 3, b"1.50", value)
    assert describe(record) == f"t/1/2  1.50  {value.decode()}"
    assert msgspec.json.encode(to_json(record)).endswith(b'"key":1.50,"value":' + value + b"}")


def test_packed_records_by_their_header() -> None:
    packed = pack_snapshot(Header("snapshot", 4, "t/0", 1), np.array([7]), Answers(np.array([1]), np.array([True]), {}))
    found = readable(packed)
    assert (found["packed"]["kind"], found["packed"]["epoch"], found["entries"]) == ("snapshot", 4, 1)
    assert "unreadable" in readable(b"\xff\xff")["packed"]


def test_what_is_nested_too_deeply_stays_text() -> None:
    deep = b"[" * 900 + b"]" * 900
    assert readable(deep) == deep.decode() and describe(KafkaRecord("t", 1, 2, 3, deep, b"9" * 5_000))
