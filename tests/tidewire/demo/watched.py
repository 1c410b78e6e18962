"""A watch without a stack, and what it may be told."""

from __future__ import annotations

from connectors.kafka.properties import KafkaProperties
from connectors.topics import Topics
from tidewire.client.records import At, Delivery
from tidewire.demo.watch import Watch


def watch() -> Watch:
    return Watch(KafkaProperties("127.0.0.1:1"), Topics("demo."), ["demo.flight", "demo.weather"])


def changed(n: int, offset: int = 0, id: str = "0001 highest JFK 100-200") -> Delivery:
    return Delivery(id, "change", 0, n, At(1, 0, "demo.flight", 0, offset), 1, n)
