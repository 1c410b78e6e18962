"""What one subscriber does with one message about first rows: plain Python over lists (state/best_tree.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from state.best_tree import IN, OUT, STAY


@dataclass(frozen=True)
class BestMessage:
    """One message: `left` and `right` are bounds; old and new name rows.

    cands: by rank, each as x compared with lo, x compared with hi (another one where hi is exclusive), row.
    """

    kind: int
    lo_min: Any
    lo_max: Any
    hi_min: Any
    hi_max: Any
    base: int
    left: Sequence[Any]
    right: Sequence[Any]
    cands: Sequence[tuple[Any, Any, Any]]
    old: Any
    new: Any

    def place(self, lo: Any, hi: Any, k: int) -> int:
        """Return where the row stands in the list of (lo, hi), or -1 where that is not heard of."""
        if not (self.lo_min <= lo <= self.lo_max and self.hi_min <= hi <= self.hi_max):
            return -1
        place = self.base + sum(x >= lo for x in self.left) + sum(x <= hi for x in self.right)
        return place if place < k else -1

    def applied(self, held: Sequence[Any], lo: Any, hi: Any, k: int) -> list[Any]:
        """Return the list of (lo, hi, k) after the message, which it hears; rows are told apart by `==`."""
        place, rest = self.place(lo, hi, k), list(held)
        assert place >= 0
        inside = [row for low, high, row in self.cands if lo <= low and high <= hi]
        if self.kind == IN:
            rest.insert(place, self.new)
            return rest[:k]
        if self.kind == STAY and self.old not in rest:
            assert not inside
            rest.insert(place, self.new)
            return rest[:k]
        at = rest.index(self.old)
        rest.pop(at)
        if self.kind == OUT:
            assert at == place
            return rest + inside[len(rest) - at : len(rest) - at + 1]
        if at != place:
            rest.insert(place, self.new)
            return rest
        behind = len(rest) - at
        if len(inside) > behind:
            return [*rest, inside[behind]]
        rest.insert(at + len(inside), self.new)
        return rest
