"""Stages `route` and `encode`: which virtual edges get which messages, packed into records of bounded size.

Virtual edges that listen to the same shapes get the same bytes, packed once. Chunks are numbered per virtual
edge: first those of its snapshot, then those of its messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import msgspec
import numpy as np

from catalog.shape import Shape
from connectors.record import OutRecord
from operators.operator import Messages
from operators.packed import BYTES_PER_ANSWER, BYTES_PER_MESSAGE, MAX_BYTES, Header, pack_messages, pack_snapshot
from state.change_batch import I64, ChangeBatch
from streaming.register import Snapshot


@dataclass(slots=True)
class Outgoing:
    """Messages of a batch with what is known of each: its seq, and where its cause came from."""

    messages: Messages
    seq: I64
    partition: I64
    offset: I64

    @classmethod
    def of(cls, messages: Messages, changes: ChangeBatch, last_seq: int) -> Outgoing:
        """Number `messages` from `last_seq` + 1 and give each the position of the change that caused it."""
        seq = np.arange(last_seq + 1, last_seq + 1 + len(messages), dtype=np.int64)
        partition = changes.partition[messages.cause].astype(np.int64)
        return cls(messages, seq, partition, changes.offset[messages.cause])

    def take(self, rows: I64 | slice) -> Outgoing:
        """Return the messages at `rows`, with only the groups they name; a slice is not copied."""
        messages = self.messages
        group, groups = messages.group[rows], messages.groups
        if len(groups) > 1:
            used, places = np.unique(group, return_inverse=True)
            group, groups = places.astype(np.int32), [groups[i] for i in used.tolist()]
        part = Messages(
            shapes=messages.shapes,
            groups=groups,
            group=group,
            **{name: getattr(messages, name)[rows] for name in _COLUMNS},
        )
        return Outgoing(part, self.seq[rows], self.partition[rows], self.offset[rows])


_COLUMNS = ("cause", "shape", "new", "has_new", "lo_min", "lo_max", "hi_min", "hi_max")


def route(listeners: Mapping[Shape, int], messages: Messages, partitions: int) -> dict[frozenset[int], list[int]]:
    """Return, for each set of shapes (indexes into `messages.shapes`) some virtual edge wants, those edges.

    Only shapes that occur in `messages` count; virtual edges that want none of them are left out.
    Cost: O(messages + shapes * partitions).
    """
    present = np.unique(messages.shape).tolist()
    masks = {shape: listeners.get(messages.shapes[shape], 0) for shape in present}
    wanted: dict[frozenset[int], list[int]] = {}
    for ve in range(partitions):
        shapes = frozenset(shape for shape, mask in masks.items() if mask >> ve & 1)
        if shapes:
            wanted.setdefault(shapes, []).append(ve)
    return wanted


class Encoder:
    """Packs what one shard sends in one batch; `header` carries epoch, shard and batch.

    Cost: O(messages) for each distinct set of shapes, plus the bytes written: each virtual edge gets its own copy.
    """

    def __init__(self, topic: str, header: Header, partitions: int) -> None:
        self._topic = topic
        self._header = header
        self._partitions = partitions

    def encode(
        self, snapshots: Mapping[int, Snapshot], outgoing: Outgoing | None, listeners: Mapping[Shape, int]
    ) -> Iterator[OutRecord]:
        """Yield the packed records of every virtual edge, its chunks in order."""
        parts = {} if outgoing is None else self._parts(outgoing, listeners)
        packed: dict[tuple[int, int, int], bytes] = {}
        for ve in sorted(parts.keys() | snapshots.keys()):
            yield from self._for_edge(ve, snapshots.get(ve), parts.get(ve, []), packed)

    def _parts(self, outgoing: Outgoing, listeners: Mapping[Shape, int]) -> dict[int, list[Outgoing]]:
        parts: dict[int, list[Outgoing]] = {}
        for shapes, edges in route(listeners, outgoing.messages, self._partitions).items():
            chunks = list(_split(_only(outgoing, shapes)))
            parts.update((ve, chunks) for ve in edges)
        return parts

    def _for_edge(
        self, ve: int, snapshot: Snapshot | None, chunks: list[Outgoing], packed: dict[tuple[int, int, int], bytes]
    ) -> Iterator[OutRecord]:
        answers = [] if snapshot is None else _cut(snapshot)
        of = len(answers) + len(chunks)
        key = self._header.shard.encode()
        for chunk, answer in enumerate(answers):
            header = msgspec.structs.replace(self._header, kind="snapshot", chunk=chunk, of=of)
            yield OutRecord(self._topic, ve, key, pack_snapshot(header, answer.version, answer.new, answer.has_new))
        for chunk, part in enumerate(chunks, len(answers)):
            identity = (id(part), chunk, of)
            if identity not in packed:
                packed[identity] = _pack(self._header, part, chunk, of)
            yield OutRecord(self._topic, ve, key, packed[identity])


def _only(outgoing: Outgoing, shapes: frozenset[int]) -> Outgoing:
    """Return the messages of `shapes`; all of them without copying where nothing is left out."""
    wanted = np.isin(outgoing.messages.shape, list(shapes))
    return outgoing if wanted.all() else outgoing.take(np.flatnonzero(wanted))


def _split(outgoing: Outgoing) -> Iterator[Outgoing]:
    """Halve until a chunk, the groups it names included, is estimated at `MAX_BYTES` or less."""
    rows = len(outgoing.seq)
    if rows <= 1 or rows * BYTES_PER_MESSAGE + sum(map(len, outgoing.messages.groups)) <= MAX_BYTES:
        yield outgoing
        return
    middle = (rows + 1) // 2
    yield from _split(outgoing.take(slice(middle)))
    yield from _split(outgoing.take(slice(middle, rows)))


def _pack(header: Header, part: Outgoing, chunk: int, of: int) -> bytes:
    whole = msgspec.structs.replace(
        header,
        kind="messages",
        chunk=chunk,
        of=of,
        shapes=part.messages.shapes,
        first_seq=int(part.seq[0]),
        last_seq=int(part.seq[-1]),
    )
    return pack_messages(whole, part.messages, part.seq, part.partition, part.offset)


def _cut(snapshot: Snapshot) -> list[Snapshot]:
    step = MAX_BYTES // BYTES_PER_ANSWER
    return [
        Snapshot(snapshot.version[i : i + step], snapshot.new[i : i + step], snapshot.has_new[i : i + step])
        for i in range(0, len(snapshot.version), step)
    ]
