"""A cell with something of everything in its state, and the batch that comes next: what its golden state is made from.

`golden/cell_3.bin` is the state after `batches()` as the code of its version wrote it; it is never made anew.
"""

from __future__ import annotations

from catalog.ddl.statements import apply_ddl
from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import encode_terms
from catalog.query.shape import Region
from catalog.query.value_set import ValueSet
from catalog.schema.join import Join
from connectors.record import RawRecords
from operators.packed import Header, pack_registrations
from tests.shard import long_lived
from tests.shard.test_pipeline import TOPICS, records

_DDL = "CREATE TABLE shop (no INTEGER PRIMARY KEY, name VARCHAR, item BIGINT); CREATE JOIN item, shop"
CATALOG = apply_ddl(long_lived.CATALOG, _DDL, 4)
_BY_ID, _ = Join.of(["item", "shop"], [((0, "id"), (1, "item"))])
_BY_NAME, _ = Join.of(["item", "shop"], [((0, "name"), (1, "name")), ((0, "id"), (1, "item"))])
NAME = _BY_ID.cell
_TEXT = ValueSet.of([(b"b", b"b\0"), (b"d", b"e")], True)
_BOXES = (
    (_BY_ID, {0: ValueSet.of([(1, 5)]), 1: _TEXT}),
    (_BY_NAME, {0: ValueSet.of([(2, 2)])}),
    (_BY_ID, {0: ValueSet.of([(0, 2)])}),
)


def _shop(no: int, name: str, item: int) -> tuple[bytes, bytes]:
    return b'{"no":%d}' % no, b'{"no":%d,"name":"%s","item":%d}' % (no, name.encode(), item)


def _registration(version: int, ve: int, which: int) -> RawRecords:
    join, box = _BOXES[which]
    shape = FilterShape(join.name, ("0.doc", "1.no", "0.x"), (), ("0.x", "1.name")[: len(box)], (), ())
    header = Header("register", 7, NAME, ve=ve, catalog=4)
    values = pack_registrations(header, [version], [Region(shape, b"[]", terms=encode_terms([box]))])
    return records(TOPICS.registrations, [(NAME.encode(), value) for value in values], partition=ve, first=version)


def _items(batch: list[RawRecords]) -> list[RawRecords]:
    return [part for part in batch if part.topic == "item"]


def batches() -> list[list[RawRecords]]:
    """Return batches of both tables' rows and of registrations; the state is that after all."""
    first, second = map(_items, long_lived.batches())
    shops = [_shop(i, "dbca"[i % 4], i % 5) for i in range(8)]
    asked = [_registration(11 + i, i % 3, i) for i in range(3)]
    return [[*first, records("shop", shops), *asked], [*second, records("shop", [(b'{"no":3}', None)], first=20)]]


def next_batch() -> list[RawRecords]:
    """Return the batch whose answers hang on all that the state holds."""
    changes = [_shop(1, "b", 6), _shop(9, "aa", 9), _shop(2, "zz", 10)]
    asked = [_registration(21 + i, 1, i) for i in range(3)]
    return [*_items(long_lived.next_batch()), records("shop", changes, first=30), *asked]
