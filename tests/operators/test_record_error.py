"""What only a newer tidewire writes is told from what is damaged."""

from __future__ import annotations

import pytest

from operators.record_error import RecordError, newer_than_we

KINDS = ("epoch", "progress")


@pytest.mark.parametrize(
    ("header", "says"),
    [
        (b'{"kind":"epoch"}', ""),
        (b'{"kind":"epoch","format":1}', ""),
        (b'{"kind":"epoch","format":2}', ""),
        (b'{"kind":"epoch","format":3}', ""),
        (b'{"kind":"epoch","format":7}', "format 7, expected at most 6"),
        (b'{"format":0}', "format 0, expected at most 6"),
        (b'{"kind":"epoch","format":null}', "format None, expected at most 6"),
        (b'{"kind":"other"}', "kind `other`, which this version does not know"),
        (b"", ""),
        (b"{}", ""),
        (b'{"kind":1}', ""),
        (b'{"kind":"\xff"}', ""),
        (b"[" * 100_000, ""),
    ],
)
def test_format_and_kind_say_whether_a_newer_one_wrote_it(header: bytes, says: str) -> None:
    assert newer_than_we(header, KINDS) == says


def test_an_error_is_of_damage_unless_it_says_otherwise() -> None:
    assert not RecordError("x").newer and RecordError("x", newer=True).newer and not RecordError("x").retry_helps
