"""When an edge writes its whole state again, so that what a new owner must read stays in proportion to it."""

from __future__ import annotations

FLOOR_BYTES = 1_000_000
GROWTH = 2


class SnapshotPolicy:
    """Counts what stands in one partition of `edge-state` since its last snapshot.

    A snapshot is due when deltas exceed `GROWTH` times the last snapshot and `floor` bytes: so snapshots at most
    add half again to what deltas write, and a restore reads at most three times the state plus `floor`.
    """

    def __init__(self, floor: int = FLOOR_BYTES) -> None:
        self._floor = floor
        self._snapshot = 0
        self._deltas = 0

    @property
    def due(self) -> bool:
        """Whether a snapshot should be written now."""
        return self._deltas > max(self._floor, GROWTH * self._snapshot)

    def wrote(self, size: int) -> None:
        """Count `size` bytes of deltas (or of what a restore has read)."""
        self._deltas += size

    def snapshot_taken(self, size: int) -> None:
        """Begin anew after a snapshot of `size` bytes."""
        self._snapshot, self._deltas = size, 0
