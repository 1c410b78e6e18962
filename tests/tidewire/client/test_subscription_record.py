"""What a client writes for a subscription: exact, and refused where it cannot be said."""

from __future__ import annotations

from decimal import Decimal

import pytest

from overlay.intake.subscription_request import Request, read_request
from state.errors import UserError
from tidewire.client.subscription_record import ending_key, record_key, record_value


def test_numbers_arrive_as_they_were_given() -> None:
    params = [Decimal("12345678901234567890.12"), Decimal("1e400"), 2**70, 0.1, -0.0, 1e16, None, True, "x"]
    read = read_request(record_value({"template": "T", "params": params}))
    assert isinstance(read, Request) and read.params is not None
    assert read.params == [*params[:3], Decimal("0.1"), Decimal("-0.0"), Decimal("1e16"), None, True, "x"]


@pytest.mark.parametrize(
    ("param", "said"),
    [
        (float("nan"), "parameter 2 must be .*, got nan"),
        (float("-inf"), "got -inf"),
        (Decimal("NaN"), "got NaN"),
        (Decimal("Infinity"), "got Infinity"),
        (b"x", "got b'x'"),
        ("\ud800", "must be Unicode text"),
        (object(), "must be JSON"),
        ([10**5_000], "must be JSON"),
    ],
)
def test_what_json_cannot_say_is_refused(param: object, said: str) -> None:
    with pytest.raises(UserError, match=said):
        record_value({"template": "T", "params": [1, param]})


@pytest.mark.parametrize("id", ["", "@progress", "x" * 1_025, "é" * 600, "\ud800", "a\r\n", "\u2028"])
def test_ids_that_no_subscription_has(id: str) -> None:
    with pytest.raises(UserError, match=r"a subscription's id|are reserved"):
        record_key(id)


def test_sql_must_be_text_with_bytes() -> None:
    with pytest.raises(UserError, match=r"must be Unicode text, got 'SELECT \\udcff'"):
        record_value({"sql": "SELECT \udcff"})
    assert record_key("é") == "é".encode()


def test_what_an_earlier_version_has_taken_can_be_ended() -> None:
    assert ending_key("a\nb") == b"a\nb"
    for id in ("", "@progress", "x" * 1_025, "\ud800"):
        with pytest.raises(UserError, match=r"a subscription's id|are reserved"):
            ending_key(id)
