"""Records of a step, in order."""

from __future__ import annotations

from connectors.record import OutRecord
from connectors.topics import Topics
from overlay.outbox import Outbox


def test_records_keep_their_order_and_partition() -> None:
    outbox = Outbox(Topics("p."), 3)
    outbox.ack(b"a", b"1")
    outbox.deliver(b"a", b"2")
    heads = ["", '{"id":"b","kind":"change","version":7']
    outbox.changes([b"", b"b"], heads, [',"new":2,"at":{}}'], [(1, 0, 2, "1")])
    outbox.extend([OutRecord("x", 3, None, None)])
    assert len(outbox) == 4
    line = b'{"id":"b","kind":"change","version":7,"n":2,"old":1,"new":2,"at":{}}'
    assert outbox.take() == [
        OutRecord("p.acks", 3, b"a", b"1"),
        OutRecord("p.deliveries", 3, b"a", b"2"),
        OutRecord("p.deliveries", 3, b"b", line),
        OutRecord("x", 3, None, None),
    ]
    assert outbox.take() == []
