from __future__ import annotations

import base64
import hashlib
import json

from connectors.dead_letter import DeadLetter
from connectors.record_limits import KEPT_BYTES
from connectors.topics import Topics

PLACE = ("stock", 3, 17, 1_772_409_599_000_000)


def test_a_letter_holds_where_why_and_the_bytes():
    letter = DeadLetter("malformed_json", "not a JSON text: é", *PLACE, b'"A"', b"\xff{")
    record = letter.record(Topics("x."))
    assert (record.topic, record.partition, record.key) == ("x.dead-letters", 0, b"stock/3/17")
    assert json.loads(record.value) == {
        "code": "malformed_json",
        "message": "not a JSON text: é",
        "topic": "stock",
        "partition": 3,
        "offset": 17,
        "timestamp": 1_772_409_599_000_000,
        "key": "IkEi",
        "key_length": 3,
        "value": base64.b64encode(b"\xff{").decode(),
        "length": 2,
        "sha256": hashlib.sha256(b"\xff{").hexdigest(),
    }


def test_no_key_and_no_value_are_null():
    body = json.loads(DeadLetter("missing_key", "", *PLACE, None, None).record(Topics()).value)
    assert [body[name] for name in ("key", "key_length", "value", "length", "sha256")] == [None] * 5


def test_ten_megabytes_stay_below_the_limit_of_the_sink():
    key, value = b"k" * 10_000_000, b"v" * 10_000_000
    record = DeadLetter("too_large", "", *PLACE, key, value).record(Topics())
    body = json.loads(record.value)
    assert len(record.value) < 900_000
    assert base64.b64decode(body["value"]) == value[:KEPT_BYTES]
    assert (body["length"], body["key_length"]) == (10_000_000, 10_000_000)
    assert body["sha256"] == hashlib.sha256(value).hexdigest()
