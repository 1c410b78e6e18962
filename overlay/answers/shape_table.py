"""The shapes that a virtual edge's subscriptions have, each with what its deliveries and registrations need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import numpy as np

from catalog.query.best_shape import BestShape
from catalog.query.channel import Channel
from catalog.query.filter_shape import FilterShape
from catalog.query.shape import AnyShape, Shape
from catalog.schema.catalog import Catalog
from catalog.schema.join import is_join, join_of_name, place_of
from catalog.schema.relation import Relation
from catalog.types.column_type import ColumnType, Kind
from operators.channel_kinds import is_plain
from overlay.answers.aggregate_layout import AggregateLayout
from overlay.answers.answer_layout import AnswerLayout
from overlay.answers.list_layout import ListLayout
from overlay.answers.set_layout import SetLayout
from overlay.arena.interner import Interned
from overlay.delivery import list_delivery
from overlay.delivery.bag_delivery import FORM
from overlay.delivery.delivery import NULL, ValueTexts, json_text
from overlay.delivery.row_text import RowTexts
from state.change_batch import I32, I64, Bool
from state.distinct_numbers import distinct_numbers

_Value = TypeVar("_Value")
COUNT_TYPE = ColumnType(Kind.BIGINT)
_LAYOUTS: dict[str, type[AnswerLayout[Any]]] = {"distinct": SetLayout}
"""By what stands first in a SELECT list, where its answers are no aggregates."""


@lru_cache(4_096)
def once(value: _Value) -> _Value:
    """Return one object for values that are equal: shapes are many where filters are, and alike. Cost: 0.3 us."""
    return value


class Domain(NamedTuple):
    """What a channel is of: rows of `relation`, told apart by the columns `equal`, along the attribute `range`."""

    relation: str
    equal: tuple[str, ...]
    range: str | None

    @classmethod
    def of(cls, one: AnyShape | Channel) -> Domain:
        """Return the domain of a shape, which is that of all its channels, or of a channel."""
        return cls(one.relation, one.equal, one.range)


@dataclass(slots=True)
class ShapeEntry:
    """One shape in use.

    Of a join, `shard` is its cell, and `topic` empty: its changes come from several, and each says its own. So it is
    of a view.
    `born` tells its relation from a later one of the same name; `count` counts its subscriptions; `domain` is the
    number of its domain, `hearer` that of its channels: shapes with the same ones hear the same messages. `types` are
    those of the outputs' columns (None for COUNT(*)); `range_type` is the range attribute's, where it has no order
    codes and bounds are bytes, else None. A *plain* shape's answers are one order code; one that `counts` is a COUNT
    alone. Both are kept in the columns of slots and written by `texts`; all others, and those told by MIN CHANGE, are
    kept one by one and read by `plan`.

    A *filter* has the columns `needed` compared, shown or summed, and its types are those of what is shown or of its
    outputs; `tested_types` of what is compared. One that shows rows is a *bag*: its rows are not kept, `rows` writes
    them, and it has no `plan`. One that sums is answered as if its rows were those of a range.
    A *list* is kept in columns of its own (`answers/list_table.py`): of rows it needs the columns `shown_images`.
    """

    number: int
    shape: AnyShape
    born: int
    shard: str
    topic: str
    types: tuple[ColumnType | None, ...]
    range_type: ColumnType | None = None
    tested_types: tuple[ColumnType | None, ...] = ()
    count: int = 0
    domain: int = field(init=False, default=-1)
    hearer: int = field(init=False, default=-1)
    plain: bool = field(init=False)
    counts: bool = field(init=False, default=False)
    filters: bool = field(init=False)
    bag: bool = field(init=False)
    channels: tuple[Channel, ...] = field(init=False)
    plan: AnswerLayout[Any] = field(init=False)
    rows: RowTexts = field(init=False)
    texts: ValueTexts = field(init=False)
    topic_text: str = field(init=False)

    def __post_init__(self) -> None:
        first, shape = self.types[0], self.shape
        self.channels = once(shape.channels)
        self.types, self.tested_types = once(self.types), once(self.tested_types)
        self.shard, self.topic = once(self.shard), once(self.topic)
        self.filters = isinstance(shape, FilterShape)
        self.bag = self.filters and not shape.outputs
        self.plain = first is not None and isinstance(shape, Shape) and is_plain(shape, first.coded)
        self.texts = ValueTexts(self.text_type)
        self.topic_text = once(json_text(self.topic))
        if self.bag:
            self.rows = RowTexts([type_ for type_ in self.types if type_ is not None])
            return
        if isinstance(shape, BestShape):
            self.plan = ListLayout(shape, self.types)
            return
        ranged = shape if isinstance(shape, Shape) else Shape(shape.relation, shape.outputs, (), None)
        self.plan = _LAYOUTS.get(shape.outputs[0].function, AggregateLayout)(ranged, self.types)
        self.counts = [channel.kind for channel in self.plan.channels] == ["rows"] and len(self.types) == 1
        self.texts = ValueTexts(self.text_type)

    @property
    def key(self) -> str:
        """The shape as acknowledgements show it. Cost: 1 us."""
        return self.shape.acknowledged

    @property
    def needed(self) -> dict[str, ColumnType]:
        """The columns that a filter compares, shows or sums up. Cost: 2 us."""
        return _needed(self.shape, self.types, self.tested_types)

    @property
    def text_type(self) -> ColumnType:
        """The type of what `texts` writes."""
        first = self.types[0]
        return COUNT_TYPE if self.counts or first is None else first

    @property
    def form(self) -> str | None:
        """The form of the answers as acknowledgements say it; None for values and sets."""
        return form_of(self.shape)

    @property
    def tested(self) -> tuple[str, ...]:
        """The columns that a filter compares; its constants count in them."""
        return self.shape.tested if isinstance(self.shape, FilterShape) else ()

    @property
    def tested_columns(self) -> dict[str, ColumnType]:
        """The same with their types."""
        types = zip(self.tested, self.tested_types, strict=True)
        return {name: type_ for name, type_ in types if type_ is not None}

    @property
    def shown_list(self) -> tuple[str, ...]:
        """The SELECT list of a bag."""
        return self.shape.shown if isinstance(self.shape, FilterShape) else ()

    @property
    def row_columns(self) -> tuple[str, ...]:
        """The SELECT list of a bag or a list; of a join the columns as their tables name them."""
        shown = () if isinstance(self.shape, Shape) else self.shape.shown
        return tuple(place_of(name)[1] for name in shown) if is_join(self.shape.relation) else shown

    @property
    def shown_images(self) -> tuple[str, ...]:
        """The columns of rows that a list needs; none of other shapes."""
        return self.shape.images if isinstance(self.shape, BestShape) else ()

    @property
    def shown(self) -> frozenset[str | None]:
        """The columns that are shown or go into outputs."""
        return frozenset([*self.shown_list, *(output.column for output in self.shape.outputs)])

    @property
    def keys(self) -> tuple[int, ...]:
        """Where the columns of the primary key stand among those that a filter shows; () unless all are shown."""
        return self.shape.keys if isinstance(self.shape, FilterShape) else ()

    def stands(self, catalog: Catalog) -> bool:
        """Whether the table, or the cell, that the shape was compiled for is still there (it may have new columns)."""
        relation = catalog.relation(self.shape.relation)
        return relation is not None and relation.born == self.born

    def dropped(self, catalog: Catalog) -> str:
        """Return what was dropped, where the shape does not stand: a table, a view, or the cell alone."""
        join = join_of_name(self.shape.relation)
        if join is None and not self.topic:
            return "view dropped"
        whole = join is not None and all(table in catalog.relations for table in join.base)
        cell = None if join is None else catalog.cells.get(join.cell)
        if whole and cell is not None and cell.born <= self.born:
            return "view dropped"
        return "cell dropped" if whole else "table dropped"


class ShapeTable:
    """Shapes by number, by value and by the channels they are answered from. Numbers are small and are used again."""

    def __init__(self) -> None:
        self._by_shape: dict[AnyShape, ShapeEntry] = {}
        self._by_number: dict[int, ShapeEntry] = {}
        self._by_channel: dict[Channel, dict[int, ShapeEntry]] = {}
        self._domains: Interned[Domain] = Interned()
        self._hearers: Interned[tuple[Channel, ...]] = Interned()
        self._texts: dict[ColumnType, ValueTexts] = {}
        self._rows: dict[tuple[ColumnType | None, ...], RowTexts] = {}
        self._gaps: list[int] = []
        self._filters: set[int] = set()

    def __iter__(self) -> Iterator[ShapeEntry]:
        return iter(self._by_number.values())

    def __getitem__(self, number: int) -> ShapeEntry:
        return self._by_number[number]

    def has(self, number: int) -> bool:
        """Whether a shape has this number."""
        return number in self._by_number

    @property
    def filters(self) -> I64:
        """The numbers of filters, ascending."""
        return np.array(sorted(self._filters), np.int64)

    def get(self, shape: AnyShape) -> ShapeEntry | None:
        """Return the entry of `shape`, or None where no subscription has it."""
        return self._by_shape.get(shape)

    def shapes_of(self, channel: Channel) -> list[ShapeEntry]:
        """Return the shapes whose answers are made from `channel`; an edge withdraws it when there are none."""
        return list(self._by_channel.get(channel, {}).values())

    def hears(self, channels: Sequence[Channel]) -> Bool:
        """Return whether each hearer, by its number, hears each of `channels`."""
        heard = np.zeros((len(channels), self._hearers.end), np.bool_)
        for i, channel in enumerate(channels):
            heard[i, [entry.hearer for entry in self.shapes_of(channel)]] = True
        return heard

    def domains(self, numbers: I64) -> I64:
        """Return the numbers of the domains that shapes are over."""
        distinct, place = np.unique(numbers, return_inverse=True)
        return np.array([self[number].domain for number in distinct.tolist()], np.int64)[place]

    def hearers(self, numbers: I64) -> I64:
        """Return the numbers of what shapes hear."""
        distinct, place = np.unique(numbers, return_inverse=True)
        return np.array([self[number].hearer for number in distinct.tolist()], np.int64)[place]

    def texts(self, numbers: I32, codes: I64, known: Bool) -> list[str]:
        """Return the texts of answers that are kept in columns, each of the shape with its number."""
        distinct = distinct_numbers(numbers.astype(np.int64))[0].tolist()
        if len(distinct) == 1:
            return self[distinct[0]].texts.texts(codes, known)
        texts = np.empty(len(codes), object)
        for number in distinct:
            at = (numbers == number).nonzero()[0]
            texts[at] = self[number].texts.texts(codes[at], known[at])
        return list(texts)

    def shared_texts(self, numbers: I32, codes: I64, known: Bool) -> tuple[I64, list[str]]:
        """Return what `texts` does, each text once: the place of each answer's text, and the texts."""
        places, texts = np.empty(len(codes), np.int64), list[str]()
        for number in np.unique(numbers).tolist():
            mine = numbers == number
            there = mine & known
            distinct, place = np.unique(codes[there], return_inverse=True)
            places[there] = place + len(texts)
            texts += self[number].texts.texts(distinct, np.ones(len(distinct), np.bool_))
            places[mine & ~known] = len(texts)
            texts.append(NULL)
        return places, texts

    def enter(self, shape: AnyShape, relation: Relation, types: Sequence[ColumnType | None]) -> ShapeEntry:
        """Return the entry of `shape`, made if need be; `types` are those of its outputs, or of what it shows.

        Cost: O(1), amortised.
        """
        entry = self._by_shape.get(shape)
        if entry is None:
            range_type = None if shape.range is None else relation.column(shape.range).type
            if range_type is not None and range_type.coded:
                range_type = None
            names = (relation.born, relation.shard, relation.topic)
            tested = shape.tested if isinstance(shape, FilterShape) else ()
            tested_types = tuple(relation.column(name).type for name in tested)
            entry = ShapeEntry(self._unused(), shape, *names, tuple(types), range_type, tested_types)
            self.put(entry)
        return entry

    def put(self, entry: ShapeEntry) -> None:
        """Take in an entry, and let it share its texts with those of the same type."""
        if entry.number in self._by_number:
            self._leave(self[entry.number])
        entry.domain = self._domains.enter(Domain.of(entry.shape))
        entry.hearer = self._hearers.enter(entry.channels)
        entry.texts = self._texts.setdefault(entry.text_type, entry.texts)
        if entry.bag:
            entry.rows = self._rows.setdefault(entry.types, entry.rows)
        self._by_shape[entry.shape] = entry
        self._by_number[entry.number] = entry
        if entry.filters:
            self._filters.add(entry.number)
        for channel in entry.channels:
            self._by_channel.setdefault(channel, {})[entry.number] = entry

    def drop(self, number: int) -> None:
        """Forget a shape; its number may be given again."""
        entry = self._by_number.pop(number)
        self._leave(entry)
        del self._by_shape[entry.shape]
        self._filters.discard(number)
        for channel in entry.channels:
            others = self._by_channel[channel]
            del others[number]
            if not others:
                del self._by_channel[channel]
        self._gaps.append(number)

    def _leave(self, entry: ShapeEntry) -> None:
        self._domains.leave([entry.domain])
        self._hearers.leave([entry.hearer])

    def _unused(self) -> int:
        while self._gaps:
            number = self._gaps.pop()
            if number not in self._by_number:
                return number
        number = len(self._by_number)
        while number in self._by_number:
            number += 1
        return number


def form_of(shape: AnyShape) -> str | None:
    """Return the form of a shape's answers as acknowledgements say it; None for values and sets."""
    if isinstance(shape, BestShape):
        return list_delivery.FORM
    return FORM if isinstance(shape, FilterShape) and shape.shown else None


def _needed(
    shape: AnyShape, types: Sequence[ColumnType | None], tested: Sequence[ColumnType | None]
) -> dict[str, ColumnType]:
    """Return the columns whose images a filter needs, with their types; nothing for other shapes."""
    if not isinstance(shape, FilterShape):
        return {}
    names: list[str | None] = [*(shape.shown or (output.column for output in shape.outputs)), *shape.tested]
    pairs = zip(names, [*types, *tested], strict=True)
    return {name: type_ for name, type_ in pairs if name is not None and type_ is not None}
