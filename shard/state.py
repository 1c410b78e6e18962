"""What a member of a group remembers between batches: its table, who listens, seq, counters, rows that were deleted
last, and how far it has heard of a database's log.

A member is a pure function of a *base*, which is an earlier one written whole, and the *delta* of each batch since:

    open(base, deltas)      begin(), a batch, delta()      base()

Where the base was written makes no difference, neither to what is sent from then on nor to a later base: what stands in
neither base nor deltas has no say. A delta is the net changes of the rows, what is listened to, and all else whole.

A stream has no rows, but a horizon (`shard/horizon.py`); a Fold has its rows for ever, and remembers from when on it
takes those of the stream, and which ones have gone (`shard/folds.py`).

A stage of a view has rows only while somebody needs them (`shard/views.py`): without, it is all but the table, base and
delta alike. The delta of the batch in which it got them has the table whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from catalog.query.channel import Channel, ImageChannel, channel_from_key
from catalog.schema.relation import Relation
from catalog.schema.view import STAGE_PREFIX
from operators.control import Silence
from operators.counters import Counters
from shard.deleted_rows import LIMIT, Graves, Image
from shard.horizon import Horizon
from shard.replayed_changes import Reached, Repeats
from shard.state_fingerprint import Declared
from shard.tables import Table
from state.blob import Section
from state.boxes import Boxes
from state.change_batch import ChangeBatch
from state.errors import StateError
from state.stored_columns import Sections

UNKNOWN_NAMES_KEPT = 20
_WRITING = "writing"
_HEAD = ("declared", "memory", "plan", "horizon", "begin", "gone", _WRITING)
_TABLE = "listening"
_WHOLE = "whole"
"""Sections: of a view that is written out; what every table has; what stands in a delta that has it whole."""


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
    """The state of one member, opened for one batch or several. `shard` is its name, as registrations and headers have
    it; that of a copy in a cell, which has no listeners, is nobody's but the state's.

    `listeners` has, by channel and virtual edge, the boxes of all that the edge wants of the channel; `needed`, by
    virtual edge, the columns of which it needs images; `seq` is the number of the last message; `bytes` is what the
    table took before the batch, 0 for a new one. `hurt` is not kept: the virtual edges of which a record could not be
    read in this batch; nor is `beside`: the bytes of other members of its group, which count for its bounds.
    `horizon` is a stream's, None where nothing was read of it yet; `heard` are the silences of a batch. `first_window`
    is when the first window begins that a Fold takes, None where it takes all; `last_gone` is when the last one begins
    that is kept no more, None where none has gone.
    `filled` says of a stage of a view whether it has its rows, and `plan` how these are made; a table has them always.
    `writing` says of a view whether its rows are written to a topic. Not kept is `to_write`: whether all rows are to be
    written in this batch, and keys that stand in the topic (`shard/written_rows.py`).
    Cost: `open` and `base` are O(bytes of the state); 2 MB is the design point; `delta` is O(changes).
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
        self.graves = self._graves_of([])
        self.repeats = Repeats()
        self.hurt: set[int] = set()
        self.beside = 0
        self.filled = bool(relation.topic)
        self.plan = b""
        self.horizon: Horizon | None = None
        self.heard: list[Silence] = []
        self.first_window: int | None = None
        self.last_gone: int | None = None
        self.writing = False
        self.to_write: tuple[bool, list[str]] = (False, [])
        self._fresh = False
        self._sized = True

    @property
    def silent(self) -> bool:
        """Whether nobody can ask it: a copy in a cell, or a stage within a view."""
        return self.relation.name.startswith(STAGE_PREFIX) or self.shard not in self.relation.shards

    @property
    def blank(self) -> bool:
        """Whether there is nothing to remember: a stage of a view without rows, of which nobody was ever told."""
        return not self.filled and (self.silent or (not self.listeners and self.counters == Counters()))

    @classmethod
    def open(
        cls, relation: Relation, shard: str, base: Mapping[str, Section], deltas: Iterable[Mapping[str, Section]] = ()
    ) -> ShardState | None:
        """Return what `base` and the `deltas` since make; None where that is of a table created again since.

        Of a silent stage of a view, which is made anew of what it reads, it may be of any other declaration.
        Raises StateError if it is that of another declaration.
        """
        state, declared = cls(relation, shard), Declared.of(relation)
        if not relation.topic and state.silent and declared.fingerprint != bytes(base["declared"]):
            return None
        if not declared.takes_over(bytes(base["declared"])):
            return None
        state._remember(base)
        state.writing = _WRITING in base
        if _TABLE in base:
            state._read(base)
        for delta in deltas:
            state._take_over(delta)
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

    def begin(self) -> None:
        """Begin a batch. Cost: O(rows) where another one went before."""
        if not self._sized:
            self._size()
        self._sized = False
        self._fresh = False
        self.hurt.clear()
        self.heard.clear()
        self.table.begin()

    def fill(self, rows: ChangeBatch, plan: bytes) -> None:
        """Give a stage of a view, which has none, the rows that it has before the batch, which has begun.

        Whoever listened when rows that are made otherwise were let go of listens on. Cost: O(rows).
        """
        self.table.listen(list(self.listeners))
        self.table.commit(self.table.replay(rows))
        self.filled, self.plan = True, plan
        self._fresh = True
        self._size()

    def empty(self) -> None:
        """Forget the rows of a stage of a view."""
        self.table = Table(self.relation)
        self.filled, self.plan, self.first_window, self.last_gone = False, b"", None, None
        self._fresh, self._sized = False, True
        self.bytes = 0

    def rewrite(self, rows: bool, keys: Iterable[str]) -> None:
        """Write all rows of a view in this batch, if `rows`, and deletions of `keys` that no row has."""
        self.writing = True
        self.to_write = (self.to_write[0] or rows, [*self.to_write[1], *keys])

    def delta(self) -> Sections:
        """Return what the batch has done, as named sections."""
        if not self.filled:
            return self._head()
        if self._fresh:
            return {**self._head(), _WHOLE: b"", **self.table.sections()}
        return {**self._head(), **self.table.delta()}

    def base(self) -> Sections:
        """Return the whole state as named sections, the same for the same history."""
        return {**self._head(), **self.table.sections()} if self.filled else self._head()

    def _take_over(self, delta: Mapping[str, Section]) -> None:
        """Do what a batch did. Raises StateError if that was of another declaration of the table than the base."""
        if not Declared.of(self.relation).takes_over(bytes(delta["declared"])):
            raise StateError(
                f"the stored state of `{self.shard}` is damaged: what a batch changed is of a table that was dropped "
                "since; start a new epoch on a fresh checkpoint"
            )
        self._remember(delta)
        self.writing = _WRITING in delta
        if _TABLE not in delta:
            self.empty()
        elif _WHOLE in delta:
            self._read(delta)
        else:
            self.table.take_over(delta)
            self._sized = False

    def _read(self, sections: Mapping[str, Section]) -> None:
        """Take over a whole table."""
        self.table = Table.from_sections(self.relation, sections)
        self.filled, self.plan = True, bytes(sections.get("plan", b""))
        self.bytes = sum(section.nbytes for name, section in sections.items() if name not in _HEAD)
        self._sized = self.table.has_all_columns(sections)

    def _size(self) -> None:
        """Say how many bytes the table takes as it is. Cost: O(rows)."""
        parts = self.table.sections().values() if self.filled else ()
        self.bytes = sum(len(part) if isinstance(part, bytes) else part.nbytes for part in parts)

    def _head(self) -> Sections:
        listeners = {
            key: {ve: boxes.dump() for ve, boxes in sorted(edges.items())}
            for key, edges in sorted((channel.key, edges) for channel, edges in self.listeners.items())
        }
        memory = _Memory(
            self.seq, self.highest_partition, listeners, self.counters, self.graves.stored(), self.repeats.stored(),
            {ve: sorted(names) for ve, names in sorted(self.needed.items())},
        )  # fmt: skip
        head: Sections = {"declared": Declared.of(self.relation).fingerprint, "memory": msgspec.msgpack.encode(memory)}
        head |= {"plan": self.plan} if self.plan else {}
        if self.horizon is not None:
            head["horizon"] = msgspec.msgpack.encode(self.horizon)
        if self.first_window is not None:
            head["begin"] = msgspec.msgpack.encode(self.first_window)
        if self.last_gone is not None:
            head["gone"] = msgspec.msgpack.encode(self.last_gone)
        return {**head, _WRITING: b""} if self.writing else head

    def _graves_of(self, stored: Iterable[tuple[bytes, Image]]) -> Graves:
        """Return the deleted rows; a copy of a table that is kept in buckets has those of all, and room for them."""
        return Graves(stored, LIMIT if self.shard in self.relation.shards else LIMIT * self.relation.buckets)

    def _remember(self, head: Mapping[str, Section]) -> None:
        memory = msgspec.msgpack.decode(bytes(head["memory"]), type=_Memory)
        self.seq = memory.seq
        self.highest_partition = memory.highest_partition
        self.listeners = {
            channel_from_key(key): {ve: Boxes.load(data) for ve, data in edges.items()}
            for key, edges in memory.listeners.items()
        }
        self.counters = memory.counters
        self.graves = self._graves_of(memory.graves)
        self.repeats = Repeats(memory.repeats)
        self.needed = {ve: set(names) for ve, names in memory.needed.items()}
        if "horizon" in head:
            self.horizon = msgspec.msgpack.decode(bytes(head["horizon"]), type=Horizon)
        if "begin" in head:
            self.first_window = msgspec.msgpack.decode(bytes(head["begin"]), type=int)
        if "gone" in head:
            self.last_gone = msgspec.msgpack.decode(bytes(head["gone"]), type=int)
