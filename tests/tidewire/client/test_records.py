"""Typed records are field for field what stands in the topics."""

import tidewire
from tidewire.client.records import Ack, Refused, read_ack


def test_acks_and_refusals() -> None:
    ack = read_ack(b'{"id":"s","version":1,"status":"refused","code":"syntax","message":"no","hint":"do"}')
    assert ack == Ack("s", 1, "refused", code="syntax", message="no", hint="do")
    refused = Refused(ack)
    assert (refused.ack_code, refused.hint) == ("syntax", "do")
    assert str(refused) == "subscription `s` was refused (syntax): no\ndo"


def test_the_public_names_are_these_and_each_is_there() -> None:
    """None can be taken back."""
    things = {"Client", "AsyncClient", "DeliveryStream", "HeldAnswer", "Ack", "At", "Delivery", "Progress"}
    failures = {"TidewireError", "UserError", "Refused", "NotAllWritten"}
    assert set(tidewire.__all__) == things | failures
    assert all(getattr(tidewire, name) is not None for name in tidewire.__all__)
