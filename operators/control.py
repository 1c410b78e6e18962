"""Control records: the JSON objects that travel among packed records, and the progress of an engine.

epoch     engine -> every virtual edge    from here on lower epochs are void
register  engine -> every virtual edge    register every subscription again, stating this epoch
progress  engine -> every virtual edge    the batch is committed; all its messages stand before this record
progress  engine -> topic `batches`       the same with offset vectors, written last
withdraw  edge -> shard                   this virtual edge has no use for these channels any more
silence   engine -> shard of a stream     a partition has no more rows before a time
write     engine -> shard                 write the rows of this view to its topic, from now on
"""

from __future__ import annotations

import msgspec

from catalog.query.channel import Channel
from catalog.query.shape import with_tags
from operators.record_error import FORMAT, OLDEST_FORMAT, Number, RecordError, format_of, newer_than_we

Offsets = dict[str, dict[str, int]]
"""topic -> partition (as text) -> offset."""


class EpochBegins(msgspec.Struct, frozen=True, tag="epoch", tag_field="kind"):
    """Records of lower epochs that follow are void. `catalog` is the version to compile with."""

    epoch: Number
    catalog: Number


class RegisterAll(msgspec.Struct, frozen=True, tag="register", tag_field="kind"):
    """The engine has caught up with what existed when its epoch began; edges register everything."""

    epoch: Number
    catalog: Number


class Progress(msgspec.Struct, frozen=True, tag="progress", tag_field="kind", omit_defaults=True):
    """Batch `batch` of `epoch` is committed (repeated while idle; then only `time` differs).

    `catalog` is the version that is announced: edges compile with it. Only in the topic `batches` stand `start`
    and `end`, the half-open offset range of every topic-partition that the batch read, and `holds`, the catalog
    version that it ran under (older than the announced one where a restart with a new catalog came between).
    """

    epoch: Number
    batch: Number
    catalog: Number
    time: str
    start: Offsets = {}
    end: Offsets = {}
    holds: Number = -1


class Withdraw(msgspec.Struct, frozen=True, tag="withdraw", tag_field="kind"):
    """Virtual edge `ve` has no subscription that needs `channels` any more.

    format: that of its channels (`operators/needed_format.py`); one that does not say it has channels without tags.
    """

    epoch: Number
    ve: Number
    channels: list[Channel]
    format: int = FORMAT


class Write(msgspec.Struct, frozen=True, tag="write", tag_field="kind", omit_defaults=True):
    """The shard of a view writes what changes to the view's topic from now on (`shard/written_rows.py`).

    With `rows` it writes all that there are first. `keys` has keys of records that stand in the topic, as text: those
    that are no row's are deleted. `catalog` is the version that has the view.
    """

    epoch: Number
    catalog: Number
    rows: bool = False
    keys: list[str] = []


class Silence(msgspec.Struct, frozen=True, tag="silence", tag_field="kind", omit_defaults=True):
    """Partition `partition` of the topic of `stream` is silent: behind offset `after` - 1 no row comes before `upto`.

    It counts as a row with event time `upto` (microseconds since 1970) where the shard is that reads it, which tells
    where that was (`Silenced`). Where `epoch` says in which one a committed batch had reached `after`, the shard has
    read all before that by then, and in another epoch it counts for nothing; else it counts no sooner than at `after`.
    A `hole` says that rows before `after` were lost: the horizon of the partition stands still from there on, until a
    silence accepts the loss; one that is `idle`, which an engine says by itself, does not.
    born: the catalog version that created the stream; -1: whichever it is.
    """

    stream: str
    partition: Number
    after: Number
    upto: Number
    hole: bool = False
    epoch: Number = -1
    born: Number = -1
    idle: bool = False


Control = EpochBegins | RegisterAll | Progress | Withdraw | Write | Silence

_DECODER = msgspec.json.Decoder(Control)
_KINDS = ("epoch", "register", "progress", "withdraw", "write", "silence")


class ControlError(RecordError):
    """A control record cannot be read."""

    code = "control_record"


def encode_control(record: Control) -> bytes:
    """Return the record's bytes."""
    return msgspec.json.encode(record)


def decode_control(value: bytes) -> Control:
    """Read a control record. Raises ControlError if it is none, or a newer one."""
    newer = newer_than_we(value, _KINDS)
    if newer:
        raise ControlError(f"a newer tidewire wrote this control record: it has {newer}", newer=True)
    try:
        if b'"withdraw"' in value and format_of(value) == OLDEST_FORMAT:
            return msgspec.convert(with_tags(msgspec.json.decode(value)), Withdraw)
        return _DECODER.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ControlError(f"not a control record ({len(value)} bytes, begins with {value[:64]!r}): {error}") from error


def control_at(topic: str, partition: int, offset: int, value: bytes | None) -> Control:
    """Read the record of a topic in which nothing but control records may stand.

    Raises ControlError if it is none: one sentence that says where it stands and what to do.
    """
    try:
        return decode_control(value or b"")
    except ControlError as error:
        advice = (
            "Run the version of tidewire that wrote it."
            if error.newer
            else "Find out who else writes there; use another `prefix`, or delete the records up to this one."
        )
        raise ControlError(f"`{topic}` [{partition}] offset {offset}: {error}. {advice}", newer=error.newer) from error
