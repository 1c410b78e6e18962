"""An engine's checkpoint: Spark's own logs, read only, and beside them what the engine must remember.

    offsets/<batch>       planned: where the batch ends in every partition       (Spark writes it)
    commits/<batch>       committed: state and sink are done                     (Spark writes it)
    tidewire/engine.json  claim, epoch, catalog versions by batch, topic ids     (this module, as a whole)
    tidewire/cells/...    with what a cell begins, by the catalog version that created it        (this module)

Spark keeps the last 100 batches of its logs.
"""

from __future__ import annotations

import hashlib

import msgspec

from operators.control import Offsets
from state.errors import StateError, UserError
from streaming.checkpoint.files import Files

SIDECAR = "tidewire/engine.json"
FORMAT = 1


class CheckpointError(UserError):
    """A checkpoint does not fit: it is behind `batches`, not ours, or damaged."""

    code = "checkpoint"


class CatalogFrom(msgspec.Struct, frozen=True):
    """Catalog `version` holds from batch `first` until the next entry."""

    first: int
    version: int


class SeveralFrom(msgspec.Struct, frozen=True):
    """From batch `first` until the next entry, `topics` are those with several partitions.

    `counts` has how many partitions the topics of streams have.
    """

    first: int
    topics: list[str]
    counts: dict[str, int] = {}


class CellSeed(msgspec.Struct):
    """The seed of a cell that was created by catalog version `born`, which may have no state of its own yet.

    `touch` is the offset, in partition 0 of `registrations`, of the record that makes sure of that; None: not written.
    """

    born: int
    touch: int | None = None


class WrittenView(msgspec.Struct, frozen=True):
    """The shards of a view, created by catalog version `born`, were told to write to the topic that has this id."""

    born: int
    topic: str


class Sidecar(msgspec.Struct, kw_only=True):
    """What the engine remembers beside Spark's logs.

    claim       random id, the key of our claim record
    epoch       the claim record's offset; -1 until it is known
    begun       `epoch begins` stands in every notifications partition
    catch_up    end offsets when the epoch began; `register` is written once batches are past them
    registered  `register` stands in every notifications partition
    announced   newest catalog version that may be announced
    catalogs    which version holds from which batch, ascending
    several     which topics have several partitions from which batch, and those of streams how many, ascending
    topic_ids   the id of each topic when it was first seen
    resets      topics of tables that were dropped and created again: to be read from their beginning
    seeds       groups that begin with a state made from the log, and the topic of each member (rebuild.py); of a group
                that is a single member of its name, the topic alone
    begin       where the first batch goes on in the topics of these
    silences    where the topic `silences` ended when the epoch began
    cells       cells that begin with a state made from those of their tables (streaming/engine/cell_births.py)
    written     views that are written to topics of their own in this epoch (streaming/engine/view_topics.py)
    """

    claim: str
    format: int = FORMAT
    epoch: int = -1
    begun: bool = False
    catch_up: Offsets | None = None
    registered: bool = False
    announced: int = -1
    catalogs: list[CatalogFrom] = []
    several: list[SeveralFrom] = []
    topic_ids: dict[str, str] = {}
    resets: list[str] = []
    seeds: dict[str, str | dict[str, str]] = {}
    begin: Offsets = {}
    cells: dict[str, CellSeed] = {}
    silences: int = 0
    written: dict[str, WrittenView] = {}


class Checkpoint:
    """A checkpoint's logs and sidecar. Batch numbers begin at 0; -1 means none."""

    def __init__(self, files: Files, uri: str) -> None:
        self._files = files
        self.uri = uri
        self.begin: Offsets = {}
        """Where the first batch began, of topics that were not read from their beginning."""

    def load(self) -> Sidecar | None:
        """Return the sidecar, or None if there is none.

        Raises StateError if it was written by something else or another version.
        """
        data = self._files.read(SIDECAR)
        if data is None:
            return None
        try:
            sidecar = msgspec.json.decode(data, type=Sidecar)
        except msgspec.DecodeError as error:
            raise StateError(f"`{self.uri}/{SIDECAR}` cannot be read: {error}. Start with a new checkpoint.") from error
        if sidecar.format != FORMAT:
            raise StateError(
                f"`{self.uri}/{SIDECAR}` has format {sidecar.format}, this tidewire writes format {FORMAT}. "
                "Use the tidewire that wrote it, or start with a new checkpoint."
            )
        return sidecar

    def store(self, sidecar: Sidecar) -> None:
        """Replace the sidecar as a whole."""
        self._files.write(SIDECAR, msgspec.json.encode(sidecar))

    def store_seed(self, cell: str, born: int, seed: bytes) -> None:
        """Keep with what a cell begins that catalog version `born` created."""
        self._files.write(_seed_path(cell, born), seed)

    def seed(self, cell: str, born: int) -> bytes:
        """Return what `store_seed` kept; nothing, where it is not needed any more."""
        return self._files.read(_seed_path(cell, born)) or b""

    def last_planned(self) -> int:
        """Return the highest batch in the offset log. *Cost*: one listing."""
        return max(self._batches("offsets"), default=-1)

    def last_committed(self) -> int:
        """Return the highest batch in the commit log. *Cost*: one listing."""
        return max(self._batches("commits"), default=-1)

    def first_committed(self) -> int:
        """Return the lowest batch that is still in the commit log."""
        return min(self._batches("commits"), default=-1)

    def is_committed(self, batch: int) -> bool:
        """Whether the batch stands in the commit log. *Cost*: one look-up."""
        return self._files.exists(f"commits/{batch}")

    def end_offsets(self, batch: int) -> Offsets:
        """Return where a planned batch ends: topic -> partition -> offset.

        Raises CheckpointError if the log does not hold it any more, or is not one of ours.
        """
        data = self._files.read(f"offsets/{batch}")
        if data is None:
            raise CheckpointError(
                f"batch {batch} is not in the offset log of `{self.uri}` (Spark keeps the last 100). "
                "The checkpoint is incomplete; start with a new one."
            )
        try:
            _version, _metadata, source = data.decode().strip().split("\n")
            return msgspec.json.decode(source, type=Offsets)
        except (ValueError, msgspec.DecodeError) as error:
            raise CheckpointError(
                f"the offset log of `{self.uri}` has an unexpected form in batch {batch}: {error}. "
                "It is not the checkpoint of a `match` query; use another folder."
            ) from error

    def ranges(self, batch: int) -> tuple[Offsets, Offsets]:
        """Return the half-open offset range of every partition that `batch` read; a new partition begins at 0."""
        end = self.end_offsets(batch)
        before = self.end_offsets(batch - 1) if batch > 0 else self.begin
        start = {
            topic: {partition: before.get(topic, {}).get(partition, 0) for partition in partitions}
            for topic, partitions in end.items()
        }
        return start, end

    def _batches(self, log: str) -> list[int]:
        return [int(name) for name in self._files.names(log) if name.isascii() and name.isdigit()]


def _seed_path(cell: str, born: int) -> str:
    """Return where a cell's seed is; the name of a cell of many tables would be too long for a file's."""
    return f"tidewire/cells/{born}-{hashlib.sha256(cell.encode()).hexdigest()[:16]}"
