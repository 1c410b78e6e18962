"""A shard by brute force: every range of a tiny domain is asked before and after each publication.

What a real shard finds with trees (which ranges change, and to what) this one finds by asking all of them. Its
messages are rectangles of one `lo` and a run of `hi` with the same new answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from catalog.relation import Relation
from catalog.shape import Region, Shape
from operators.operator import Messages
from operators.packed import Header, pack_messages, pack_snapshot
from state.order_code import INT64_MAX, INT64_MIN

DOMAIN = range(3)
LOWS = (INT64_MIN, *DOMAIN, max(DOMAIN) + 1)
HIGHS = (min(DOMAIN) - 1, *DOMAIN, INT64_MAX)

Row = dict[str, int | None]
Rows = dict[str, Row]


@dataclass(frozen=True)
class Publication:
    """A row of `relation` set (or deleted) under `key`; `offset` in the relation's topic."""

    relation: str
    key: str
    row: Row | None
    offset: int


@dataclass
class Taken:
    """What a batch did, for the twin of the edge: answers to registrations, and states around each publication."""

    snapshots: list[tuple[int, int | None]] = field(default_factory=list)
    steps: list[tuple[Publication, Rows, Rows]] = field(default_factory=list)


def answer(region: Region, rows: Rows) -> int | None:
    """Return the least or greatest measure among the rows in `region`, None where there is none."""
    shape = region.shape
    inside = []
    for row in rows.values():
        group = b"[" + b",".join(b"%d" % (row[c] or 0) for c in shape.equal) + b"]"
        at = row[shape.range] if shape.range else INT64_MIN
        if group != region.group or row.get(shape.measure) is None or at is None or region.empty:
            continue
        if shape.range is None or region.lo <= at <= region.hi:
            inside.append(row[shape.measure])
    pick = min if shape.aggregate == "min" else max
    return pick(inside, default=None)


def message_rows(
    shapes: list[Shape], before: Rows, after: Rows
) -> Iterator[tuple[int, bytes, int | None, int, int, int]]:
    """Yield (shape, group, new, lo, hi_min, hi_max) for all that a publication changes."""
    for number, shape in enumerate(shapes):
        groups = [b"[%d]" % g for g in DOMAIN] if shape.equal else [b"[]"]
        ranged = shape.range is not None
        for group in groups:
            for lo in LOWS if ranged else (INT64_MIN,):
                yield from _runs(number, shape, group, lo, HIGHS if ranged else (INT64_MAX,), before, after)


def _runs(
    number: int, shape: Shape, group: bytes, lo: int, highs: tuple[int, ...], before: Rows, after: Rows
) -> Iterator[tuple[int, bytes, int | None, int, int, int]]:
    run: tuple[int | None, int, int] | None = None
    for hi in highs:
        region = Region(shape, group, lo, hi)
        old, new = answer(region, before), answer(region, after)
        if run is not None and (old == new or run[0] != new):
            yield number, group, *_flat(run, lo)
            run = None
        if old != new:
            run = (new, hi if run is None else run[1], hi)
    if run is not None:
        yield number, group, *_flat(run, lo)


def _flat(run: tuple[int | None, int, int], lo: int) -> tuple[int | None, int, int, int]:
    return run[0], lo, run[1], run[2]


class NaiveShard:
    """One relation's rows and the shapes that are listened to; `batch` returns chunks and what happened."""

    def __init__(self, relation: Relation, epoch: int, rows: Rows) -> None:
        self.relation = relation
        self.epoch = epoch
        self.rows = rows
        self.shapes: list[Shape] = []
        self.seq = 0

    def batch(
        self, number: int, registered: list[tuple[int, Region]], publications: list[Publication], rows_a_chunk: int
    ) -> tuple[list[bytes], Taken]:
        """Take registrations, then publications."""
        taken = Taken()
        self.shapes += [s for s in dict.fromkeys(region.shape for _, region in registered) if s not in self.shapes]
        taken.snapshots = [(version, answer(region, self.rows)) for version, region in registered]
        rows: list[tuple[int, int, bytes, int | None, int, int, int]] = []
        for publication in publications:
            before, self.rows = self.rows, dict(self.rows)
            if publication.row is None:
                self.rows.pop(publication.key, None)
            else:
                self.rows[publication.key] = publication.row
            taken.steps.append((publication, before, self.rows))
            rows += [(publication.offset, *row) for row in message_rows(self.shapes, before, self.rows)]
        return self._chunks(number, taken.snapshots, rows, rows_a_chunk), taken

    def _chunks(self, number: int, snapshots: list, rows: list, size: int) -> list[bytes]:
        parts = [("snapshot", snapshots[i : i + size]) for i in range(0, len(snapshots), size)]
        parts += [("messages", rows[i : i + size]) for i in range(0, len(rows), size)]
        chunks = []
        for i, (kind, part) in enumerate(parts):
            header = Header(kind, self.epoch, self.relation.shard, number, chunk=i, of=len(parts), shapes=self.shapes)
            chunks.append(_pack_snapshot(header, part) if kind == "snapshot" else self._pack(header, part))
        return chunks

    def _pack(self, header: Header, rows: list) -> bytes:
        groups = sorted({row[2] for row in rows})
        ints = lambda column: np.array(column, np.int64)  # noqa: E731
        messages = Messages(
            shapes=self.shapes,
            groups=groups,
            cause=np.zeros(len(rows), np.int32),
            shape=np.array([row[1] for row in rows], np.int32),
            group=np.array([groups.index(row[2]) for row in rows], np.int32),
            new=ints([row[3] or 0 for row in rows]),
            has_new=np.array([row[3] is not None for row in rows]),
            lo_min=ints([row[4] for row in rows]),
            lo_max=ints([row[4] for row in rows]),
            hi_min=ints([row[5] for row in rows]),
            hi_max=ints([row[6] for row in rows]),
        )
        seq = np.arange(self.seq, self.seq + len(rows))
        self.seq += len(rows)
        return pack_messages(header, messages, seq, np.zeros(len(rows), np.int32), ints([row[0] for row in rows]))


def _pack_snapshot(header: Header, part: list[tuple[int, int | None]]) -> bytes:
    version = np.array([version for version, _ in part], np.int64)
    new = np.array([value or 0 for _, value in part], np.int64)
    return pack_snapshot(header, version, new, np.array([value is not None for _, value in part]))
