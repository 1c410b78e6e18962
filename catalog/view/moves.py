"""Which ways a value may change while time passes; of a number of rows, whether rows come and go.

    MAX of a stream       FILLS RISES         NULL until there is a row, then only greater
    a column of a table   RISES FALLS FILLS EMPTIES
    a stream's rows       RISES               rows come, none goes

What an expression or a rule may do is the union of what each change of its arguments may do to it. What only rises is
never taken back: that is all that the certainty of an answer is (`certainty.py`).
"""

from __future__ import annotations

from enum import Flag, auto


class Moves(Flag):
    """A set of ways. A value that has none is fixed."""

    RISES = auto()
    """Becomes greater; of rows: one comes; of a condition: becomes true."""
    FALLS = auto()
    """Becomes less; of rows: one goes; of a condition: true no more."""
    FILLS = auto()
    """Was NULL and is a value."""
    EMPTIES = auto()
    """Was a value and is NULL."""

    @property
    def mirrored(self) -> Moves:
        """What -x does where x does this."""
        out = self & (FILLS | EMPTIES)
        if RISES in self:
            out |= FALLS
        if FALLS in self:
            out |= RISES
        return out


RISES, FALLS, FILLS, EMPTIES = Moves
FIXED = Moves(0)
MOVES = RISES | FALLS
ANY = MOVES | FILLS | EMPTIES
