"""Answers of shards, put together: one that is too large for a record comes as several, under one version.

The values of a DISTINCT and the rows of a filter are that large. A shard answers a version once in a batch
(shard/register.py), so what has one version is one answer: of one that comes twice the first counts, with all its
pieces, of which the last says so where they are rows. Earlier versions answered a registration twice that came twice:
with the same members; each is kept once.

Cost: O(n log n) in numpy for n answers that have parts or are replies; nothing where all are plain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from operators.answer import Members, Parts
from operators.packed import PackedSnapshot
from operators.reply import Reply, Rows


@dataclass(slots=True)
class _Whole:
    """The pieces of one version's answer: members, or rows while `open`, or a reply that is whole by itself."""

    members: list[Members] = field(default_factory=list)
    rows: list[bytes] = field(default_factory=list)
    open: bool = True
    reply: Reply | None = None

    def take_reply(self, reply: Reply) -> None:
        """Take a further piece, if the answer is not whole yet."""
        if not self.open or self.members:
            return
        if isinstance(reply, Rows):
            self.rows += reply.rows
            self.reply, self.open = Rows(tuple(self.rows), reply.last), not reply.last
        elif not self.rows:
            self.reply, self.open = reply, False

    @property
    def parts(self) -> Parts | None:
        """The members, each once; None where it has none."""
        if not self.members:
            return None
        return (Members(tuple(dict.fromkeys(value for part in self.members for value in part.values))),)


def whole_snapshots(snapshots: Sequence[PackedSnapshot]) -> list[PackedSnapshot]:
    """Return the snapshots of a batch with each answer in one place: where its version came first."""
    whole = list(snapshots)
    pieced = [i for i, snapshot in enumerate(snapshots) if snapshot.parts or snapshot.replies]
    versions = np.concatenate([snapshots[i].version for i in pieced]) if pieced else np.zeros(0, np.int64)
    found, counts = np.unique(versions, return_counts=True)
    joined = {int(version): _Whole() for version in found[counts > 1]}
    if not joined:
        return whole
    for i in pieced:
        for row, version in enumerate(snapshots[i].version.tolist()):
            if version in joined:
                _take(joined[version], snapshots[i].parts.get(row), snapshots[i].replies.get(row))
    done: set[int] = set()
    for i in pieced:
        whole[i] = _with(snapshots[i], joined, done)
    return whole


def _take(one: _Whole, parts: Parts | None, reply: Reply | None) -> None:
    if reply is not None:
        one.take_reply(reply)
    elif parts is not None and isinstance(parts[0], Members) and one.open:
        one.members.append(parts[0])
    else:
        one.open = False  # a value: nothing that comes later adds to it


def _with(snapshot: PackedSnapshot, joined: dict[int, _Whole], done: set[int]) -> PackedSnapshot:
    """Return a snapshot with joined answers in place of their pieces, but for the versions that are `done` already."""
    rows: list[int] = []
    parts: dict[int, Parts] = {}
    replies: dict[int, Reply] = {}
    for row, version in enumerate(snapshot.version.tolist()):
        if version in done:
            continue
        one = joined.get(version)
        mine = (one and one.parts) or snapshot.parts.get(row)
        reply = snapshot.replies.get(row) if one is None or one.reply is None else one.reply
        if mine is not None:
            parts[len(rows)] = mine
        if one is not None and (one.members or one.reply is not None):
            done.add(version)
        if reply is not None and not (one and one.members):
            replies[len(rows)] = reply
        rows.append(row)
    version, new, known = snapshot.version[rows], snapshot.new[rows], snapshot.has_new[rows]
    return PackedSnapshot(snapshot.header, version, new, known, parts, replies)
