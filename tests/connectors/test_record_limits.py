"""What is sized from the limits of a record is large enough for them, and said where it is said."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from connectors.json import reader
from connectors.kafka.producer import MESSAGE_MAX_BYTES
from connectors.record_limits import KEPT_BYTES, MAX_ENVELOPE_BYTES, MAX_RECORD_BYTES
from state.byte_runs import RECORD_BYTES
from tests.oracle import json_twin
from tidewire.verification.input import debezium, decoding

ROOT = Path(__file__).parents[2]


def test_a_delivery_of_the_two_longest_texts_is_one_record() -> None:
    worst = len(json.dumps("\x01" * MAX_RECORD_BYTES))
    assert worst == 6 * MAX_RECORD_BYTES + 2
    assert 2 * worst + 1_000 <= RECORD_BYTES


def test_a_dead_letter_keeps_a_record_whole_and_is_one_record() -> None:
    assert MAX_RECORD_BYTES <= KEPT_BYTES
    assert 2 * len(base64.b64encode(b"x" * KEPT_BYTES)) + 1_000 <= RECORD_BYTES


def test_an_envelope_has_the_row_before_and_after_and_is_read() -> None:
    assert 2 * 6 * MAX_RECORD_BYTES <= MAX_ENVELOPE_BYTES <= reader.MAX_BYTES


def test_a_broker_takes_our_records_and_a_line_of_the_longest_that_is_read() -> None:
    assert RECORD_BYTES < MESSAGE_MAX_BYTES and reader.MAX_BYTES < MESSAGE_MAX_BYTES
    assert f"message.max.bytes={MESSAGE_MAX_BYTES}" in (ROOT / "conf/broker.properties").read_text().splitlines()


def test_the_twins_and_the_documentation_say_the_same() -> None:
    assert MAX_RECORD_BYTES == decoding.MAX_BYTES == json_twin.MAX_BYTES
    assert debezium.MAX_ENVELOPE == MAX_ENVELOPE_BYTES
    assert f"{MAX_RECORD_BYTES:,} bytes" in (ROOT / "docs/formats.md").read_text()
