"""A table as its shard holds it: rows, one ordering for each (e1, e2; x) that is asked about, and who listens to what.

    kept       row store (state/row_store.py)   orderings (state/ordering.py)   the channels, bound to columns
                                                rank orders (state/rank_order.py)
    a batch    replay of versions          ->   layouts of slots           ->   a view (operators/batch_view.py)

    apply:  1 replay     every change gets the version it found and the version it left; identical images end here
            2 operators  read the view, and say what changes for the channels (operators/range_questions.py)
            3 commit     rows and orderings take over the last versions

Channels that compare the same columns share an ordering and its layout; an operator keeps nothing.
A table is a pure function of a base, which is an earlier table written whole, and of the delta of each batch since:
numbers of texts and the order of equal rows follow from these as the rows do, so the same comes next.
Cost of a batch of m changes on n rows: O(n) to open, lay out and write, and what the operators say.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec
import numpy as np
from numba.core.dispatcher import Dispatcher

from catalog.query.best_shape import BestShape
from catalog.query.channel import Channel, Order
from catalog.query.shape import Output, Region, Shape, group_key, with_tags
from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from operators import range_best, range_extremum, range_questions, row_images
from operators.batch_view import BatchView
from operators.channel_binding import ChannelBinding, KeptOrder, OrderingKey, orderings_of, ranks_of
from operators.channel_kinds import bind
from operators.operator import Answers, Outcome
from operators.reply import Rows
from operators.views import warming
from state import (
    a2b_tree,
    best_tree,
    byte_table,
    key_runs,
    ordering,
    rank_order,
    row_store,
    text_rank,
    version_pairs,
)
from state.blob import Section
from state.change_batch import ChangeBatch
from state.ordering import Ordering
from state.rank_order import RankKey, RankOrder
from state.row_delta import RowDelta
from state.row_store import Net, Replay, RowStore
from state.stored_columns import Sections

_ORDER = "order/{}"
"""The section of an ordering. Those that are named otherwise had equal rows in the order in which they came."""

_RANKS = "ranks/{}"


class _Listening(msgspec.Struct, frozen=True, omit_defaults=True):
    """The part of a table that is not columns."""

    channels: list[Channel]
    orderings: list[OrderingKey]
    ranks: list[RankKey] = []


class Table:
    """Rows and orderings of one relation, or of one bucket of it, with the channels listened to."""

    __slots__ = (
        "_besides", "_bindings", "_net", "_orderings", "_ranks", "_ranks_besides", "_rows", "_sorted", "relation"
    )  # fmt: skip

    def __init__(self, relation: Relation) -> None:
        self.relation = relation
        self._rows = RowStore(len(relation.columns), _texts(relation))
        self._orderings: dict[OrderingKey, Ordering] = {}
        self._ranks: dict[RankKey, RankOrder] = {}
        self._bindings: dict[Channel, ChannelBinding] = {}
        self._besides: set[OrderingKey] = set()
        self._ranks_besides: set[RankKey] = set()
        self._net: Net | None = None
        self.begin()

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The channels listened to, in canonical order."""
        return tuple(self._bindings)

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
        """How many orderings are kept for the channels, be it by a range or by an ORDER BY."""
        return len(self._orderings) + len(self._ranks)

    @property
    def besides(self) -> set[KeptOrder]:
        """The orderings and rank orders that are kept for others than channels."""
        return {*self._besides, *self._ranks_besides}

    @property
    def moved_partitions(self) -> int:
        """Changes, ever, of a row that came from another Kafka partition than the change before."""
        return self._rows.moved_partitions

    def listen(self, channels: Sequence[Channel]) -> None:
        """Make the orderings that `channels` need, and rank the texts that they order by.

        Cost: O(n log n) for each new ordering and each text column ranked for the first time, nothing for the rest.
        Raises ChannelError if a channel is of another relation, names a column it lacks, or sums what is no number.
        """
        fresh = [bind(channel, self.relation) for channel in channels if channel not in self._bindings]
        if not fresh:
            return
        bindings = self._bindings | {bound.channel: bound for bound in fresh}
        self._bindings = dict(sorted(bindings.items(), key=lambda pair: pair[0].key))
        self._arrange(self._ranked())

    def forget(self, channels: Sequence[Channel]) -> None:
        """Drop `channels`, and the orderings that no other channel needs; those not listened to are passed over."""
        for channel in channels:
            self._bindings.pop(channel, None)
        self._drop_unneeded()

    def order_by(self, keys: Collection[KeptOrder]) -> None:
        """Keep just these orderings and rank orders besides those of the channels. Cost: O(n log n) for each new one.

        Texts of a rank order's columns are ranked. All are written with the rest; orderings are dropped unless they are
        asked for again once it is read, rank orders stay until another call says otherwise, since numbers of texts
        follow from what is ranked.
        """
        besides = {*orderings_of(keys)}, {*ranks_of(keys)}
        if besides == (self._besides, self._ranks_besides):
            return
        self._besides, self._ranks_besides = besides
        self._arrange(self._ranked())
        self._drop_unneeded()

    def snapshot(self, regions: Sequence[Region]) -> Answers:
        """Return the current answers of `regions` (operators/range_questions.py)."""
        return range_questions.snapshot(self.still(), self._bindings, regions)

    def first(self, regions: Sequence[Region]) -> list[Rows]:
        """Return the first rows of `regions`, all of one shape, which a row can meet (operators/range_best.py)."""
        return range_best.first(self.still(), self._bindings, regions)

    def apply(self, changes: ChangeBatch, needed: Sequence[str] = (), viewed: bool = False) -> Outcome:
        """Apply `changes` one by one and return what they cause for the channels listened to.

        needed: the columns of rows that somebody must know.  viewed: whether images are told.
        """
        view = self.replay(changes)
        outcome = self.outcome(view, needed, viewed)
        self.commit(view)
        return outcome

    def outcome(self, view: BatchView, needed: Sequence[str] = (), viewed: bool = False) -> Outcome:
        """Return what `apply` does, of what `replay` made of the changes; it is to be committed then."""
        outcome = Outcome(range_questions.messages(view, self._bindings))
        if viewed:
            outcome.images = row_images.find(view, needed)
        outcome.best = range_best.find(view, self._bindings, needed)
        return outcome

    def still(self) -> BatchView:
        """Return the view of no changes. Cost: O(n)."""
        return self._view(self._rows.still())

    def replay(self, changes: ChangeBatch) -> BatchView:
        """Return the view of `changes`, which `commit` makes so, and must. Cost: O(n + m)."""
        return self._view(self._rows.replay(changes))

    def pass_by(self, changes: ChangeBatch) -> BatchView:
        """Return the view of rows that come and are not kept, each with another key; the table is of no use then.

        Cost: O(m).
        """
        return self._view(self._rows.pass_by(changes))

    def commit(self, view: BatchView) -> None:
        """Take over what `replay` made of a batch, which must not be looked at any more. Cost: O(n)."""
        self._net = self._rows.commit(view.replay)
        for key, order in self._orderings.items():
            if key in view.layouts:
                order.commit(view.layouts[key], view.replay)
            else:
                order.follow(view.replay)
        for rank, kept in self._ranks.items():
            kept.commit(view.ranks(rank), view.replay)

    def begin(self) -> None:
        """Begin a batch: `delta` says what happens from now on, any number of `listen` and then at most one `apply`."""
        self._net = None
        self._sorted: set[int] = set()

    def delta(self) -> Sections:
        """Return what has happened since `begin`, as named sections. Cost: O(changes)."""
        rows = self._rows.delta(self._net or Net.nothing())
        listening = msgspec.json.encode(_Listening(list(self.channels), [], sorted(self._ranks_besides)))
        return {"listening": listening, "sorted": np.array(sorted(self._sorted), np.int32), **rows.sections()}

    def take_over(self, delta: Mapping[str, Section]) -> None:
        """Do what `delta` says, as the table did that returned it. Cost: as `listen` and `apply`."""
        self._bindings = _bindings(self.relation, delta)
        self._ranks_besides = {*_listening(delta).ranks}
        texts = _texts(self.relation)
        decimals = {i: self.relation.columns[i].type.kind is Kind.DECIMAL for i in np.asarray(delta["sorted"]).tolist()}
        self._arrange(decimals | self._ranked())
        self._drop_unneeded()
        rows = RowDelta.from_sections(len(self.relation.columns), texts, delta)
        if len(rows) or rows.moved != self.moved_partitions:
            self.commit(self._view(self._rows.replay_delta(rows)))

    def sections(self) -> Sections:
        """Return all of it as named sections of a state: same table, same bytes. Cost: O(n)."""
        keys, ranks = sorted(self._orderings, key=repr), sorted(self._ranks)
        listening = msgspec.json.encode(_Listening(list(self.channels), keys, ranks))
        sections = {"listening": listening, **self._rows.sections()}
        sections |= {_ORDER.format(i): self._orderings[key].rows for i, key in enumerate(keys)}
        return sections | {_RANKS.format(i): self._ranks[key].rows for i, key in enumerate(ranks)}

    @classmethod
    def from_sections(cls, relation: Relation, sections: Mapping[str, Section]) -> Table:
        """Read what `sections` wrote; nullable columns appended to `relation` since are NULL in every row.

        Cost: O(n).
        """
        table = cls(relation)
        table._rows = RowStore.from_sections(len(relation.columns), _texts(relation), sections)
        table._bindings = _bindings(relation, sections)
        table._ranks_besides = {*_listening(sections).ranks} - table._needed_ranks()
        table._rows.ranked = table._ranked()
        for i, key in enumerate(_listening(sections).orderings):
            if _ORDER.format(i) in sections:
                table._orderings[key] = Ordering(*key, np.array(sections[_ORDER.format(i)], np.int32))
            else:
                table._orderings[key] = Ordering.of(*key, table._rows.still())
        for i, rank in enumerate(_listening(sections).ranks):
            table._ranks[rank] = RankOrder(rank, np.array(sections[_RANKS.format(i)], np.int32))
        table._besides = table._orderings.keys() - table._needed()
        return table

    def has_all_columns(self, sections: Mapping[str, Section]) -> bool:
        """Whether `sections` are of a declaration with all columns of today."""
        return f"code/{len(self.relation.columns) - 1}" in sections

    def check(self) -> None:
        """Assert the invariants of rows, orderings and trees, and that orderings are the needed ones. Cost: O(n)."""
        self._rows.check()
        assert set(self._orderings) == self._needed(), f"{self._orderings} for {self._bindings}"
        assert set(self._ranks) == self._needed_ranks(), f"{self._ranks} for {self._bindings}"
        assert self._rows.ranked == self._ranked(), f"{self._rows.ranked} ranked for {self._bindings}"
        assert list(self._bindings) == sorted(self._bindings, key=lambda channel: channel.key), f"{self._bindings}"
        view = self.still()
        for each in self._orderings.values():
            each.check(view.replay)
        for ranks in self._ranks.values():
            ranks.check(view.replay)
        for bound in self._bindings.values():
            if bound.channel.kind in ("min", "max"):
                tree, measured = range_extremum.tree_of(view, bound)
                tree.check(measured.y[view.layout(bound.order).version])
            elif bound.rank:
                best, leaves = range_best.tree_of(view, bound)
                best.check(leaves)

    def _arrange(self, ranked: Mapping[int, bool]) -> None:
        """Rank exactly the text columns `ranked`, and make the orderings that are not there or not right any more."""
        renumbered = self._rows.rank(ranked)
        self._sorted |= renumbered
        still = self._rows.still()
        for key in self._needed():
            if key not in self._orderings or renumbered.intersection((*key[0], key[1])):
                self._orderings[key] = Ordering.of(*key, still)
        for rank in self._needed_ranks():
            if rank not in self._ranks or renumbered.intersection(column for column, _, _ in rank):
                self._ranks[rank] = RankOrder.of(rank, still)

    def _drop_unneeded(self) -> None:
        needed = self._needed()
        self._orderings = {key: order for key, order in self._orderings.items() if key in needed}
        ranks = self._needed_ranks()
        self._ranks = {key: order for key, order in self._ranks.items() if key in ranks}
        self._rows.rank(self._ranked())

    def _view(self, replay: Replay) -> BatchView:
        return BatchView(self.relation, self._rows, self._orderings, replay, self._ranks)

    def _needed(self) -> set[OrderingKey]:
        return self._besides.union(key for bound in self._bindings.values() for key in bound.orderings)

    def _needed_ranks(self) -> set[RankKey]:
        return self._ranks_besides.union(bound.rank for bound in self._bindings.values() if bound.rank)

    def _ranked(self) -> dict[int, bool]:
        """Return the text columns that something orders by, and whether their texts are decimals."""
        ranked = {column: kind for bound in self._bindings.values() for column, kind in bound.ranked.items()}
        for column in {column for rank in self._ranks_besides for column, _, _ in rank}:
            type_ = self.relation.columns[column].type
            if not type_.coded:
                ranked[column] = type_.kind is Kind.DECIMAL
        return dict(sorted(ranked.items()))


