"""Answers of shards, put together: one that is too large for a record comes as several, under one version.

Only a DISTINCT is that large. A shard answers a version once in a batch (shard/register.py), so what has one version is
one answer. Earlier versions answered a registration twice that came twice: with the same members; each is kept once.

Cost: O(n log n) in numpy for n answers that have parts; nothing where all are plain.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from operators.answer import Members, Parts
from operators.packed import PackedSnapshot
from operators.reply import Reply


def whole_snapshots(snapshots: Sequence[PackedSnapshot]) -> list[PackedSnapshot]:
    """Return the snapshots of a batch with each answer in one place: where its version came first."""
    whole = list(snapshots)
    with_parts = [i for i, snapshot in enumerate(snapshots) if snapshot.parts]
    versions = np.concatenate([snapshots[i].version for i in with_parts]) if with_parts else np.zeros(0, np.int64)
    found, counts = np.unique(versions, return_counts=True)
    members: dict[int, list[Members]] = {int(version): [] for version in found[counts > 1]}
    if not members:
        return whole
    for i in with_parts:
        for row, parts in snapshots[i].parts.items():
            version = int(snapshots[i].version[row])
            if version in members and isinstance(parts[0], Members):
                members[version].append(parts[0])
    joined = {version: _joined(told) for version, told in members.items() if told}
    done: set[int] = set()
    for i in with_parts:
        whole[i] = _with(snapshots[i], joined, done)
    return whole


def _joined(told: list[Members]) -> Parts:
    return (Members(tuple(dict.fromkeys(value for part in told for value in part.values))),)


def _with(snapshot: PackedSnapshot, joined: dict[int, Parts], done: set[int]) -> PackedSnapshot:
    """Return a snapshot with joined answers in place of their pieces, but for the versions that are `done` already."""
    rows: list[int] = []
    parts: dict[int, Parts] = {}
    replies: dict[int, Reply] = {}
    for row, version in enumerate(snapshot.version.tolist()):
        if version in done:
            continue
        mine = joined.get(version) or snapshot.parts.get(row)
        if mine is not None:
            parts[len(rows)] = mine
        if version in joined:
            done.add(version)
        elif row in snapshot.replies:
            replies[len(rows)] = snapshot.replies[row]
        rows.append(row)
    version, new, known = snapshot.version[rows], snapshot.new[rows], snapshot.has_new[rows]
    return PackedSnapshot(snapshot.header, version, new, known, parts, replies)
