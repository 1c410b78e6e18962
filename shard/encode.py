"""Stage `encode`: what each virtual edge gets, packed into records of bounded size.

Virtual edges that get the same messages get the same bytes, packed once. Chunks are numbered per virtual edge:
first those of its snapshot, then those of its messages, of images, and of messages about first rows; of a cell rows
and then changes. A virtual edge
that is to be told of a loss (`Header.lost`) has a snapshot, be it empty, whose chunks say so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import msgspec
import numpy as np

from connectors.record import OutRecord
from operators.answer import apart, encoded_size
from operators.operator import Answers, Messages
from operators.packed import BYTES_PER_ANSWER, Header, pack_best, pack_images, pack_messages, pack_snapshot
from operators.reply import reply_size, rows_apart
from operators.timeline import Timeline
from operators.wire.timeline import Part as TimelinePart
from operators.wire.timeline import pack as pack_timeline
from operators.wire.timeline import split
from shard.outgoing import Outgoing
from shard.outgoing_best import OutgoingBest
from shard.outgoing_images import OutgoingImages
from shard.route import Route
from shard.snapshot import Snapshot
from state.byte_runs import RECORD_BYTES, byte_runs
from state.causes import Causes
from state.change_batch import I64

_Part = Outgoing | OutgoingImages | OutgoingBest | TimelinePart
_KINDS = {Outgoing: "messages", OutgoingImages: "images", OutgoingBest: "best"}
Chunks = dict[int, list[_Part]]
"""By virtual edge, what it gets of a batch beside its snapshot, in order."""
_EMPTY, _NONE = np.zeros(0, np.int64), np.zeros(0, np.int32)
_NEVER = np.zeros(0, np.bool_)
NOTHING = Outgoing(
    Messages([], [], _NONE, _NONE, _NONE, _EMPTY, _EMPTY, _NEVER, _EMPTY, _NEVER, _EMPTY, _EMPTY, _EMPTY, _EMPTY),
    _EMPTY,
    Causes([], _NONE, _NONE, _EMPTY),
    None,
    _NEVER,
    _NEVER,
)
"""No messages: of a record that only its header says something."""
_NOTHING = Snapshot(np.zeros(0, np.int64), Answers(np.zeros(0, np.int64), np.zeros(0, np.bool_), {}))


class Encoder:
    """Packs what one shard sends in one batch; `header` carries epoch, shard and batch.

    answers: the header of snapshots, where that is another: they hold before the batch.
    Cost: O(messages) for each distinct part of the route, plus the bytes written: each virtual edge gets its own copy.
    """

    def __init__(self, topic: str, header: Header, answers: Header | None = None) -> None:
        self._topic = topic
        self._header = header
        self._answers = header if answers is None else answers

    def encode(
        self, snapshots: Mapping[int, Snapshot], chunks: Chunks, hurt: Collection[int] = ()
    ) -> Iterator[OutRecord]:
        """Yield the packed records of every virtual edge, its chunks in order; `hurt` are told of a loss."""
        packed: dict[tuple[int, int, int], bytes] = {}
        for ve in sorted({*chunks, *snapshots, *hurt}):
            snapshot = snapshots.get(ve, _NOTHING if ve in hurt else None)
            yield from self._for_edge(ve, snapshot, chunks.get(ve, []), packed, ve in hurt)

    def _for_edge(
        self, ve: int, snapshot: Snapshot | None, chunks: Sequence[_Part],
        packed: dict[tuple[int, int, int], bytes], lost: bool,
    ) -> Iterator[OutRecord]:  # fmt: skip
        answers = [] if snapshot is None else list(_cut(snapshot)) or [snapshot]
        of = len(answers) + len(chunks)
        key = self._header.shard.encode()
        for chunk, answer in enumerate(answers):
            header = msgspec.structs.replace(self._answers, kind="snapshot", chunk=chunk, of=of, lost=lost)
            yield OutRecord(self._topic, ve, key, pack_snapshot(header, answer.version, answer.answers, answer.replies))
        for chunk, part in enumerate(chunks, len(answers)):
            identity = (id(part), chunk, of)
            if identity not in packed:
                packed[identity] = _pack(self._header, part, chunk, of)
            yield OutRecord(self._topic, ve, key, packed[identity])


def chunks_of(outgoing: Outgoing, routed: Route) -> Chunks:
    """Return the chunks of each virtual edge; edges that get the same have the very same."""
    chunks: Chunks = {}
    for rows, edges in routed.parts:
        part: list[_Part] = list(_only(outgoing, rows).split())
        chunks.update((ve, part) for ve in edges)
    return chunks


def add_images(chunks: Chunks, images: OutgoingImages, viewers: Sequence[int]) -> None:
    """Put images behind the chunks of all who listen to them: the very same for each."""
    parts = list(images.split()) if viewers else []
    for ve in viewers if parts else ():
        chunks[ve] = [*chunks.get(ve, ()), *parts]


def add_best(chunks: Chunks, best: OutgoingBest, routed: Route) -> None:
    """Put messages about first rows behind the chunks of those who get them."""
    for rows, edges in routed.parts:
        parts = list((best if len(rows) == len(best.seq) else best.take(rows)).split())
        for ve in edges:
            chunks[ve] = [*chunks.get(ve, ()), *parts]


def timeline_chunks(told: Iterable[tuple[Timeline, Sequence[int]]]) -> Chunks:
    """Return the chunks of the virtual edges that a cell sends timelines; who get the same have the very same."""
    chunks: Chunks = {}
    for timeline, edges in told:
        parts: list[_Part] = list(split(timeline))
        chunks.update((ve, parts) for ve in edges)
    return chunks


def _only(outgoing: Outgoing, rows: I64) -> Outgoing:
    """Return the messages at `rows`; all of them are not copied, unless there may be texts that nobody names."""
    whole = len(rows) == len(outgoing.seq) and not outgoing.messages.texts
    return outgoing if whole else outgoing.take(rows)


def _pack(header: Header, part: _Part, chunk: int, of: int) -> bytes:
    if isinstance(part, TimelinePart):
        return pack_timeline(msgspec.structs.replace(header, chunk=chunk, of=of), part)
    seq, kind = part.seq, _KINDS[type(part)]
    whole = msgspec.structs.replace(header, kind=kind, chunk=chunk, of=of)
    if len(seq):
        whole.first_seq, whole.last_seq = int(seq[0]), int(seq[-1])
    if isinstance(part, Outgoing):
        return pack_messages(whole, part.messages, seq, part.causes, part.several)
    if isinstance(part, OutgoingBest):
        return pack_best(whole, part.messages, seq, part.causes, part.several)
    return pack_images(whole, part.channel, part.images, seq, part.causes, part.several)


def _cut(snapshot: Snapshot) -> Iterator[Snapshot]:
    """Yield runs of answers that take at most `RECORD_BYTES`; one that takes more stands in several (`_spread`)."""
    sizes = [BYTES_PER_ANSWER] * len(snapshot.version)
    if snapshot.answers.parts or snapshot.replies:
        sizes = _sizes(snapshot)
        if max(sizes, default=0) > RECORD_BYTES:
            snapshot = _spread(snapshot)
            sizes = _sizes(snapshot)
    for run in byte_runs(sizes):
        yield _slice(snapshot, run.start, run.stop)


def _spread(snapshot: Snapshot) -> Snapshot:
    """Return the answers with each DISTINCT and each list of rows that is too large for a record as several."""
    answers, most = snapshot.answers, RECORD_BYTES - BYTES_PER_ANSWER
    parted = {i: apart(parts, most) for i, parts in answers.parts.items()}
    cut = {i: rows_apart(reply, most) for i, reply in snapshot.replies.items()}
    times = np.array([max(len(parted.get(i, "1")), len(cut.get(i, "1"))) for i in range(len(answers))], np.int64)
    if times.sum() == len(answers):
        return snapshot
    first = np.cumsum(times) - times
    parts = {int(first[i]) + k: piece for i, pieces in parted.items() for k, piece in enumerate(pieces)}
    replies = {int(first[i]) + k: piece for i, pieces in cut.items() for k, piece in enumerate(pieces)}
    new, known = np.repeat(answers.new, times), np.repeat(answers.has_new, times)
    return Snapshot(np.repeat(snapshot.version, times), Answers(new, known, parts), replies)


def _sizes(snapshot: Snapshot) -> list[int]:
    """Return at most how many bytes each answer takes."""
    sizes = [BYTES_PER_ANSWER] * len(snapshot.version)
    for i, parts in snapshot.answers.parts.items():
        sizes[i] += encoded_size(parts)
    for i, reply in snapshot.replies.items():
        sizes[i] += reply_size(reply)
    return sizes


def _slice(snapshot: Snapshot, start: int, end: int) -> Snapshot:
    answers = snapshot.answers
    parts = {i - start: answers.parts[i] for i in range(start, end) if i in answers.parts} if answers.parts else {}
    replies = {i - start: reply for i, reply in snapshot.replies.items() if start <= i < end}
    new, known = answers.new[start:end], answers.has_new[start:end]
    return Snapshot(snapshot.version[start:end], Answers(new, known, parts), replies)