def warm() -> None:
    """Compile or load every kernel of tables and operators, and refuse further specialisations of them.

    A daemon calls it before it forks workers, so that none of them compiles; afterwards a kernel called with
    arrays of another type raises TypeError instead of compiling inside a batch. Cost: 10 s the first time on a
    machine, 0.3 s from numba's cache, which is where the caller's NUMBA_CACHE_DIR says.
    """
    text, number = ColumnType(Kind.VARCHAR), ColumnType(Kind.BIGINT)
    columns = (Column("id", number, False), Column("g", text), Column("x", number), Column("y", number))
    table = Table(Relation("warm", columns, ("id",), "warm"))
    outputs = [("min", "y"), ("distinct", "y"), ("avg", "y"), ("count", None)]
    shapes = [Shape("warm", (Output(*output),), ("g",), "x") for output in outputs]
    ranked = Shape("warm", (Output("max", "g"),), (), "g")
    best = BestShape("warm", ("y",), ("g",), "x", (Order("y", True, True), Order("id", False, False)), 2, ())
    table.listen([channel for shape in (*shapes, ranked) for channel in shape.channels])
    table.listen(best.channels)
    table.order_by([((2,), None)])
    for x in range(2):
        codes, valid = np.full((4, 2), x, np.int64), np.ones((4, 2), np.bool_)
        live, partition, offset = np.ones(2, np.bool_), np.zeros(2, np.int32), np.zeros(2, np.int64)
        table.apply(
            ChangeBatch([b"1", b"2"], live, codes, valid, {1: ["h", f"g{x}"]}, partition, offset), ["y", "g"], True
        )
    table.first([Region(best, group_key(("h",)))])
    table.snapshot([*(Region(shape, group_key(("h",))) for shape in shapes), Region(ranked, b"[]", b"", b"\xff")])
    key_runs.key_runs(table.stored.still().codes, (0,), np.zeros(1, np.int32), np.zeros((1, 1), np.int64))
    warming.warm()
    modules = (byte_table, text_rank, row_store, ordering, key_runs, a2b_tree, rank_order, best_tree, version_pairs)
    for kernel in (kernel for module in (*modules, *warming.KERNELS) for kernel in module.ENTRIES):
        if isinstance(kernel, Dispatcher):
            kernel.disable_compile()


def _listening(sections: Mapping[str, Section]) -> _Listening:
    return msgspec.convert(with_tags(msgspec.json.decode(bytes(sections["listening"]))), _Listening)


def _bindings(relation: Relation, sections: Mapping[str, Section]) -> dict[Channel, ChannelBinding]:
    channels = sorted(_listening(sections).channels, key=lambda channel: channel.key)
    return {channel: bind(channel, relation) for channel in channels}


def _texts(relation: Relation) -> tuple[int, ...]:
    return tuple(i for i, column in enumerate(relation.columns) if not column.type.coded)
