"""Range questions over one relation: rows change, and the ranges whose answers change are named.

A subscription is `SELECT <outputs> FROM r WHERE e1 = .. AND e2 = .. AND x BETWEEN lo AND hi`; without its constants it
is a shape, which is made from channels (query/shape.py). What is kept, and what is made for a batch and forgotten:

    kept       row store (state/row_store.py)   one ordering per (e1, e2; x) (state/ordering.py)   the channels
    a batch    replay of versions          ->   layout of slots                              ->   messages a channel

    apply:  1 replay     every change gets the version it found and the version it left; identical images end here
            2 layout     every version gets its slot, in each ordering
            3 channels   min, max       one A2B-tree runs through the changes that touch it   range_extremum.py
                         distinct       the same with a constant, value by value              range_distinct.py
                         rows, values   at most three rectangles a change                     operators/range_sums.py
            4 join       the messages of all channels by cause                                operators/message_merge.py
            5 commit     rows and orderings take over the last versions

Channels that compare the same columns share an ordering and its layout; MIN and MAX of one measure are two trees.
A row with NULL in an equality column or in x meets nobody; one with NULL in y is in the ordering, not in the tree.
Texts and wide decimals that a channel orders by have ranks within a batch (state/row_store.py); messages have texts.

Source: Interface paper, 2.4 (S-CN) and 3.1. Checked against tests/oracle/naive_range_questions.py.
Cost of a batch of m changes on n rows: O(n) to open, lay out and write; per change and channel what the modules say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec
import numpy as np
from numba.core.dispatcher import Dispatcher

from catalog.query.shape import Channel, Output, Region, Shape, group_key
from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from operators import range_distinct, range_extremum, range_sums
from operators.answer import Extremum, Members, Part, Tally
from operators.batch_view import BatchView
from operators.channel_binding import ChannelBinding, ChannelError, OrderingKey
from operators.delta import Delta
from operators.message_merge import MessageMerge
from operators.operator import Answers, Messages, is_plain
from operators.state_fingerprint import Declared
from state import a2b_tree, byte_table, ordering, row_store, text_rank
from state.blob import open_blob, write_blob
from state.change_batch import ChangeBatch
from state.ordering import Ordering
from state.row_store import RowStore

MAGIC = b"TWRANGE\x00"
FORMAT = 2

_FIND: dict[str, Callable[[BatchView, ChannelBinding], Iterator[Delta]]] = {
    "min": range_extremum.find,
    "max": range_extremum.find,
    "distinct": range_distinct.find,
    "rows": range_sums.find,
    "values": range_sums.find,
}
_NOTHING: dict[str, Part] = {
    "min": Extremum(),
    "max": Extremum(),
    "distinct": Members(),
    "rows": Tally(),
    "values": Tally(),
}


class _Listening(msgspec.Struct, frozen=True):
    """The part of the state that is not columns."""

    channels: list[Channel]
    orderings: list[OrderingKey]


class RangeQuestions:
    """The operator of all range families over one relation. Implements `operators.operator.Operator`."""

    __slots__ = ("_channels", "_orderings", "_rows", "_size", "relation")

    def __init__(self, relation: Relation) -> None:
        self.relation = relation
        self._rows = RowStore(len(relation.columns), _texts(relation))
        self._orderings: dict[OrderingKey, Ordering] = {}
        self._channels: dict[Channel, ChannelBinding] = {}
        self._size = 0

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The channels listened to, in canonical order."""
        return tuple(sorted(self._channels, key=lambda channel: channel.key))

    @property
    def rows(self) -> int:
        """How many rows there are now."""
        return len(self._rows)

    @property
    def stored(self) -> RowStore:
        """The rows as they are now, to be read only."""
        return self._rows

    @property
    def orderings(self) -> int:
        """How many orderings are kept for the channels."""
        return len(self._orderings)

    @property
    def moved_partitions(self) -> int:
        """Changes, ever, of a row that came from another Kafka partition than the change before."""
        return self._rows.moved_partitions

    def listen(self, channels: Sequence[Channel]) -> None:
        """Make the orderings that `channels` need, and rank the texts that they order by.

        Cost: O(n log n) for each new ordering and each text column ranked for the first time, nothing for the rest.
        Raises ChannelError if a channel is of another relation, names a column it lacks, or sums what is no number.
        """
        fresh = [ChannelBinding.of(channel, self.relation) for channel in channels if channel not in self._channels]
        if not fresh:
            return
        self._channels |= {bound.channel: bound for bound in fresh}
        renumbered = self._rows.rank(self._ranked())
        still = self._rows.still()
        for key in self._needed():
            if key not in self._orderings or renumbered.intersection((*key[0], key[1])):
                self._orderings[key] = Ordering.of(*key, still)

    def forget(self, channels: Sequence[Channel]) -> None:
        """Drop `channels`, and the orderings that no other channel needs; those not listened to are passed over."""
        for channel in channels:
            self._channels.pop(channel, None)
        needed = self._needed()
        self._orderings = {key: order for key, order in self._orderings.items() if key in needed}
        self._rows.rank(self._ranked())

    def snapshot(self, regions: Sequence[Region]) -> Answers:
        """Return the current answers of `regions`.

        Cost: O(n) for each channel among them, 2 us for each region and channel (DISTINCT: range_distinct.py).
        Raises ChannelError for a region with a channel that is not listened to.
        """
        answers = Answers(np.zeros(len(regions), np.int64), np.zeros(len(regions), np.bool_), {})
        channels = {shape: shape.channels for shape in dict.fromkeys(region.shape for region in regions)}
        plain = {shape for shape in channels if self._is_plain(shape)}
        asked: dict[Channel, list[int]] = {}
        for i, region in enumerate(regions):
            for channel in channels[region.shape] if not region.empty else ():
                asked.setdefault(channel, []).append(i)
        view = BatchView(self.relation, self._rows, self._orderings, self._rows.still())
        parts: dict[Channel, dict[int, Part]] = {}
        for channel, which in asked.items():
            shaped = np.array([regions[i].shape in plain for i in which], np.bool_)
            parts[channel] = self._answer(view, channel, regions, which, shaped, answers)
        for i, region in enumerate(regions):
            if region.shape not in plain:
                answers.parts[i] = tuple(
                    _NOTHING[channel.kind] if region.empty else parts[channel][i] for channel in channels[region.shape]
                )
        return answers

    def apply(self, changes: ChangeBatch) -> Messages:
        """Apply `changes` one by one and return the messages they cause for the channels listened to.

        Messages of one change are adjacent; no message is about a range whose answer does not change. A change to an
        identical row causes none. Cost: see the module's header.
        """
        view = BatchView(self.relation, self._rows, self._orderings, self._rows.replay(changes))
        channels = [self._channels[channel] for channel in self.channels]
        join = MessageMerge(view, channels)
        for number, bound in enumerate(channels):
            for found in _FIND[bound.channel.kind](view, bound):
                join.add(number, found)
        messages = join.messages()
        self._rows.commit(view.replay)
        for key, order in self._orderings.items():
            order.commit(view.layout(key), view.replay)
        return messages

    def dump(self) -> bytes:
        """Return the whole state as one value: same state, same bytes. Cost: O(n)."""
        keys = sorted(self._orderings, key=repr)
        listening = msgspec.json.encode(_Listening(list(self.channels), keys))
        sections = {"listening": listening, **self._rows.sections()}
        sections |= {f"ordering/{i}": self._orderings[key].rows for i, key in enumerate(keys)}
        data = write_blob(MAGIC, FORMAT, Declared.of(self.relation).fingerprint, sections)
        self._size = len(data)
        return data

    @classmethod
    def load(cls, relation: Relation, data: bytes) -> RangeQuestions:
        """Read what `dump` wrote. Cost: O(n).

        Nullable columns appended to `relation` since are NULL in every row; a relation that was dropped and
        created again begins empty. Raises StateError, naming both declarations, if it differs otherwise.
        """
        stored, sections = open_blob(data, MAGIC, FORMAT)
        operator = cls(relation)
        if not Declared.of(relation).takes_over(stored):
            return operator
        operator._size = len(data)
        operator._rows = RowStore.from_sections(len(relation.columns), _texts(relation), sections)
        listening = msgspec.json.decode(bytes(sections["listening"]), type=_Listening)
        for i, key in enumerate(listening.orderings):
            operator._orderings[key] = Ordering(*key, np.array(sections[f"ordering/{i}"], np.int32))
        operator._channels = {channel: ChannelBinding.of(channel, relation) for channel in listening.channels}
        operator._rows.ranked = operator._ranked()
        return operator

    def check(self) -> None:
        """Assert the invariants of rows, orderings and trees, and that orderings are the needed ones. Cost: O(n)."""
        self._rows.check()
        assert set(self._orderings) == self._needed(), f"{self._orderings} for {self._channels}"
        assert self._rows.ranked == self._ranked(), f"{self._rows.ranked} ranked for {self._channels}"
        view = BatchView(self.relation, self._rows, self._orderings, self._rows.still())
        for each in self._orderings.values():
            each.check(view.replay)
        for bound in self._channels.values():
            if bound.channel.kind in ("min", "max"):
                tree, measured = range_extremum.tree_of(view, bound)
                tree.check(measured.y[view.layout(bound.order).version])

    def _needed(self) -> set[OrderingKey]:
        return {key for bound in self._channels.values() for key in bound.orderings}

    def _ranked(self) -> dict[int, bool]:
        """Return the text columns that the channels order by, and whether their texts are decimals."""
        return dict(
            sorted((column, kind) for bound in self._channels.values() for column, kind in bound.ranked.items())
        )

    def _is_plain(self, shape: Shape) -> bool:
        column = shape.outputs[0].column
        known = column is not None and any(column == each.name for each in self.relation.columns)
        return is_plain(shape, known and self.relation.column(column or "").type.coded)

    def _answer(
        self, view: BatchView, channel: Channel, regions: Sequence[Region], which: list[int], plain: np.ndarray,
        answers: Answers,
    ) -> dict[int, Part]:  # fmt: skip
        """Write one channel's answers of the regions `which` into `answers` where `plain`; return the others."""
        if channel not in self._channels:
            raise ChannelError(f"channel `{channel.key}` is not listened to; call `listen` before `snapshot`")
        bound = self._channels[channel]
        places = view.places(bound.order, [regions[i] for i in which])
        if channel.kind == "distinct":
            return dict(zip(which, range_distinct.parts(view, bound, places), strict=True))
        if channel.kind not in ("min", "max"):
            return dict(zip(which, range_sums.parts(view, bound, places), strict=True))
        new, there = range_extremum.answers(view, bound, places)
        numbers = np.array(which)
        answers.new[numbers[plain]], answers.has_new[numbers[plain]] = new[plain], there[plain]
        parts = range_extremum.parts(view, bound, new[~plain], there[~plain])
        return dict(zip(numbers[~plain].tolist(), parts, strict=True))

    @property
    def bytes(self) -> int:
        """Size of the state when it was last loaded or dumped; 0 before. (Last in the class: it hides the type.)"""
        return self._size


