"""What a shard remembers between batches: its operator, who listens, seq, counters, rows that were deleted last,
and how far it has heard of a database's log.
"""

from __future__ import annotations

import msgspec

from catalog.query.shape import Channel
from catalog.schema.relation import Relation
from operators.counters import Counters
from operators.range_questions import RangeQuestions
from shard.deleted_rows import Graves, Image
from shard.replayed_changes import Reached, Repeats
from state.blob import read_blob, write_blob
from state.boxes import Boxes

_MAGIC = b"tw-shard"
_VERSION = 2
UNKNOWN_NAMES_KEPT = 20


class _Memory(msgspec.Struct):
    """What the shard keeps beside its operator. `born` is for readers of before, who decided by it."""

    born: int
    seq: int
    highest_partition: int
    listeners: dict[str, dict[int, bytes]]
    counters: Counters
    graves: list[tuple[bytes, Image]] = []
    repeats: list[Reached] = []


class ShardState:
    """The state of one shard, opened for one batch.

    `listeners` has, by channel and virtual edge, the boxes of all that the edge wants of the channel; `seq` is the
    number of the last message. `hurt` is not kept: the virtual edges of which a record could not be read in this batch.
    Cost: `open` and `dump` are O(bytes of the state); 2 MB is the design point.
    """

    def __init__(self, relation: Relation, shard: str) -> None:
        self.relation = relation
        self.shard = shard
        self.operator = RangeQuestions(relation)
        self.seq = -1
        self.highest_partition = 0
        self.listeners: dict[Channel, dict[int, Boxes]] = {}
        self.counters = Counters()
        self.graves = Graves()
        self.repeats = Repeats()
        self.hurt: set[int] = set()

    @classmethod
    def open(cls, relation: Relation, shard: str, data: bytes | None) -> ShardState:
        """Read what `dump` wrote, or begin empty, as with a relation that was dropped and created again.

        Raises StateError if `data` is not this shard's state, or that of another declaration.
        """
        state = cls(relation, shard)
        if not data:
            return state
        sections = read_blob(data, _MAGIC, _VERSION, shard)
        memory = msgspec.msgpack.decode(bytes(sections["memory"]), type=_Memory)
        operator = RangeQuestions.load(relation, bytes(sections["operator"]))
        if not operator.bytes:  # it took nothing over (operators/state_fingerprint.py), so neither does the rest
            return state
        state.operator = operator
        state.seq = memory.seq
        state.highest_partition = memory.highest_partition
        state.listeners = {
            Channel.from_key(key): {ve: Boxes.load(data) for ve, data in edges.items()}
            for key, edges in memory.listeners.items()
        }
        state.counters = memory.counters
        state.graves = Graves(memory.graves)
        state.repeats = Repeats(memory.repeats)
        return state

    def dump(self) -> bytes:
        """Return the whole state as bytes, the same for the same history."""
        listeners = {
            key: {ve: boxes.dump() for ve, boxes in sorted(edges.items())}
            for key, edges in sorted((channel.key, edges) for channel, edges in self.listeners.items())
        }
        memory = _Memory(
            self.relation.born, self.seq, self.highest_partition, listeners, self.counters, self.graves.stored(),
            self.repeats.stored(),
        )  # fmt: skip
        sections = {"memory": msgspec.msgpack.encode(memory), "operator": self.operator.dump()}
        return write_blob(_MAGIC, _VERSION, self.shard, sections)
