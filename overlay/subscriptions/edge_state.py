"""What a virtual edge keeps on Kafka: a log of state records from which another process continues exactly.

The partition of `edge-state` holds, in order: the segments of full snapshots, each set closed by a `complete`
record, and the deltas of each transaction. Reading it back means: the last complete snapshot, then every delta
after it. Segments without their `complete` are void, and so is everything before the snapshot.

A delta says what a transaction changed, as final states and not as operations: reading one twice is harmless.
Its parts take effect in this order: head, shapes dropped, shapes, slots freed, slots, answers, values, digests,
held-back records.

    head      epoch, registered, last batch applied, catalog version, era, where past eras ended and kept rows stand
    shapes    those that subscriptions have, by number
    slots     whole subscriptions (id, version, SQL, region, answer), as columns (`overlay/table/slot_rows.py`)
    values    columns (slot, value, known, n, era) of subscriptions of which only the answer changed
    digests   columns (slot, rows, low, high) of filters of which only the answer changed
    answers   of slots that have more than those columns, a record each (`overlay/answers/answer_table.py`)
    held      subscription records that wait for a catalog, as they came

Nothing of it is ever passed over: what cannot be read, is of another format or does not fit what stands before it ends
the restoring with an EdgeStateError, for whoever goes on without it has other subscriptions than were promised.

Chunks of batches that are not committed are not part of it: a restart reads them again (`resume_offset`).

Cost: 82 bytes + literals + id a slot, 33 bytes a changed value, 28 more where it is a filter's; 0.3 us a slot to write,
1 us to take in. Records stay below `RECORD_BYTES` bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

import msgspec
import numpy as np

from overlay.table.slot_rows import Slots, parts_of
from state.byte_runs import RECORD_BYTES, byte_runs
from state.errors import StateError

_FORMAT = 2
_VALUES_A_RECORD = 20_000
_INT_BYTES = 9
T = TypeVar("T")
TypeState = tuple[str, int, int]
"""A column's type: kind, precision, scale; of integers that no BIGINT holds the kind is "WHOLE"."""


class EdgeStateError(StateError):
    """What is stored of a virtual edge cannot be taken. `record` counts records from 0; None: it is not just one."""

    def __init__(self, message: str, record: int | None = None) -> None:
        super().__init__(message)
        self.record = record


class Head(msgspec.Struct, array_like=True, frozen=True):
    """The few numbers that all else hangs on. `epoch`, `catalog` are -1 and `applied` None where not known yet.

    kept: the offset in `notifications` of the first chunk whose rows may still be named, None where there is none.
    horizons: how far shards of views of streams said that these are complete.
    """

    epoch: int = -1
    registered: bool = False
    applied: int | None = None
    unsure: bool = False
    catalog: int = -2
    era: int = 0
    position: tuple[int, int] | None = None
    ended_eras: dict[int, tuple[int, int]] = {}
    kept: int | None = None
    horizons: dict[str, int] = {}


class ShapeState(msgspec.Struct, array_like=True, frozen=True):
    """A shape in use, with the types of its outputs' columns, and of the range attribute where bounds are bytes.

    Of a filter `types` are those of the columns that it shows or of its outputs, and behind them of those it compares.
    """

    number: int
    key: str
    born: int
    shard: str
    topic: str
    types: tuple[TypeState | None, ...]
    range_type: TypeState | None = None


class HeldState(msgspec.Struct, array_like=True, frozen=True):
    """A subscription record that waits for a catalog."""

    version: int
    key: bytes
    value: bytes


class Values(msgspec.Struct, array_like=True, frozen=True):
    """Changed answers as little-endian columns: int32 slot, int64 value, bool known, int64 n, int64 era."""

    slot: bytes = b""
    value: bytes = b""
    known: bytes = b""
    n: bytes = b""
    era: bytes = b""


class Digests(msgspec.Struct, array_like=True, frozen=True):
    """Filters' changed answers as little-endian columns: int32 slot, int64 rows, uint64 low, uint64 high."""

    slot: bytes = b""
    rows: bytes = b""
    low: bytes = b""
    high: bytes = b""


class Delta(msgspec.Struct, array_like=True):
    """One change of state, or a part of a whole one."""

    head: Head | None = None
    dropped_shapes: list[int] = []
    shapes: list[ShapeState] = []
    freed: list[int] = []
    slots: Slots = Slots()
    values: Values = Values()
    unheld: list[int] = []
    held: list[HeldState] = []
    answers: list[tuple[int, bytes]] = []
    digests: Digests = Digests()


class Record(msgspec.Struct, array_like=True):
    """What stands in the topic. `snapshot` numbers snapshots, `part` their segments; `complete` has the count."""

    format: int
    kind: str
    snapshot: int = 0
    part: int = 0
    delta: Delta = msgspec.field(default_factory=Delta)


class _Format(msgspec.Struct, array_like=True):
    """The beginning of a record of any format."""

    format: int


class Stored(NamedTuple):
    """A delta, and the number of the record that it stands in."""

    record: int
    delta: Delta


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Record)
_FORMATS = msgspec.msgpack.Decoder(_Format)
_KINDS = ("delta", "segment", "complete")


