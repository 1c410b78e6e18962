"""The front door: `Client` and `AsyncClient`, and the records it gives. The command line is `tidewire`."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from connectors.kafka.failure import NotAllWritten
    from state.errors import TidewireError, UserError
    from tidewire.client.async_client import AsyncClient
    from tidewire.client.client import Client
    from tidewire.client.delivery_stream import DeliveryStream
    from tidewire.client.held_answer import HeldAnswer
    from tidewire.client.records import Ack, At, Delivery, Progress, Refused

__all__ = [
    "Ack",
    "AsyncClient",
    "At",
    "Client",
    "Delivery",
    "DeliveryStream",
    "HeldAnswer",
    "NotAllWritten",
    "Progress",
    "Refused",
    "TidewireError",
    "UserError",
]

_HOME = {
    "AsyncClient": "tidewire.client.async_client",
    "Client": "tidewire.client.client",
    "DeliveryStream": "tidewire.client.delivery_stream",
    "HeldAnswer": "tidewire.client.held_answer",
    "NotAllWritten": "connectors.kafka.failure",
    "TidewireError": "state.errors",
    "UserError": "state.errors",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is asked for, so that `tidewire --help` pays for none of them."""
    if name not in __all__:
        raise AttributeError(f"module `tidewire` has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME.get(name, "tidewire.client.records")), name)
