"""What a live slot's answer is now, wherever it is kept, and who is kept one by one."""

from __future__ import annotations

from overlay.answers.answer_layout import Whole
from overlay.subscriptions.subscription_store import SubscriptionStore


def is_single(store: SubscriptionStore, slot: int) -> bool:
    """Whether a slot's answer is kept in `store.answers`, not in the columns: composite, or told by MIN CHANGE."""
    entry = store.shape_of(slot)
    return not (entry.plain or entry.counts) or store.slots.notify(slot).kind == "min_change"


def current_answer(store: SubscriptionStore, slot: int) -> Whole:
    """Return the exact answer of a live slot."""
    whole = store.answers.whole(slot)
    if whole is not None:
        return whole
    slots = store.slots
    value = int(slots.value[slot])
    if store.shape_of(slot).counts:
        return ((value, 0),)
    return (value if slots.known[slot] else None,)
