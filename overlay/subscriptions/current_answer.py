"""What a live slot's answer is now, wherever it is kept, and who is kept one by one."""

from __future__ import annotations

from overlay.answers.composite import Whole
from overlay.subscriptions.roster import Roster


def is_single(roster: Roster, slot: int) -> bool:
    """Whether a slot's answer is kept in `roster.answers`, not in the columns: composite, or told by MIN CHANGE."""
    entry = roster.shape_of(slot)
    return not (entry.plain or entry.counts) or roster.slots.notify(slot).kind == "min_change"


def current_answer(roster: Roster, slot: int) -> Whole:
    """Return the exact answer of a live slot."""
    whole = roster.answers.whole(slot)
    if whole is not None:
        return whole
    slots = roster.slots
    value = int(slots.value[slot])
    if roster.shape_of(slot).counts:
        return ((value, 0),)
    return (value if slots.known[slot] else None,)
