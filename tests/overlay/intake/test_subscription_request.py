"""Reading what clients write; the refusals are covered through the virtual edge too."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from connectors.kafka.partitioner import home_partition
from overlay.delivery.ack import Refusal
from overlay.intake.subscription_request import MAX_REQUEST_BYTES, Request, read_request, refuse_id
from tests.effort import examples
from tests.overlay import odd_records


def test_sql_and_templates_are_read() -> None:
    assert read_request(b'{"sql":"S"}') == Request(sql="S")
    read = read_request(b'{"template":"T ?","params":[1.10,"x",null,true,123456789012345678901]}')
    assert isinstance(read, Request)
    assert read.params == [Decimal("1.10"), "x", None, True, 123456789012345678901]
    assert isinstance(read.params[0], Decimal) and str(read.params[0]) == "1.10"


@settings(max_examples=examples(1_000), deadline=None)
@given(st.one_of(st.binary(max_size=40), odd_records.records))
@example(b'{"sql":"SELECT COUNT(*) FROM stock","ttl":1e99999999999999999999}')
@example(b'{"template":"SELECT COUNT(*) FROM stock WHERE price > ?","params":[1e99999999999999999999]}')
@example(b'{"sql":"SELECT COUNT(*) FROM stock","x":1e1000000000000000000}')
@example(b'{"sql":"SELECT COUNT(*) FROM stock","x":' + b"[" * 30_000 + b"]" * 30_000 + b"}")
@example(b'{"sql":"x","ttl":' + b"9" * 60_000 + b"}")
def test_any_bytes_are_a_request_or_a_refusal(value: bytes) -> None:
    read = read_request(value)
    if isinstance(read, Request):
        assert len(value) <= MAX_REQUEST_BYTES
    else:
        assert read.code == "malformed" and len(read.message) < 500 and read.message.encode()


@pytest.mark.parametrize("amount", ["9" * 30_000, "0." + "0" * 200 + "1", "1e5", "-1", "NaN", ".5", "1_0", "٣"])
def test_odd_amounts_name_no_policy(amount: str) -> None:
    refused = read_request(json.dumps({"sql": "x", "notify": f"MIN CHANGE {amount}"}).encode())
    assert isinstance(refused, Refusal) and "`notify` names no policy" in refused.message and len(refused.message) < 200


@given(st.binary(max_size=40))
def test_any_key_is_taken_exactly_in_its_home(key: bytes) -> None:
    verdicts = [refuse_id(key, number, 4) for number in range(4)]
    taken = [number for number, verdict in enumerate(verdicts) if verdict is None]
    assert taken in ([home_partition(key, 4)], [])
    if not taken:
        assert all(isinstance(verdict, Refusal) and verdict.code == "malformed" for verdict in verdicts)
