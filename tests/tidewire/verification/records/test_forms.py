"""Every form is read as the same delivery; what does not fit together is told."""

from __future__ import annotations

import json

import pyarrow as pa
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


BAG = (
    '{"id":"b","kind":"resync","version":1,"n":4,"form":"bag","whole":true,"key":[0],"removed":[],'
    '"added":[["a",1],["b",2],["é",3]],"at":{"epoch":0,"batch":0}}'
)


def in_columns(value: str) -> Record:
    """A packed record as the documentation has it: numbers and plain texts as such, all else as JSON."""
    plain = ("id", "kind", "version", "n", "form")
    row = {
        name: one if name in plain else json.dumps(one, ensure_ascii=False) for name, one in json.loads(value).items()
    }
    sink = pa.BufferOutputStream()
    table = pa.Table.from_pylist([row])
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return record(sink.getvalue().to_pybytes(), key=PACKED)


def test_what_is_said_of_rows_beside_them() -> None:
    for one in (record(BAG.encode()), in_columns(BAG)):
        [delivery] = DeliveriesOf().read(one)
        assert delivery.said == {
            "removed": [], "added": [["a", 1], ["b", 2], ["é", 3]], "form": "bag", "whole": True, "key": [0]
        }  # fmt: skip
        assert delivery.in_text_order
    for marks in ('"same":true', '"snapshot":"none"'):
        [delivery] = DeliveriesOf().read(record(BAG.replace('"whole":true', marks).encode()))
        assert delivery.is_known and marks.split('"')[1] in delivery.said


def test_rows_in_another_order_are_noticed_in_each_part() -> None:
    turned = BAG.replace('["a",1],["b",2]', '["b",2],["a",1]').encode()
    for one in (record(turned), in_columns(turned.decode())):
        [delivery] = DeliveriesOf().read(one)
        assert not delivery.in_text_order
    reader = DeliveriesOf()
    parts = [BAG.replace("}}", f'}},"part":{part},"of":2}}').encode() for part in range(2)]
    *_, [whole] = [list(reader.read(record(part))) for part in parts]
    assert whole.in_text_order and len(whole.said["added"]) == 6
    reader = DeliveriesOf()
    parts[0] = turned.replace(b"}}", b'},"part":0,"of":2}')
    *_, [whole] = [list(reader.read(record(part))) for part in parts]
    assert not whole.in_text_order


@pytest.mark.parametrize(
    "value", [b"{}", b"no", b'{"id":"a","kind":"change","version":1,"n":1,"at":{"epoch":0,"batch":0}}']
)
def test_what_cannot_be_read(value: bytes) -> None:
    with pytest.raises(Malformed):
        list(DeliveriesOf().read(record(value)))
    with pytest.raises(Malformed):
        list(DeliveriesOf().read(record(value, key=PACKED)))
