"""What a member of a group remembers between batches: its table, who listens, seq, counters, rows that were deleted
last, and how far it has heard of a database's log.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy.typing as npt

from catalog.query.channel import Channel, ImageChannel, channel_from_key
from catalog.schema.relation import Relation
from operators.counters import Counters
from shard.deleted_rows import Graves, Image
from shard.replayed_changes import Reached, Repeats
from shard.state_fingerprint import Declared
from shard.tables import Table
from state.blob import Section
from state.boxes import Boxes

UNKNOWN_NAMES_KEPT = 20
_HEAD = ("declared", "memory")


class _Memory(msgspec.Struct):
    """What a member keeps beside its table."""

    seq: int
    highest_partition: int
    listeners: dict[str, dict[int, bytes]]
    counters: Counters
    graves: list[tuple[bytes, Image]] = []
    repeats: list[Reached] = []
    needed: dict[int, list[str]] = {}


class ShardState:
    """The state of one member, opened for one batch. `shard` is its name, as registrations and headers have it.

    `listeners` has, by channel and virtual edge, the boxes of all that the edge wants of the channel; `needed`, by
    virtual edge, the columns of which it needs images; `seq` is the number of the last message; `bytes` is what the
    table took when it was opened, 0 for a new one. `hurt` is not kept: the virtual edges of which a record could not be
    read in this batch.
    Cost: `from_sections` and `sections` are O(bytes of the state); 2 MB is the design point.
    """

    def __init__(self, relation: Relation, shard: str) -> None:
        self.relation = relation
        self.shard = shard
        self.table = Table(relation)
        self.bytes = 0
        self.seq = -1
        self.highest_partition = 0
        self.listeners: dict[Channel, dict[int, Boxes]] = {}
        self.needed: dict[int, set[str]] = {}
        self.counters = Counters()
        self.graves = Graves()
        self.repeats = Repeats()
        self.hurt: set[int] = set()

    @classmethod
    def from_sections(cls, relation: Relation, shard: str, sections: Mapping[str, Section]) -> ShardState | None:
        """Read what `sections` wrote; None where that was of a table that was dropped and created again since.

        Raises StateError if it is that of another declaration.
        """
        if not Declared.of(relation).takes_over(bytes(sections["declared"])):
            return None
        state = cls(relation, shard)
        state.table = Table.from_sections(relation, sections)
        state.bytes = sum(section.nbytes for name, section in sections.items() if name not in _HEAD)
        memory = msgspec.msgpack.decode(bytes(sections["memory"]), type=_Memory)
        state.seq = memory.seq
        state.highest_partition = memory.highest_partition
        state.listeners = {
            channel_from_key(key): {ve: Boxes.load(data) for ve, data in edges.items()}
            for key, edges in memory.listeners.items()
        }
        state.counters = memory.counters
        state.graves = Graves(memory.graves)
        state.repeats = Repeats(memory.repeats)
        state.needed = {ve: set(names) for ve, names in memory.needed.items()}
        return state

    @property
    def images(self) -> ImageChannel | None:
        """The channel of the images of its rows, None where nobody listens to it."""
        channel = ImageChannel(self.relation.name)
        return channel if channel in self.listeners else None

    @property
    def needed_columns(self) -> list[str]:
        """The columns of rows that some virtual edge needs, in DDL order."""
        needed = set().union(*self.needed.values())
        return [column.name for column in self.relation.columns if column.name in needed]

    def sections(self) -> dict[str, bytes | npt.NDArray[Any]]:
        """Return the whole state as named sections, the same for the same history."""
        listeners = {
            key: {ve: boxes.dump() for ve, boxes in sorted(edges.items())}
            for key, edges in sorted((channel.key, edges) for channel, edges in self.listeners.items())
        }
        memory = _Memory(
            self.seq, self.highest_partition, listeners, self.counters, self.graves.stored(), self.repeats.stored(),
            {ve: sorted(names) for ve, names in sorted(self.needed.items())},
        )  # fmt: skip
        head = {"declared": Declared.of(self.relation).fingerprint, "memory": msgspec.msgpack.encode(memory)}
        return {**head, **self.table.sections()}
