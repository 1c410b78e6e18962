"""Snapshots come when what stands in the log is out of proportion to the state."""

from __future__ import annotations

from overlay.process.compaction_policy import SnapshotPolicy


def test_below_the_floor_never() -> None:
    policy = SnapshotPolicy(floor=100)
    policy.wrote(100)
    assert not policy.due
    policy.wrote(1)
    assert policy.due


def test_a_large_state_is_written_again_in_proportion() -> None:
    policy = SnapshotPolicy(floor=100)
    policy.snapshot_taken(1_000)
    policy.wrote(2_000)
    assert not policy.due
    policy.wrote(1)
    assert policy.due
    policy.snapshot_taken(1_000)
    assert not policy.due


def test_what_snapshots_add_is_bounded() -> None:
    """Deltas that do not make the state grow: snapshots write at most half as much again."""
    policy, snapshots = SnapshotPolicy(floor=10), 0
    for _ in range(100_000):
        policy.wrote(1)
        if policy.due:
            policy.snapshot_taken(50)
            snapshots += 50
    assert snapshots <= 50_000
