"""A story, a watch without a stack, and what it may be told."""

from __future__ import annotations

from typing import Any

from catalog.schema.catalog import Catalog
from connectors.kafka.properties import KafkaProperties
from connectors.topics import Topics
from tidewire.client.records import At, Delivery
from tidewire.demo.flights import FIRST_DAY
from tidewire.demo.pace import AsItHappened
from tidewire.demo.story import Event, NoClaim, Story
from tidewire.demo.watch import Watch

PACE = AsItHappened(FIRST_DAY, 7200.0)


def watch(claim: Any = None, *topics: str, catalog: Catalog | None = None) -> Watch:
    published = topics or ("demo.flight", "demo.weather")
    return Watch(KafkaProperties("127.0.0.1:1"), Topics("demo."), published, (claim or NoClaim()).told, catalog)


def story(events: list[Event] | None = None, **others: Any) -> Story:
    return Story("flights in the air from New York", "flights", "", events or [], {}, PACE, **others)


def changed(n: int, offset: int = 0, id: str = "0001 highest JFK 100-200") -> Delivery:
    return Delivery(id, "change", 0, n, At(1, 0, "demo.flight", 0, offset), 1, n)
