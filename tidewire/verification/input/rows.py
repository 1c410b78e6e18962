"""What records do to the rows of a table, in the order in which its shard took them.

A record of any format but one says it alone. A record of `debezium-json` may hang on the rows that are there: a
truncate deletes them all, a value that did not change is that of the row before, which a create may have left under
another key in the same moment of the source's log. So these are walked, with all rows in memory. And a change that
stands in the source's log before one that its partition had, and is no later, does nothing: the connector was killed,
and says it again.

Which rows of a stream count hangs on those before them, too (`input/stream_walk.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from tidewire.verification.input import debezium
from tidewire.verification.input.avro_rows import avro_key, avro_members
from tidewire.verification.input.bucket import bucket_of
from tidewire.verification.input.csv_rows import csv_members
from tidewire.verification.input.debezium import NOTHING, Event
from tidewire.verification.input.declared import Table
from tidewire.verification.input.decoding import JSON, Bad, Format, Row, decode, key_texts
from tidewire.verification.input.ordering import Sequence, Taken
from tidewire.verification.input.proto_rows import protobuf_key, protobuf_members
from tidewire.verification.input.silences import Silences
from tidewire.verification.input.stream_walk import StreamWalk, StreamWalked
from tidewire.verification.records.batches import Batches

WALKED = "debezium-json"
"""The format whose records hang on the rows that are there."""
FORMATS = {
    "json": JSON,
    "csv": Format(key_texts, csv_members),
    "avro": Format(avro_key, avro_members),
    "protobuf": Format(protobuf_key, protobuf_members),
}

Image = tuple[str | None, ...]


class Step(NamedTuple):
    """What record number `seq` did to one row."""

    seq: int
    row: Row


@dataclass(slots=True)
class Walked:
    """`steps` in order; by seq, whether a record is a dead letter, None where that cannot be known."""

    steps: list[Step] = field(default_factory=list)
    dead: dict[int, bool | None] = field(default_factory=dict)


class Rows:
    """Decodes records, each once for each declaration, however many epochs read it.

    Rows of streams are judged by `batches` and `silences`.
    """

    def __init__(self, batches: Batches | None = None, silences: Silences | None = None) -> None:
        self._batches = batches
        self._silences = silences or Silences()
        self._streams: dict[tuple[int, str, int], StreamWalked] = {}
        self._rows: dict[tuple[Table, int, int, bool], Row | None] = {}
        self._events: dict[tuple[Table, int, int, bool], Event | None] = {}
        self._walked: dict[tuple[int, str, int], Walked] = {}

    def steps(self, sequence: Sequence) -> Iterator[Step]:
        """Yield what each record did, dead letters left out."""
        if sequence.table.format == WALKED:
            yield from self._walk(sequence).steps
            return
        if sequence.table.stream is not None:
            yield from (Step(seq, row) for seq, row in self.stream(sequence).rows.items())
            return
        for seq, taken in enumerate(sequence.taken, 1):
            row = self.row(taken)
            if row is not None:
                yield Step(seq, row)

    def verdicts(self, sequence: Sequence) -> Iterator[tuple[Taken, bool | None]]:
        """Yield each record, and whether it is a dead letter; None where that cannot be known."""
        if sequence.unread:
            yield from ((taken, None) for taken in sequence.taken)
            return
        walked = self._walk(sequence).dead if sequence.table.format == WALKED else {}
        if sequence.table.stream is not None:
            walked = self.stream(sequence).dead
        for seq, taken in enumerate(sequence.taken, 1):
            yield taken, walked[seq] if walked else self.row(taken) is None

    def row(self, taken: Taken) -> Row | None:
        """Return what a record does that is a row by itself, None if it is a dead letter."""
        record, of_stream = taken.record, taken.table.stream is not None
        keyless = of_stream or (taken.partitions == 1 and not taken.table.bucket_by)
        place = (taken.table, record.partition, record.offset, keyless)
        if place not in self._rows:
            key = None if of_stream else record.key
            self._rows[place] = decode(taken.table, key, record.value, keyless, FORMATS[taken.table.format])
        return self._rows[place]

    def stream(self, sequence: Sequence) -> StreamWalked:
        """Return which rows of a stream count, and how far it was; where input is gone, verdicts are not known."""
        key = sequence.epoch, *sequence.subject
        if key not in self._streams:
            rows = {seq: self.row(taken) for seq, taken in enumerate(sequence.taken, 1)}
            batches = [] if self._batches is None else self._batches.epochs.get(sequence.epoch, [])
            walked = StreamWalk(sequence, rows, batches, self._silences).run()
            if sequence.limit is not None:
                walked.dead = {seq: True if rows[seq] is None else None for seq in walked.dead}
            self._streams[key] = walked
        return self._streams[key]

    def event(self, taken: Taken) -> Event | None:
        """Return what a record of format `debezium-json` says, None if it is a dead letter."""
        record, keyless = taken.record, taken.partitions == 1
        place = (taken.table, record.partition, record.offset, keyless)
        if place not in self._events:
            try:
                self._events[place] = debezium.decode(taken.table, record.key, record.value, keyless)
            except Bad:
                self._events[place] = None
        return self._events[place]

    def _walk(self, sequence: Sequence) -> Walked:
        key = (sequence.epoch, sequence.table.name.lower(), sequence.table.born)
        if key not in self._walked:
            self._walked[key] = _Walk(sequence, self).run()
        return self._walked[key]


class _Walk:
    """Walks a sequence of events; `rows` has the table as it is."""

    def __init__(self, sequence: Sequence, rows: Rows) -> None:
        self._sequence = sequence
        self._decoder = rows
        self._rows: dict[str, Image] = {}
        self._buried: dict[str, Image] = {}
        self._falling: dict[str, str] = {}
        self._reached: dict[tuple[int, int, str], tuple[list[int], int]] = {}
        self._left_out: dict[tuple[int, int, str], str] = {}
        self._walked = Walked()

    def run(self) -> Walked:
        numbered = enumerate(self._sequence.taken, 1)
        for _, batch in groupby(numbered, key=lambda one: one[1].batch):
            events = [(seq, self._event(taken)) for seq, taken in batch]
            self._falling = {
                event.moment: event.pk
                for _, event in events
                if event is not None and event.kind == "delete" and event.moment is not None
            }
            for seq, event in events:
                self._walked.dead[seq] = event is None
                if event is not None:
                    self._take(seq, event)
        return self._walked

    def _event(self, taken: Taken) -> Event | None:
        """Return what a record says, nothing if it says again what the partition has had."""
        event = self._decoder.event(taken)
        if event is None or event.kind == "nothing":
            return event
        where = bucket_of(taken.table, taken.record.key), taken.record.partition
        if event.position is None:
            return self._behind_repeat(where, event)
        name, *place, time = event.position
        self._left_out.pop((*where, name), None)
        highest, latest = self._reached.get((*where, name), ([-1, -1], -1))
        if place >= highest or time > latest:
            self._reached[*where, name] = place, max(latest, time)
            return event
        if event.kind == "delete":
            self._left_out[*where, name] = event.pk
        return NOTHING

    def _behind_repeat(self, where: tuple[int, int], event: Event) -> Event:
        """Return nothing for the tombstone of a delete that was said again."""
        if event.kind == "delete":
            for place, pk in self._left_out.items():
                if place[:2] == where and pk == event.pk:
                    del self._left_out[place]
                    return NOTHING
        return event

    def _take(self, seq: int, event: Event) -> None:
        if event.kind == "truncate":
            for pk in list(self._rows):
                self._delete(seq, pk)
        elif event.kind == "delete":
            if event.moment is not None and event.pk in self._rows:
                self._buried[event.moment] = self._rows[event.pk]
            self._delete(seq, event.pk)
        elif event.kind == "upsert":
            self._upsert(seq, event)

    def _upsert(self, seq: int, event: Event) -> None:
        before = self._before(event)
        if before is None and any(event.unknown):
            self._walked.dead[seq] = None if self._sequence.limit is not None else True
            return
        width = len(event.values)
        stored = (None,) * width if before is None else (*before, *(None,) * width)[:width]
        image = tuple(old if kept else new for old, new, kept in zip(stored, event.values, event.kept, strict=True))
        if event.origin is not None:
            self._delete(seq, event.origin)
        self._rows[event.pk] = image
        self._walked.steps.append(Step(seq, Row(event.pk, True, list(image), [True] * width)))

    def _before(self, event: Event) -> Image | None:
        """Return the row that the event is about, as it was."""
        if event.origin is not None:
            return self._rows.get(event.origin)
        if event.moment in self._buried:
            return self._buried[event.moment]
        if event.moment in self._falling and self._falling[event.moment] in self._rows:
            return self._rows[self._falling[event.moment]]
        return self._rows.get(event.pk)

    def _delete(self, seq: int, pk: str) -> None:
        self._rows.pop(pk, None)
        self._walked.steps.append(Step(seq, Row(pk, False, [], [])))
