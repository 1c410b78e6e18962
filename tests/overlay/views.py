"""All subscriptions of a virtual edge, as it sees them."""

from __future__ import annotations

from overlay.machine.subscription_view import SubscriptionView
from overlay.machine.virtual_edge import VirtualEdge


def views(edge: VirtualEdge) -> list[SubscriptionView]:
    """Return those that are live or wait for their first snapshot, each once."""
    slots = edge._store.slots
    found = [edge.find(key) for key in dict.fromkeys(slots.keys(slots.used()))]
    return [view for view in found if view is not None]
