from __future__ import annotations

from connectors.json.format import JsonFormat
from tests.connectors.relations import STOCK, records


def test_counts():
    pairs = [(b'"A"', b'{"symbol":"A","risk":1}'), (b'"A"', None), (None, None), (b'"B"', b"x"), (b'"C"', b"x")]
    decoded = JsonFormat(STOCK).decode(records(pairs))
    assert (decoded.rows, decoded.deletes) == (1, 1)
    assert decoded.reasons == {"missing_key": 1, "malformed_json": 2}
    assert decoded.seen == {"symbol": 1, "exchange": 0, "risk": 1, "price": 0}
