from __future__ import annotations

from catalog.view.moves import ANY, EMPTIES, FALLS, FILLS, FIXED, MOVES, RISES


def test_mirrored() -> None:
    """What -x does: NULL stays NULL."""
    assert (RISES | FILLS).mirrored == FALLS | FILLS
    assert (FALLS | EMPTIES).mirrored == RISES | EMPTIES
    for moves in (FIXED, MOVES, ANY):
        assert moves.mirrored == moves
