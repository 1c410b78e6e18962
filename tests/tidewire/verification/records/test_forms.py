"""Every form is read as the same delivery; what does not fit together is told."""

from __future__ import annotations

import json

import pytest

from overlay.delivery.long_delivery import cut
from overlay.delivery.packed_deliveries import PackedDeliveries
from tidewire.verification.records.forms import PACKED, DeliveriesOf, Malformed
from tidewire.verification.records.journal import Record

CHANGE = b'{"id":"s","kind":"change","version":3,"n":2,"old":null,"new":1.5,"at":{"epoch":1,"batch":4}}'
LONG = (
    b'{"id":"d","kind":"change","version":1,"n":4,"removed":[1,2,3],"added":["x","y"],'
    b'"at":{"epoch":0,"batch":0},"changes":3}'
)


def record(value: bytes, offset: int = 7, key: bytes = b"s") -> Record:
    return Record(0, offset, 0, key, value)


def packed(*values: bytes) -> Record:
    made = PackedDeliveries()
    for value in values:
        made.add(value)
    return record(made.take()[0], key=PACKED)


def test_one_by_one_and_packed() -> None:
    [alone] = DeliveriesOf().read(record(CHANGE))
    _, [_, second] = alone, list(DeliveriesOf().read(packed(LONG, CHANGE)))
    assert (alone.log_offset, alone.row, alone.packed) == (7, 0, False)
    assert (second.log_offset, second.row, second.packed) == (7, 1, True)
    assert alone.said == second.said == {"old": None, "new": 1.5} and alone.at == second.at


def test_parts_make_one_delivery_and_must_fit() -> None:
    parts, reader = cut(LONG, 100), DeliveriesOf()
    *nothing, [whole] = [list(reader.read(record(part))) for part in parts]
    assert nothing == [[]] * (len(parts) - 1) and len(parts) > 2
    assert whole.said == {"removed": [1, 2, 3], "added": ["x", "y"]} and whole.changes == 3
    assert reader.unfinished() == []
    other = json.dumps(json.loads(parts[1]) | {"n": 5}).encode()
    for wrong in ([parts[1]], [parts[0], parts[0]], [parts[0], parts[2]], [parts[0], other], [parts[0], LONG]):
        reader = DeliveriesOf()
        with pytest.raises(Malformed, match="expected part"):
            for part in wrong:
                list(reader.read(record(part)))
    assert list(reader.read(record(parts[0]))) == [] and reader.unfinished() == ["d"]


@pytest.mark.parametrize(
    "value", [b"{}", b"no", b'{"id":"a","kind":"change","version":1,"n":1,"at":{"epoch":0,"batch":0}}']
)
def test_what_cannot_be_read(value: bytes) -> None:
    with pytest.raises(Malformed):
        list(DeliveriesOf().read(record(value)))
    with pytest.raises(Malformed):
        list(DeliveriesOf().read(record(value, key=PACKED)))
