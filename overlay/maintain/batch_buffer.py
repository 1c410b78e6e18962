"""Chunks of batches that are not committed yet, until their progress record says that they are.

A batch's chunks stand in a virtual edge's log before its progress record, some of them twice (a batch that an
engine had to run again), and already mixed with those of the batch after it. The buffer keeps the first
copy of each (batch, shard, chunk) and hands out a batch whole or not at all. A batch that the release before wrote in
part is written again by the present one, cut otherwise: chunks of a higher format void those of a lower one.
Of what cells sent it keeps the rows of batches that were handed out (`maintain/sent_window.py`).

Invariants (`check`): 1 a buffered chunk's number is below its `of`, and all chunks of one (batch, shard) agree on
`of` and `format`; 2 `resume_offset` is the least offset that is buffered.
Cost: O(1) a chunk; handing out O(chunks of the batch); memory: the chunks themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from operators.packed import (
    Header,
    PackedBest,
    PackedChanges,
    PackedImages,
    PackedMessages,
    PackedNamed,
    PackedRows,
    PackedSnapshot,
)
from operators.timeline import Timeline
from operators.wire.header import NO_HORIZON
from operators.wire.timeline import TimelineChunk, joined
from overlay.maintain.sent_window import MissingRowsError, SentWindow
from overlay.maintain.shared_timelines import SHARED
from state.errors import TidewireError

Chunk = PackedMessages | PackedImages | PackedBest | PackedRows | PackedNamed | PackedChanges | PackedSnapshot


class MissingChunksError(TidewireError):
    """A batch is said to be committed, but some of what it sent to this virtual edge is not in the log."""

    code = "missing_chunks"


class RecordName:
    """Names chunks, for as long as it is there: equal to the name of the very same ones, which virtual edges share."""

    __slots__ = ("_chunks",)

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks = tuple(chunks)

    def __hash__(self) -> int:
        return hash(tuple(map(id, self._chunks)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RecordName) and [*map(id, self._chunks)] == [*map(id, other._chunks)]


@dataclass(frozen=True, slots=True)
class SentTimeline:
    """What a cell sent of a batch; `header` is that of one of its chunks, `name` that of all."""

    header: Header
    timeline: Timeline
    name: RecordName


@dataclass(slots=True)
class CommittedBatch:
    """All that one batch sent to this virtual edge, each kind by shard and seq.

    lost: a shard says that it could not read what the virtual edge registered.  unknown: by cell, what it names that is
    not here; there is no timeline of it.  horizons: by shard, how far it says that it is complete.
    """

    snapshots: list[PackedSnapshot] = field(default_factory=list)
    messages: list[PackedMessages] = field(default_factory=list)
    images: list[PackedImages] = field(default_factory=list)
    best: list[PackedBest] = field(default_factory=list)
    timelines: list[SentTimeline] = field(default_factory=list)
    lost: bool = False
    unknown: dict[str, MissingRowsError] = field(default_factory=dict)
    horizons: dict[str, int] = field(default_factory=dict)


class BatchBuffer:
    """Chunks by batch, shard and number, all of one epoch; and the window of those that were handed out."""

    def __init__(self) -> None:
        self.window = SentWindow()
        self._batches: dict[int, dict[str, dict[int, tuple[int, Chunk]]]] = {}

    def add(self, offset: int, chunk: Chunk) -> bool:
        """Keep `chunk`, found at `offset`; return whether it is new.

        Raises MissingChunksError if it contradicts what is there.
        """
        header = chunk.header
        shard = self._batches.setdefault(header.batch, {}).setdefault(header.shard, {})
        for _, other in list(shard.values())[:1]:
            if other.header.format > header.format:
                return False
            if other.header.format < header.format:
                shard.clear()
            elif other.header.of != header.of:
                raise MissingChunksError(_disagree(header.shard, header.batch, other.header.of, header.of))
        if header.chunk in shard:
            return False
        shard[header.chunk] = (offset, chunk)
        return True

    @property
    def resume_offset(self) -> int | None:
        """The offset from which the log must be read again after a restart; None if nothing is buffered."""
        offsets = [
            offset for shards in self._batches.values() for chunks in shards.values() for offset, _ in chunks.values()
        ]
        return min(offsets, default=None)

    def take(self, batch: int, lenient: bool = False) -> CommittedBatch:
        """Return the chunks of `batch` and forget them and all of earlier batches.

        `lenient` is for the first batch after a part of the log was lost: shards that are not whole are left out.
        Raises MissingChunksError if a chunk is missing, PackedError if those of a cell do not fit together.
        """
        shards = self._batches.get(batch, {})
        taken = CommittedBatch()
        for name in sorted(shards):
            chunks = shards[name]
            of = next(iter(chunks.values()))[1].header.of
            if len(chunks) == of:
                self._keep(batch, chunks.values())
                self._spread([chunks[i][1] for i in range(of)], taken)
            elif not lenient:
                raise MissingChunksError(_missing(name, batch, of, sorted(chunks)))
        for old in [number for number in self._batches if number <= batch]:
            del self._batches[old]
        self.window.drop(batch + 1)
        return taken

    def collect(self, offset: int, chunk: Chunk, applied: int) -> None:
        """Keep for the window what a chunk of a batch up to `applied` says again."""
        self._keep(applied + 1, [(offset, chunk)])

    def clear(self) -> None:
        """Forget everything."""
        self._batches.clear()
        self.window.clear()

    def check(self) -> None:
        """Check the invariants of the module's header. Raises AssertionError."""
        for batch, shards in self._batches.items():
            for name, chunks in shards.items():
                kinds = {(chunk.header.of, chunk.header.format) for _, chunk in chunks.values()}
                assert len(kinds) == 1 and all(0 <= i < min(kinds)[0] for i in chunks), (1, batch, name, chunks)
        self.window.check()

    def _keep(self, batch: int, chunks: Iterable[tuple[int, Chunk]]) -> None:
        for offset, chunk in chunks:
            if isinstance(chunk, PackedRows):
                self.window.keep(offset, chunk, batch)

    def _spread(self, chunks: list[Chunk], into: CommittedBatch) -> None:
        sent = [chunk for chunk in chunks if isinstance(chunk, PackedRows | PackedNamed | PackedChanges)]
        if sent:
            try:
                timeline = self._timeline(sent)
                into.timelines.append(SentTimeline(sent[0].header, timeline, RecordName(sent)))
            except MissingRowsError as error:
                into.unknown[sent[0].header.shard] = error
        _sort(chunks, into)

    def _timeline(self, sent: Sequence[TimelineChunk]) -> Timeline:
        named = [chunk for chunk in sent if isinstance(chunk, PackedNamed)]
        if not named:
            return joined(sent)
        rows = [rows for chunk in named for rows in self.window.rows_for(chunk)]
        return SHARED.of(sent, rows, lambda: joined(sent, self.window.spell))


def _sort(chunks: list[Chunk], into: CommittedBatch) -> None:
    for chunk in chunks:
        header = chunk.header
        into.lost |= header.lost
        if header.horizon != NO_HORIZON:
            into.horizons[header.shard] = max(header.horizon, into.horizons.get(header.shard, NO_HORIZON))
        if isinstance(chunk, PackedSnapshot):
            into.snapshots.append(chunk)
        elif isinstance(chunk, PackedImages):
            into.images.append(chunk)
        elif isinstance(chunk, PackedBest):
            into.best.append(chunk)
        elif isinstance(chunk, PackedMessages):
            into.messages.append(chunk)


def _missing(shard: str, batch: int, of: int, got: list[int]) -> str:
    return f"batch {batch} of shard `{shard}` is committed, expected chunks 0 to {of - 1}, got {got}"


def _disagree(shard: str, batch: int, first: int, second: int) -> str:
    return (
        f"two runs of batch {batch} of shard `{shard}` differ: expected chunks of {first}, got a chunk of {second}; "
        "begin a new epoch, and report this: a replayed batch must give the same bytes"
    )
