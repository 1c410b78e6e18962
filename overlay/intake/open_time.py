"""How long a step's transaction may be open before the broker aborts it: as long as steps need, and no longer.

What a killed edge leaves open holds up whoever takes over, until that time is over. So a step that needs longer, or
that a broker which was away made long, doubles it, and many short steps in a row bring it back.
"""

from __future__ import annotations

LONGEST_SECONDS = 320.0
QUICK_STEPS = 100
"""So many short steps in a row; about 10 s of them."""
_SLOW, _QUICK = 0.8, 0.25


class OpenTime:
    """Begins with `least` seconds. *Cost*: nothing."""

    def __init__(self, least: float) -> None:
        self.seconds = least
        self._least = least
        self._quick = 0

    def aborted(self, took: float) -> bool:
        """Note a step that was given up after `took` seconds; return whether that was for want of time."""
        self._quick = 0
        slow = took > _SLOW * self.seconds
        if slow:
            self.seconds = min(2 * self.seconds, LONGEST_SECONDS)
        return slow

    def committed(self, took: float) -> bool:
        """Note a step that was done within `took` seconds; return whether the time has changed."""
        self._quick = self._quick + 1 if took < _QUICK * self._least else 0
        if self._quick < QUICK_STEPS or self.seconds == self._least:
            return False
        self.seconds = self._least
        return True