def encode_deltas(delta: Delta) -> list[bytes]:
    """Return `delta` as records of bounded size, to be written in one transaction and in this order."""
    return [_ENCODER.encode(Record(_FORMAT, "delta", delta=part)) for part in _parts(delta)]


def encode_snapshot(number: int, whole: Delta) -> list[bytes]:
    """Return a whole state as segments and their `complete` record."""
    parts = list(_parts(whole))
    records = [Record(_FORMAT, "segment", number, i, part) for i, part in enumerate(parts)]
    return [_ENCODER.encode(record) for record in [*records, Record(_FORMAT, "complete", number, len(parts))]]


def read_back(values: Iterable[bytes | None]) -> tuple[list[Stored], int]:
    """Return the deltas that make the state, in order, and the number of the last complete snapshot (-1: none).

    Raises EdgeStateError if a record is of another format, or not one at all.
    """
    deltas: list[Stored] = []
    segments: dict[int, Stored] = {}
    collecting, complete = -1, -1
    for number, value in enumerate(values):
        record = _read(number, value or b"")
        if record.kind == "delta":
            deltas.append(Stored(number, record.delta))
        elif record.kind == "segment":
            if record.snapshot != collecting or record.part == 0:
                collecting, segments = record.snapshot, {}
            segments[record.part] = Stored(number, record.delta)
        elif record.snapshot == collecting and len(segments) == record.part:
            deltas, complete = [segments[i] for i in sorted(segments)], collecting
    return deltas, complete


def columns_of(values: Values) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the columns (slot, value, known, n, era). Raises ValueError if they are not of one length."""
    columns = (
        np.frombuffer(values.slot, np.int32),
        np.frombuffer(values.value, np.int64),
        np.frombuffer(values.known, np.bool_),
        np.frombuffer(values.n, np.int64),
        np.frombuffer(values.era, np.int64),
    )
    if len({len(column) for column in columns}) > 1:
        raise ValueError("columns of different lengths")
    return columns


def values_of(slot: np.ndarray, value: np.ndarray, known: np.ndarray, n: np.ndarray, era: np.ndarray) -> Values:
    """Return columns as they are stored."""
    return Values(
        slot.astype(np.int32).tobytes(),
        value.tobytes(),
        known.tobytes(),
        n.tobytes(),
        era.astype(np.int64).tobytes(),
    )


def digest_columns(digests: Digests) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the columns (slot, rows, low, high). Raises ValueError if they are not of one length."""
    columns = (
        np.frombuffer(digests.slot, np.int32),
        np.frombuffer(digests.rows, np.int64),
        np.frombuffer(digests.low, np.uint64),
        np.frombuffer(digests.high, np.uint64),
    )
    if len({len(column) for column in columns}) > 1:
        raise ValueError("columns of different lengths")
    return columns


def digests_of(slot: np.ndarray, rows: np.ndarray, low: np.ndarray, high: np.ndarray) -> Digests:
    """Return columns as they are stored."""
    return Digests(slot.astype(np.int32).tobytes(), rows.tobytes(), low.tobytes(), high.tobytes())


def _read(number: int, value: bytes) -> Record:
    try:
        found = _FORMATS.decode(value).format
        record = _DECODER.decode(value) if found == _FORMAT else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise EdgeStateError(
            f"expected msgpack of format {_FORMAT}, got {value[:16]!r} ({len(value)} bytes): {error}", number
        ) from error
    if record is None:
        raise EdgeStateError(f"it is in another format: expected {_FORMAT}, got {found}", number)
    if record.kind not in _KINDS:
        raise EdgeStateError(f"it is of another kind: expected one of {', '.join(_KINDS)}, got `{record.kind}`", number)
    return record


def _parts(delta: Delta) -> Iterator[Delta]:
    """Cut `delta` so that each part is small; what frees comes first, what refers to shapes after them."""
    yield Delta(delta.head, delta.dropped_shapes, delta.shapes)
    for freed in _runs(delta.freed, lambda _: _INT_BYTES):
        yield Delta(freed=freed)
    for slots in parts_of(delta.slots, RECORD_BYTES):
        yield Delta(slots=slots)
    for answers in _runs(delta.answers, lambda answer: 2 * _INT_BYTES + len(answer[1])):
        yield Delta(answers=answers)
    columns = columns_of(delta.values)
    for start in range(0, len(columns[0]), _VALUES_A_RECORD):
        yield Delta(values=values_of(*(column[start : start + _VALUES_A_RECORD] for column in columns)))
    digests = digest_columns(delta.digests)
    for start in range(0, len(digests[0]), _VALUES_A_RECORD):
        yield Delta(digests=digests_of(*(column[start : start + _VALUES_A_RECORD] for column in digests)))
    for unheld in _runs(delta.unheld, lambda _: _INT_BYTES):
        yield Delta(unheld=unheld)
    for held in _runs(delta.held, lambda record: 32 + len(record.key) + len(record.value)):
        yield Delta(held=held)


def _runs(items: list[T], size: Callable[[T], int]) -> Iterator[list[T]]:
    return (items[run] for run in byte_runs(map(size, items)))
