"""Control records: the JSON objects that travel among packed records, and the progress of an engine.

epoch     engine -> every virtual edge    from here on lower epochs are void
register  engine -> every virtual edge    register every subscription again, stating this epoch
progress  engine -> every virtual edge    the batch is committed; all its messages stand before this record
progress  engine -> topic `batches`       the same with offset vectors, written last
withdraw  edge -> shard                   this virtual edge has no use for these channels any more
"""

from __future__ import annotations

import msgspec

from catalog.shape import Channel

Offsets = dict[str, dict[str, int]]
"""topic -> partition (as text) -> offset."""


class EpochBegins(msgspec.Struct, frozen=True, tag="epoch", tag_field="kind"):
    """Records of lower epochs that follow are void. `catalog` is the version to compile with."""

    epoch: int
    catalog: int


class RegisterAll(msgspec.Struct, frozen=True, tag="register", tag_field="kind"):
    """The engine has caught up with what existed when its epoch began; edges register everything."""

    epoch: int
    catalog: int


class Progress(msgspec.Struct, frozen=True, tag="progress", tag_field="kind", omit_defaults=True):
    """Batch `batch` of `epoch` is committed (repeated while idle; then only `time` differs).

    `catalog` is the version that is announced: edges compile with it. Only in the topic `batches` stand `start`
    and `end`, the half-open offset range of every topic-partition that the batch read, and `holds`, the catalog
    version that it ran under (older than the announced one where a restart with a new catalog came between).
    """

    epoch: int
    batch: int
    catalog: int
    time: str
    start: Offsets = {}
    end: Offsets = {}
    holds: int = -1


class Withdraw(msgspec.Struct, frozen=True, tag="withdraw", tag_field="kind"):
    """Virtual edge `ve` has no subscription that needs `channels` any more."""

    epoch: int
    ve: int
    channels: list[Channel]


Control = EpochBegins | RegisterAll | Progress | Withdraw

_DECODER = msgspec.json.Decoder(Control)


def encode_control(record: Control) -> bytes:
    """Return the record's bytes."""
    return msgspec.json.encode(record)


def decode_control(value: bytes) -> Control:
    """Read a control record. Raises msgspec.ValidationError or DecodeError if it is none."""
    return _DECODER.decode(value)
