"""Reading what clients write; the refusals are covered through the virtual edge too."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from connectors.partitioner import home_partition
from overlay.ack import Refusal
from overlay.subscription_request import Request, read_request, refuse_id


def test_sql_and_templates_are_read() -> None:
    assert read_request(b'{"sql":"S"}') == Request(sql="S")
    read = read_request(b'{"template":"T ?","params":[1.10,"x",null,true,123456789012345678901]}')
    assert isinstance(read, Request)
    assert read.params == [Decimal("1.10"), "x", None, True, 123456789012345678901]
    assert isinstance(read.params[0], Decimal) and str(read.params[0]) == "1.10"


@given(st.binary(max_size=40))
def test_any_bytes_are_a_request_or_a_refusal(value: bytes) -> None:
    read = read_request(value)
    assert isinstance(read, Request) or (read.code == "malformed" and read.hint)


@given(st.binary(max_size=40))
def test_any_key_is_taken_exactly_in_its_home(key: bytes) -> None:
    verdicts = [refuse_id(key, number, 4) for number in range(4)]
    taken = [number for number, verdict in enumerate(verdicts) if verdict is None]
    assert taken in ([home_partition(key, 4)], [])
    if not taken:
        assert all(isinstance(verdict, Refusal) and verdict.code == "malformed" for verdict in verdicts)
