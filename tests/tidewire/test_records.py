"""Typed records are field for field what stands in the topics."""

import tidewire
from tidewire.records import Ack, At, Delivery, Progress, Refused, read_ack, read_delivery


def test_deliveries_and_progress() -> None:
    change = (
        b'{"id":"s","kind":"change","version":3,"n":2,"old":null,"new":"10.25",'
        b'"at":{"epoch":1,"batch":4,"topic":"stock","partition":0,"offset":9}}'
    )
    assert read_delivery(b"s", change) == Delivery("s", "change", 3, 2, At(1, 4, "stock", 0, 9), None, "10.25")
    assert read_delivery(b"@progress", b'{"kind":"progress","epoch":1,"batch":4,"time":"t"}') == Progress(1, 4, "t")


def test_acks_and_refusals() -> None:
    ack = read_ack(b'{"id":"s","version":1,"status":"refused","code":"syntax","message":"no","hint":"do"}')
    assert ack == Ack("s", 1, "refused", code="syntax", message="no", hint="do")
    refused = Refused(ack)
    assert (refused.ack_code, refused.hint) == ("syntax", "do")
    assert str(refused) == "subscription `s` was refused (syntax): no\ndo"


def test_at_most_ten_names_and_each_is_there() -> None:
    assert len(tidewire.__all__) <= 10
    assert all(getattr(tidewire, name) is not None for name in tidewire.__all__)