def warm() -> None:
    """Compile or load every kernel of the operator, and refuse further specialisations of them.

    A daemon calls it before it forks workers, so that none of them compiles; afterwards a kernel called with
    arrays of another type raises TypeError instead of compiling inside a batch. Cost: 10 s the first time on a
    machine, 0.3 s from numba's cache, which is where the caller's NUMBA_CACHE_DIR says.
    """
    text, number = ColumnType(Kind.VARCHAR), ColumnType(Kind.BIGINT)
    columns = (Column("id", number, False), Column("g", text), Column("x", number), Column("y", number))
    operator = RangeQuestions(Relation("warm", columns, ("id",), "warm"))
    outputs = [("min", "y"), ("distinct", "y"), ("avg", "y"), ("count", None)]
    shapes = [Shape("warm", (Output(*output),), ("g",), "x") for output in outputs]
    ranked = Shape("warm", (Output("max", "g"),), (), "g")
    operator.listen([channel for shape in (*shapes, ranked) for channel in shape.channels])
    for x in range(2):
        codes, valid = np.full((4, 2), x, np.int64), np.ones((4, 2), np.bool_)
        live, partition, offset = np.ones(2, np.bool_), np.zeros(2, np.int32), np.zeros(2, np.int64)
        operator.apply(ChangeBatch([b"1", b"2"], live, codes, valid, {1: ["h", f"g{x}"]}, partition, offset))
    operator.snapshot([*(Region(shape, group_key(("h",))) for shape in shapes), Region(ranked, b"[]", b"", b"\xff")])
    modules = (byte_table, text_rank, row_store, ordering, a2b_tree)
    for kernel in (kernel for module in modules for kernel in module.ENTRIES):
        if isinstance(kernel, Dispatcher):
            kernel.disable_compile()


def _texts(relation: Relation) -> tuple[int, ...]:
    return tuple(i for i, column in enumerate(relation.columns) if not column.type.coded)
