"""Records of a step, in order."""

from __future__ import annotations

import numpy as np

from catalog.sql.notify import PUSH
from connectors.record import OutRecord
from connectors.topics import Topics
from overlay.delivery.outbox import Outbox


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


def test_what_is_only_pushed_is_no_record() -> None:
    outbox = Outbox(Topics("p."), 3)
    outbox.deliver(b"a", b"1", PUSH)
    outbox.deliverer(PUSH)(b"a", b"2")
    outbox.changes([b"b"], ['{"id":"b"'], [',"new":2}'], [(0, 0, 2, "1")], pushed=True)
    outbox.deliver_all([b"c", b"d"], [b"3", b"4"], np.array([0, 2], np.int8))
    outbox.acks([b"c", b"d"], [b"5", b"6"])
    assert [(record.topic, record.key) for record in outbox.take()] == [
        ("p.deliveries", b"c"),
        ("p.acks", b"c"),
        ("p.acks", b"d"),
    ]
    assert [(record.topic, record.key, record.value) for record in outbox.pushed] == [
        ("p.deliveries", b"a", b"1"),
        ("p.deliveries", b"a", b"2"),
        ("p.deliveries", b"b", b'{"id":"b","n":2,"old":1,"new":2}'),
        ("p.deliveries", b"d", b"4"),
    ]
    assert outbox.take() == [] and outbox.pushed == []


def test_changes_that_share_all_they_tell_are_put_together_once() -> None:
    outbox = Outbox(Topics("p."), 3)
    outbox.shared_changes([b"a", b"b"], ['{"id":"a"', '{"id":"b"'], [',"added":[]}', "}"], [(1, 0, 2), (0, 1, 5)])
    outbox.shared_changes([b"c"], ['{"id":"c"'], ["}"], [(0, 0, 9)], pushed=True)
    outbox.deliver_parts(b"d", [b"1", b"2"])
    assert [(record.key, record.value) for record in outbox.take()] == [
        (b"b", b'{"id":"b","n":2,"added":[]}'),
        (b"a", b'{"id":"a","n":5}'),
        (b"d", b"1"),
        (b"d", b"2"),
    ]
    assert [record.value for record in outbox.pushed] == [b'{"id":"c","n":9}']
