"""How many columns a `SELECT *` shows: as many as there were when it was taken, as is seen in what it was told."""

from __future__ import annotations

import json
from typing import Any

from tidewire.verification.records.forms import Delivery
from tidewire.verification.records.lifetimes import Life


def width_of(life: Life) -> int | None:
    """Return how many columns the ack names, or else the first row that was told has; None if nothing says it."""
    shown = _shown(life.ack or {})
    if shown:
        return shown
    return next((width for d in life.delivered for width in _widths(d)), None)


def _shown(ack: dict[str, Any]) -> int | None:
    try:
        shown = json.loads(ack["shape"])[1]
    except (KeyError, TypeError, ValueError, IndexError):
        return None
    return len(shown) if isinstance(shown, list) else None


def _widths(d: Delivery) -> list[int]:
    """Return the number of values of each row; the members of a list are rows with their places."""
    members = [member for side in ("removed", "added") for member in d.said.get(side, ()) if isinstance(member, list)]
    placed = all(len(member) == 2 and isinstance(member[1], list) for member in members)
    return [len(member[1] if placed else member) for member in members]
