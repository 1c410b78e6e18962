"""Deliveries of every form are read, and are field for field what stands in the topic."""

from __future__ import annotations

import msgspec
import pytest

from overlay.delivery.long_delivery import cut
from overlay.delivery.packed_deliveries import PackedDeliveries
from tidewire.client.delivery_reader import DeliveryReader
from tidewire.client.packed_deliveries import PACKED_KEY, DeliveryUnreadable
from tidewire.client.records import At, Delivery, Progress

CHANGE = (
    b'{"id":"s","kind":"change","version":3,"n":2,"old":null,"new":"10.25",'
    b'"at":{"epoch":1,"batch":4,"topic":"stock","partition":0,"offset":9}}'
)
LONG = (
    b'{"id":"d","kind":"ended","version":1,"n":4,"removed":[1,2,3],"added":["x","y"],'
    b'"at":{"epoch":0,"batch":0},"reason":"quota"}'
)
READ = Delivery("s", "change", 3, 2, At(1, 4, "stock", 0, 9), None, "10.25")
ENDED = Delivery("d", "ended", 1, 4, At(0, 0), removed=[1, 2, 3], added=["x", "y"], reason="quota")


def packed(*values: bytes) -> bytes:
    made = PackedDeliveries()
    for value in values:
        made.add(value)
    [record] = made.take()
    return record


def test_records_and_progress() -> None:
    reader = DeliveryReader()
    assert list(reader.read(b"s", CHANGE)) == [READ]
    assert list(reader.read(b"@progress", b'{"kind":"progress","epoch":1,"batch":4,"time":"t"}')) == [
        Progress(1, 4, "t")
    ]


def test_packed_ones_are_the_same() -> None:
    reader = DeliveryReader()
    assert list(reader.read(PACKED_KEY, packed(CHANGE, LONG, CHANGE))) == [READ, ENDED, READ]
    assert list(reader.objects(PACKED_KEY, packed(CHANGE))) == [msgspec.json.decode(CHANGE)]


def test_parts_are_put_together_among_others_and_in_either_form() -> None:
    parts, reader = cut(LONG, 100), DeliveryReader()
    assert len(parts) > 2
    assert [list(reader.read(b"d", part)) for part in parts] == [[]] * (len(parts) - 1) + [[ENDED]]
    assert list(reader.read(PACKED_KEY, packed(parts[0], CHANGE, *parts[1:], CHANGE))) == [READ, ENDED, READ]


def test_a_delivery_whose_first_part_is_gone_is_left_out() -> None:
    parts, reader = cut(LONG, 100), DeliveryReader()
    assert [found for part in [*parts[1:], *parts] for found in reader.read(b"d", part)] == [ENDED]


def test_what_no_edge_writes() -> None:
    with pytest.raises(DeliveryUnreadable, match="expected an Arrow stream"):
        list(DeliveryReader().read(PACKED_KEY, b"{}"))
    with pytest.raises(msgspec.DecodeError):
        list(DeliveryReader().read(b"s", b"no"))
