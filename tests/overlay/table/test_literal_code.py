"""Literals packed and unpacked."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.table.literal_code import pack, unpack
from tests.effort import examples


@settings(max_examples=examples(300), deadline=None)
@given(st.text(max_size=20) | st.text("0123456789. '-eEoné\xff\xee", max_size=20))
def test_any_text_comes_back(text: str) -> None:
    assert unpack(pack(text)) == text
    assert len(pack(text)) <= len(text.encode()) + 1


def test_numbers_take_half() -> None:
    assert pack("'101' 2.5") == bytes.fromhex("c101cb2a5e") and len(pack("'K20' 123.456789 124.456789")) == 15
    assert pack("") == b"" and pack("1") == b"\x1e"
