from __future__ import annotations

import pytest

from catalog.types.column_type import Kind
from connectors.dead_letter import RecordFault
from connectors.json.record import JsonRecordDecoder
from connectors.record_limits import MAX_RECORD_BYTES
from tests.connectors.relations import STOCK, one_column

DECODER = JsonRecordDecoder(STOCK)


def fault(decoder, key, value):
    with pytest.raises(RecordFault) as raised:
        decoder.decode(key, value)
    return raised.value


def test_a_row_and_what_came_with_it():
    row = DECODER.decode(b'"A"', b'{"new":1,"price":1.5,"symbol":"A","old":{},"risk":null}')
    assert (row.key, row.live) == (b'{"symbol":"A"}', True)
    assert row.values == ["A", None, None, 150]
    assert row.present == [True, False, True, True]
    assert row.unknown == ["new", "old"]


def test_a_tombstone_is_a_delete():
    row = DECODER.decode(b'"A"', None)
    assert (row.key, row.live, row.values) == (b'{"symbol":"A"}', False, [None] * 4)


def test_size_is_that_of_key_and_value_together():
    value = b'{"symbol":"A"}'
    blanks = b" " * (MAX_RECORD_BYTES - len(value) - 3)
    assert DECODER.decode(b'"A"', value + blanks).live
    assert fault(DECODER, b'"A"', value + blanks + b" ").code == "too_large"
    assert fault(DECODER, b" " * MAX_RECORD_BYTES + b'"A"', None).code == "too_large"


def test_messages_name_column_expected_and_got_in_bounded_length():
    messages = {
        fault(DECODER, b'"A"', b'{"symbol":"A","risk":' + value + b"}").message
        for value in (b'"x"', b"[1]", b"1e400", b'"' + b"y" * 10_000 + b'"', b"1" * 10_000)
    }
    assert all(message.startswith("column `risk`: expected a number for DOUBLE, got ") for message in messages)
    assert all(len(message) < 200 for message in messages)
    long = fault(DECODER, b'"' + b"k" * 1_000 + b'"', b'{"symbol":"' + b"s" * 1_000 + b'"}')
    assert long.code == "key_disagrees"
    assert len(long.message) < 300


def test_without_a_key_only_a_row_of_a_topic_of_one_partition_is_taken():
    keyless = JsonRecordDecoder(STOCK, keyless=True)
    assert fault(DECODER, None, b'{"symbol":"A"}').code == "missing_key"
    assert keyless.decode(None, b'{"symbol":"A"}').key == b'{"symbol":"A"}'
    assert fault(keyless, None, None).code == "missing_key"
    assert fault(keyless, b'"B"', b'{"symbol":"A"}').code == "key_disagrees"


def test_kept_columns_take_the_primary_key_from_the_key():
    keep = JsonRecordDecoder(one_column(Kind.BIGINT, absent="keep"))
    row = keep.decode(b"7", b'{"v":1}')
    assert (row.key, row.values, row.present) == (b'{"k":7}', [7, 1], [True, True])
    assert keep.decode(b"7", b"{}").present == [True, False]
    assert fault(keep, b"7", b'{"k":8}').code == "key_disagrees"
    assert fault(keep, b"7", b'{"k":null}').code == "null_not_allowed"
    assert fault(JsonRecordDecoder(keep.relation, keyless=True), None, b'{"v":1}').code == "missing_column"


def test_a_member_in_another_case_is_told():
    keyless = JsonRecordDecoder(one_column(Kind.BIGINT), keyless=True)
    assert "`K` is there, but names are told by case" in fault(keyless, None, b'{"K":1,"v":2}').message
    assert "by case" not in fault(keyless, None, b'{"v":2}').message
