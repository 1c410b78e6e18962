from __future__ import annotations

import pytest

from connectors.debezium_position import position_of
from connectors.json_document import parse_document

SEQUENCE = rb'"sequence":"[\"7\",\"9\"]"'


@pytest.mark.parametrize(
    ("source", "position"),
    [
        (b'{"connector":"postgresql",%s,"ts_us":5,"ts_ms":1}' % SEQUENCE, (7, 9, 5)),
        (b'{"connector":"postgresql",%s,"ts_ms":1}' % SEQUENCE, (7, 9, 1000)),
        (rb'{"connector":"postgresql","sequence":"[null,\"9\"]","ts_us":5}', (0, 9, 5)),
        (b'{"connector":"mysql",%s,"ts_us":5}' % SEQUENCE, None),
        (b'{"connector":"postgresql",%s}' % SEQUENCE, None),
        (b'{"connector":"postgresql",%s,"ts_us":1.5}' % SEQUENCE, None),
        (rb'{"connector":"postgresql","sequence":["7","9"],"ts_us":5}', None),
        (rb'{"connector":"postgresql","sequence":"[\"7\"]","ts_us":5}', None),
        (b'"postgresql"', None),
    ],
)
def test_position(source: bytes, position: tuple[int, int, int] | None) -> None:
    assert position_of(parse_document(source)) == position
