"""Acknowledgements as they stand in the topic."""

from __future__ import annotations

from overlay.delivery.ack import Refusal, accepted, ended, ending, live, refused
from overlay.delivery.delivery import Position


def test_each_status() -> None:
    assert refused("a", 3, Refusal("syntax", "no", None)) == (
        b'{"id":"a","version":3,"status":"refused","code":"syntax","message":"no"}'
    )
    assert refused("a", 3, Refusal("syntax", "no", "do")).endswith(b'"message":"no","hint":"do"}')
    assert accepted('"a"', 3, '"S"', ending("[]", "c")) == (
        b'{"id":"a","version":3,"status":"accepted","sql":"S","shape":"[]","cost":"c"}'
    )
    assert live('"a"', 3, Position(1, -1).text, '"S"', ending("[]", "c")) == (
        b'{"id":"a","version":3,"status":"live","at":{"epoch":1,"batch":-1},"sql":"S","shape":"[]","cost":"c"}'
    )
    assert ended('"a"', 3, "gone") == b'{"id":"a","version":3,"status":"ended","reason":"gone"}'
