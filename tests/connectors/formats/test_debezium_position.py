from __future__ import annotations

import pytest

from connectors.formats.debezium_position import position_of
from connectors.json.document import parse_document

SEQUENCE = rb'"sequence":"[\"7\",\"9\"]"'


@pytest.mark.parametrize(
    ("source", "position"),
    [
        (b'{"connector":"postgresql","name":"x",%s,"ts_us":5,"ts_ms":1}' % SEQUENCE, ("x", 7, 9, 5)),
        (b'{"connector":"postgresql","name":"x",%s,"ts_ms":1}' % SEQUENCE, ("x", 7, 9, 1000)),
        (rb'{"connector":"postgresql","name":"x","sequence":"[null,\"9\"]","ts_us":5}', ("x", 0, 9, 5)),
        (b'{"connector":"mysql","name":"x",%s,"ts_us":5}' % SEQUENCE, None),
        (b'{"connector":"postgresql","name":"x",%s}' % SEQUENCE, None),
        (b'{"connector":"postgresql","name":"x",%s,"ts_us":1.5}' % SEQUENCE, None),
        (rb'{"connector":"postgresql","name":"x","sequence":["7","9"],"ts_us":5}', None),
        (rb'{"connector":"postgresql","name":"x","sequence":"[\"7\"]","ts_us":5}', None),
        (b'{"connector":"postgresql",%s,"ts_us":5}' % SEQUENCE, None),
        (b'{"connector":"postgresql","name":7,%s,"ts_us":5}' % SEQUENCE, None),
        (b'{"connector":"postgresql","name":"x",%s,"ts_ms":1000000000000000}' % SEQUENCE, None),
        (b'{"connector":"postgresql","name":"x",%s,"ts_us":1000000000000000}' % SEQUENCE, ("x", 7, 9, 10**15)),
        (b'"postgresql"', None),
    ],
)
def test_position(source: bytes, position: tuple[str, int, int, int] | None) -> None:
    assert position_of(parse_document(source)) == position
