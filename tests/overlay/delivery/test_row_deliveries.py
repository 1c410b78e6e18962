"""The bytes of deliveries of rows stay what they are, and so do those of a packed record of them."""

from __future__ import annotations

import msgspec

from overlay.delivery.packed_deliveries import PackedDeliveries, lines_of
from tests.overlay.delivery.row_deliveries import GOLDEN, PACKED, deliveries


def test_the_bytes_are_those_that_were_kept() -> None:
    assert deliveries() == GOLDEN.read_bytes().splitlines()


def test_packed_they_say_the_same() -> None:
    told = [line for line in deliveries() if b'"status"' not in line]
    assert [line for _, line in lines_of(PACKED.read_bytes(), {b"a"})] == told, "what was written is read"
    packed = PackedDeliveries()
    for line in told:
        packed.add(line)
    [record] = packed.take()
    assert [line for _, line in lines_of(record, {b"a"})] == told


def test_removed_and_added_are_always_there() -> None:
    for line in deliveries():
        told = msgspec.json.decode(line)
        if "kind" in told:
            assert isinstance(told["removed"], list) and isinstance(told["added"], list)
            assert ("form" in told) == (told["kind"] == "snapshot" or "whole" in told)
