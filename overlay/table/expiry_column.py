"""When slots are over, as a column that is there only once a subscription has an end.

Seconds since 1970, INT64_MAX for never; what is negative is a TTL that has not begun (`subscriptions/expiry.py`).
Cost: 8 bytes a slot once any expires; O(slots) in numpy to look for those that are due.
"""

from __future__ import annotations

import numpy as np

from overlay.arena.growable_column import widened
from state.change_batch import I64
from state.order_code import INT64_MAX


class ExpiryColumn:
    """Ends by slot; whoever frees a slot forgets its end."""

    def __init__(self) -> None:
        self._size = 0
        self._ends: I64 = np.zeros(0, np.int64)

    def reserve(self, slots: int) -> None:
        """Make room for slots below `slots`."""
        self._size = max(self._size, slots)
        if len(self._ends):
            self._ends = widened(self._ends, slots, INT64_MAX)

    def of(self, slots: I64) -> I64:
        """Return when slots are over."""
        return self._ends[slots] if len(self._ends) else np.full(len(slots), INT64_MAX)

    def set(self, slots: I64, when: I64 | int) -> None:
        """Write when slots are over."""
        if not len(self._ends):
            if np.all(np.equal(when, INT64_MAX)):
                return
            self._ends = np.full(self._size, INT64_MAX)
        self._ends[slots] = when

    def forget(self, slots: I64) -> None:
        """Let slots, which are free from here, end never."""
        if len(self._ends):
            self._ends[slots] = INT64_MAX

    def due(self, now: int, versions: I64) -> I64:
        """Return the slots that end by `now`, by when that is, equal ones by version. Cost: O(slots) in numpy."""
        slots = (self._ends <= now).nonzero()[0]
        return slots[np.lexsort((versions[slots], self._ends[slots]))]

    def after(self, now: int) -> int:
        """Return the least end above `now`. Cost: O(slots) in numpy."""
        return int(self._ends[self._ends > now].min(initial=INT64_MAX))
