"""A shard with something of everything in its state, and the batch that comes next: what golden states are made from.

`golden/state_<version>.bin` is the state after `batches()` as the code of that version wrote it; it is never made anew.
`golden/state_3_delta.bin` is that after the first of `batches()`, with the delta of the second.
"""

from __future__ import annotations

from pathlib import Path

from catalog.ddl.statements import apply_ddl
from catalog.query.shape import Output, Region, Shape, group_key
from catalog.schema.catalog import Catalog
from connectors.record import RawRecords
from operators.packed import Header, pack_registrations
from tests.shard.test_pipeline import TOPICS, records

GOLDEN = Path(__file__).parent / "golden"
NAME = "item/0"
_DDL = "CREATE TABLE item (id BIGINT PRIMARY KEY, x INTEGER, name VARCHAR, doc VARCHAR) WITH ('format'='debezium-json')"
CATALOG = apply_ddl(Catalog(), _DDL, 3)
_SHAPES = (
    Shape("item", (Output("min", "name"), Output("count", None)), (), "x"),
    Shape("item", (Output("distinct", "x"),), ("name",), "x"),
    Shape("item", (Output("max", "x"),), (), "name"),
)


def _event(op: str, id: int, lsn: int, after: str = "") -> tuple[bytes, bytes]:
    source = f'{{"connector":"postgresql","name":"pg","sequence":"[null,\\"{lsn}\\"]","lsn":{lsn},"ts_us":{lsn}}}'
    image = f',"after":{{"id":{id},{after}}}' if after else ""
    return b'{"id":%d}' % id, f'{{"op":"{op}"{image},"source":{source}}}'.encode()


def _registration(version: int, shape: Shape, ve: int) -> RawRecords:
    lo, hi = (b"", b"\xff") if shape.range == "name" else (0, 9)
    group = group_key(("b",) if shape.equal else ())
    header = Header("register", 7, NAME, ve=ve, catalog=3)
    values = pack_registrations(header, [version], [Region(shape, group, lo, hi)])
    return records(TOPICS.registrations, [(b"item/0", value) for value in values], partition=ve, first=version)


def batches() -> list[list[RawRecords]]:
    """Return batches of rows, deletes, a change of key, repeats and registrations; the state is that after all."""
    first = [_event("c", i, i, f'"x":{i % 4},"name":"{"dbca"[i % 4]}","doc":"d{i}"') for i in range(1, 8)]
    first += [_event("d", 2, 8), _event("u", 3, 9, '"x":5,"name":null,"doc":"d3"'), (b"?", b"{")]
    again = [_event("d", 4, 4), _event("c", 9, 12, '"x":null,"name":"aa","doc":"long"'), _event("d", 9, 13)]
    asked = [_registration(11 + i, shape, i % 3) for i, shape in enumerate(_SHAPES)]
    return [[records("item", first), *asked], [records("item", again, first=20), records("item", first[:1], 1)]]


def next_batch() -> list[RawRecords]:
    """Return the batch whose answers hang on all that the state holds."""
    same = '"x":2,"name":"b","doc":"__debezium_unavailable_value"'
    rows = [_event("c", 10, 13, same), _event("u", 1, 14, '"x":0,"name":"zz","doc":"e"'), _event("d", 5, 15)]
    rows += [_event("d", 9, 13), _event("u", 6, 16, same)]
    return [records("item", rows, first=30), *(_registration(21 + i, shape, 1) for i, shape in enumerate(_SHAPES))]
