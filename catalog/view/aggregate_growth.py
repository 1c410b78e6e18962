"""What may become of an aggregate, where rows come and go and their values change.

           a value comes     a value goes       a value rises or falls
    COUNT  RISES             FALLS
    MIN    FALLS FILLS       RISES EMPTIES      so does it
    MAX    RISES FILLS       FALLS EMPTIES      so does it
    SUM    by its sign, and  against its sign,  so does it
           FILLS             and EMPTIES
    AVG    both, FILLS       both, EMPTIES      so does it

A value comes with its row, or where it fills. A SUM of floats may be beyond all doubles, NULL, and back again.
"""

from __future__ import annotations

from catalog.view.growth import NEGATIVE, POSITIVE, ColumnGrowth, Signs
from catalog.view.moves import ANY, EMPTIES, FALLS, FILLS, FIXED, MOVES, RISES, Moves


def aggregate_moves(kind: str, rows: Moves, column: ColumnGrowth | None, floats: bool) -> Moves:
    """Return what an aggregate of `column` may do, a COUNT of rows where that is None.

    kind: COUNT, SUM, AVG, MIN, MAX, in any case; all others may do anything once something moves.  rows: of the group.
    floats: the sum is a REAL or DOUBLE.  *Cost*: O(1).
    """
    if column is None:
        return rows
    moves, name = column.moves, kind.upper()
    comes, goes = RISES in rows or FILLS in moves, FALLS in rows or EMPTIES in moves
    if not (rows or moves):
        return FIXED
    match name:
        case "COUNT":
            return _either(comes, RISES) | _either(goes, FALLS)
        case "MAX":
            return moves & MOVES | _either(comes, RISES | FILLS) | _either(goes, FALLS | EMPTIES)
        case "MIN":
            return moves & MOVES | _either(comes, FALLS | FILLS) | _either(goes, RISES | EMPTIES)
        case "SUM" if not floats:
            with_it = _by_sign(column.signs)
            step = _either(comes, with_it | FILLS) | _either(goes, with_it.mirrored | EMPTIES)
            return moves & MOVES | step
        case "AVG":
            return moves & MOVES | _either(comes, MOVES | FILLS) | _either(goes, MOVES | EMPTIES)
    return ANY


def _either(true: bool, moves: Moves) -> Moves:
    return moves if true else FIXED


def _by_sign(signs: Signs) -> Moves:
    """Return what a sum does where a value of such a sign is added."""
    return _either(POSITIVE in signs, RISES) | _either(NEGATIVE in signs, FALLS)
