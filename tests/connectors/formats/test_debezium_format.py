from __future__ import annotations

import numpy as np

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from connectors.formats.debezium_format import DebeziumFormat
from tests.connectors.debezium_source import COLUMNS, UNITS, Source
from tests.connectors.relations import records

ITEM = apply_ddl(Catalog(), f"CREATE TABLE t ({COLUMNS}) WITH ({UNITS})", 0).relations["t"]


def test_no_record_is_lost_and_the_order_stays():
    source = Source()
    row = {"id": 1, "kind": "a", "weight": 0.5, "price": "1.28", "doc": "long", "at": None}
    pairs = [*source.put(row), *source.beside(), (b"1", b"{"), *source.put(row | {"kind": "b"}), *source.move(1, 2)]
    pairs += [*source.truncate(), (None, b"[]")]
    decoded = DebeziumFormat(ITEM).decode(records(pairs))
    assert (decoded.ignored, [letter.code for letter in decoded.dead]) == (3, ["malformed_json", "not_an_object"])
    settling = decoded.settling
    assert settling.records.tolist() == [0, 5, 6, 7, 8, 9]
    assert decoded.changes.offset.tolist() == [100 + i for i in settling.records.tolist()]
    assert decoded.changes.live.tolist() == [True, True, False, False, True, False]
    assert settling.truncates.tolist() == [False] * 5 + [True]
    assert settling.unchanged[4].tolist() == [False, True, False, False, True, False]
    assert settling.moments[2] == settling.moments[4] and 3 not in settling.moments
    assert decoded.seen == dict.fromkeys(["id", "kind", "weight", "price", "doc", "at"], 3)


def test_what_is_left_out_is_kept_where_the_table_says_so():
    table = apply_ddl(Catalog(), f"CREATE TABLE t ({COLUMNS}) WITH ({UNITS}, 'absent'='keep')", 0).relations["t"]
    value = b'{"op":"u","after":{"id":1,"doc":"__debezium_unavailable_value","odd":1}}'
    decoded = DebeziumFormat(table).decode(records([(b'{"id":1}', value), (b'{"id":1}', None)]))
    assert decoded.changes.kept[:, 0].tolist() == [False, True, True, True, True, True]
    assert decoded.settling.unchanged[:, 0].tolist() == [False, False, False, False, True, False]
    assert not decoded.changes.kept[:, 1].any()
    assert decoded.unknown == ["odd"]


def test_nothing_is_a_batch_too():
    decoded = DebeziumFormat(ITEM).decode(records([(None, b'{"op":"m"}')]))
    assert len(decoded.changes) == 0 and decoded.ignored == 1
    assert decoded.changes.codes.shape == (6, 0) and decoded.changes.codes.dtype == np.int64
