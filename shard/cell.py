"""What a cell remembers between batches: a copy of each of its tables, and what virtual edges want of their joins.

    head                                    birth of the cell, seq, counters, what is wanted, and what edges have
    cell/filing+quote/0/filing   a copy     all that the table's own shards remember of it, but for who listens
    cell/filing+quote/0/quote    a copy     (shard/state.py): rows, deleted rows, repeats, partitions

They are members of the group that has the cell's name (`shard/group.py`), as are the stages of the views that are
computed of them, be it that questions join a view that is asked elsewhere. A cell that was dropped and made again is
another one: its tables have changed meanwhile and nobody told it. So a state of another birth counts for nothing, and
the cell begins with its seed (`cell_seed.py`), which was made of the tables' own states.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from types import MappingProxyType

import msgspec

from catalog.schema.catalog import Catalog
from catalog.schema.cell import Cell
from catalog.schema.join import join_of_name
from catalog.schema.placed_stage import PlacedStage, member_in, stages_in
from catalog.schema.relation import Relation
from operators.channel_binding import KeptOrder
from operators.counters import Counters
from operators.join_interest import JoinInterests
from operators.row_window import RowWindow, WindowBounds
from shard.group import Group, StoredGroup
from shard.state import ShardState

_NONE_WANTED: Mapping[str, Set[KeptOrder]] = MappingProxyType({})


class _Head(msgspec.Struct, omit_defaults=True):
    """What a cell keeps beside its copies."""

    born: int
    seq: int
    counters: Counters
    interests: bytes
    window: bytes = b""


class CellState:
    """The state of a cell, opened for one batch or several.

    `copies` are by table, in the order of `cell.tables`; `views` by name, those that questions join; `interests` what
    each virtual edge wants of each join; `window` which rows it has of those that were sent; `seq` is the number of the
    last change that was told. `hurt` is not kept: the virtual edges of which a record could not be read in this batch.
    Cost: `open` and `dump` are O(bytes of the state).
    """

    def __init__(self, cell: Cell, copies: Mapping[str, ShardState], group: Group | None = None) -> None:
        self.cell = cell
        self.copies = {table: copies[table] for table in cell.tables}
        self.group = group or Group(cell.name, self.copies.values())
        self.views: dict[str, ShardState] = {}
        self.interests = JoinInterests()
        self.window = RowWindow()
        self.seq = -1
        self.counters = Counters()
        self.hurt: set[int] = set()

    @classmethod
    def open(
        cls,
        cell: Cell,
        relations: Mapping[str, Relation],
        data: bytes | None,
        seed: bytes | None = None,
        stages: Sequence[PlacedStage] | None = (),
    ) -> CellState:
        """Return the cell that `data` says, which `dump` wrote; or `seed`; of the two, what is of its birth first.

        `relations` has its tables. Where there are `stages` of views, or None for those that `place` is to say,
        `arrange` is to be called with what they want.
        Raises StateError if the bytes are of another group, or of another declaration.
        """
        stored = _of_birth(cell, data)
        if stored.head is None:
            stored = _of_birth(cell, seed)
        tables = {cell.member(table): relations[table] for table in cell.tables}
        tables |= {stage.member: stage.relation for stage in stages or ()}
        group = Group.of(cell.name, tables, stored, StoredGroup())
        state = cls(cell, {table: group[cell.member(table)] for table in cell.tables}, group)
        if stored.head is not None:
            state._remember(msgspec.msgpack.decode(bytes(stored.head), type=_Head))
        if stages is not None and not stages:
            state.arrange()
        return state

    def place(self, catalog: Catalog, asked: Iterable[str]) -> tuple[PlacedStage, ...]:
        """Let the cell have its own views, and those in joins that are followed or `asked`; return all their stages.

        What was wanted of joins that are no more, since a view was dropped, is forgotten.
        """
        self.interests.keep(lambda join: catalog.relation(join.name) is not None)
        joins = [*self.interests.joins(), *filter(None, map(join_of_name, asked))]
        there = (join for join in joins if join.cell == self.cell.name and catalog.relation(join.name) is not None)
        views = sorted({name for join in there for name in join.tables if name in catalog.views})
        stages = stages_in(catalog, self.cell, views)
        self.group.add({stage.member: stage.relation for stage in stages})
        self.views = {name: self.group[member_in(catalog, self.cell, name)] for name in views}
        return stages

    @property
    def sources(self) -> dict[str, ShardState]:
        """What joins are of, by name: the copies, without streams, which views alone read, and then the views."""
        return {name: copy for name, copy in self.copies.items() if copy.relation.stream is None} | self.views

    @property
    def rows(self) -> int:
        """How many rows the copies have."""
        return sum(copy.table.rows for copy in self.copies.values())

    @property
    def size(self) -> int:
        """The bytes that the tables, and the views beside them, took before the batch."""
        return self.group.size

    def begin(self) -> None:
        """Begin a batch. Cost: O(rows) where another one went before."""
        self.hurt.clear()
        for copy in self.copies.values():
            copy.begin()

    def orderings(self, member: str) -> Set[KeptOrder]:
        """Return the orderings by which rows of the followed joins are found, of a copy or a view; others have none."""
        named = (pair for pair in self.sources.items() if pair[1].shard == member)
        name, source = next(named, (None, None))
        return set() if name is None or source is None else self.interests.orderings(name, source.relation)

    def arrange(self, wanted: Mapping[str, Set[KeptOrder]] = _NONE_WANTED) -> None:
        """Keep these orderings and what views want of each member, and no others."""
        for name, source in self.sources.items():
            source.table.order_by(self.interests.orderings(name, source.relation) | wanted.get(source.shard, set()))

    def dump(self, window: WindowBounds | None = None) -> bytes:
        """Return all of it as bytes, the same for the same history; `window` holds from the next batch on."""
        stamps = self.window.dump(window or WindowBounds(self.window.window, self.window.most))
        head = _Head(self.cell.born, self.seq, self.counters, self.interests.dump(), stamps)
        return self.group.dump(msgspec.msgpack.encode(head))

    def _remember(self, head: _Head) -> None:
        self.seq = head.seq
        self.counters = head.counters
        self.interests = JoinInterests.load(head.interests)
        self.window = RowWindow.load(head.window)


def _of_birth(cell: Cell, data: bytes | None) -> StoredGroup:
    """Return what is stored of the cell; nothing where that is one of another birth."""
    stored = StoredGroup.read(cell.name, data)
    same = stored.head is not None and msgspec.msgpack.decode(bytes(stored.head), type=_Born).born == cell.born
    return stored if same else StoredGroup()


class _Born(msgspec.Struct):
    """All that is read of a head until it is known to be this cell's."""

    born: int
