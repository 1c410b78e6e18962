"""The filters of a virtual edge, table by table: which subscriptions a change of a row concerns, and how.

    constants (boxes of value sets)  ──► codes ──┐
                                                 ├──► FilterIndex of the table (`state/filter_index.py`) ──► hits
    images (old and new row)         ──► codes ──┘

An index knows columns by number and values as int64. Columns get their numbers as filters come that compare, show or
sum them. Order codes are taken as they are. Texts and wide decimals become codes in the order of the bounds that
filters have (`index/text_codes.py`): two texts between the same bounds have one code, so which of them have changed is
told to the index besides.

Where a table has buckets, a shard tells the columns that filters of its own bucket need. What others need may be
missing: each compares the bucket's columns, so rows of another bucket are none of its, whatever else is unknown.

Filters of a join of two tables that fit it are in the index of joins (`overlay/index/join_index.py`) instead, where a
change is asked for once and not with each joined row; images of a join's rows are asked for the others.

Nothing is stored: all follows from shapes and constants of slots, which must still have both when they are removed.

Invariants (`check`): 1 a table is there if and only if some slot of it is in its index; 2 its index, its bounds and the
columns that are wanted are those of the slots that are in; 3 each slot is in one index.
Cost: 4 us a slot that comes, 6 us one that goes, 20 us more where texts are compared. A change
of a row: `FilterIndex`, 50 ns a column and what its texts cost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np

from catalog.bulk.term_columns import TermColumns
from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import decode_terms
from catalog.query.value_set import ValueSet
from catalog.types.column_type import ColumnType
from catalog.types.order_key import order_key
from operators.packed import PackedImages
from overlay.answers.shape_table import ShapeEntry, ShapeTable
from overlay.arena.growable_column import widened
from overlay.index.join_index import EdgeJoins
from overlay.index.text_codes import TextCodes
from overlay.table.slot_filters import U64
from overlay.table.slot_table import SlotTable
from state.change_batch import I64, Bool
from state.errors import TidewireError
from state.filter_columns import CodedBox, FilterColumns, interest_of
from state.filter_index import HITS, FilterIndex

_HITS_AT_ONCE = HITS
Bound = int | bytes


class MissingColumnError(TidewireError):
    """Images lack a column that a filter compares or shows."""

    code = "missing_column"


class Hits(NamedTuple):
    """In causal order: index of a change, the slot that it concerns, and LEFT, ENTERED or WITHIN.

    WITHIN only says that a column which the filter compares or shows may have changed.
    """

    change: I64
    slot: I64
    kind: I64

    def of(self, which: Bool) -> Hits:
        """Return some of them."""
        return Hits(self.change[which], self.slot[which], self.kind[which])


class FilterFigures(NamedTuple):
    """How many filters a table has, bytes of their index, and how well it tells who is not concerned.

    candidates_per_hit, crowded: as `FilterIndex` has them.
    """

    filters: int
    bytes: int
    candidates_per_hit: float
    crowded: bool


class FilterBook:
    """Slots of filters, in an index a table."""

    def __init__(self, slots: SlotTable, shapes: ShapeTable, joins: EdgeJoins) -> None:
        self._slots = slots
        self._shapes = shapes
        self.joins = joins
        self._joined: dict[str, Counter[str]] = {}
        self._tables: dict[str, _TableFilters] = {}
        self._inside: Bool = np.zeros(0, np.bool_)

    def clear(self) -> None:
        """Take everything out."""
        self._tables.clear()
        self.joins.clear()
        self._joined.clear()
        self._inside[:] = False

    def slots(self) -> I64:
        """Return all slots that are in, ascending. Cost: O(slots) in numpy."""
        return self._inside.nonzero()[0]

    def insert(self, slots: I64) -> None:
        """Put slots of filters in, none of which is in."""
        if not len(slots):
            return
        self._inside = widened(self._inside, int(slots.max()) + 1)
        of_tables: dict[str, list[_Slots]] = {}
        parts = list(self._by_shape(slots))
        constants = iter(self._slots.filters.constants(np.concatenate([mine for _, mine in parts])))
        for entry, mine in parts:
            its = self._general((entry, mine, list(islice(constants, len(mine)))))
            if len(its[1]):
                of_tables.setdefault(entry.shape.relation, []).append(its)
        for relation, shapes in of_tables.items():
            self._tables.setdefault(relation, _TableFilters()).insert(shapes)
        self._inside[slots] = True

    def remove(self, slots: I64) -> None:
        """Take out those of `slots` that are in."""
        known = slots[slots < len(self._inside)]
        for entry, mine in self._by_shape(known[self._inside[known]]):
            relation = entry.shape.relation
            self._inside[mine] = False
            joined = self.joins.remove(mine)
            self._count(entry, -int(np.count_nonzero(joined)))
            left = mine[~joined]
            if len(left):
                self._tables[relation].remove(entry, left, self._slots.filters.constants(left))
            if relation in self._tables and not len(self._tables[relation]):
                del self._tables[relation]

    def _general(self, its: _Slots) -> _Slots:
        """Put those slots of a shape into the index of joins that fit; return the others."""
        entry, slots, constants = its
        if not isinstance(entry.shape, FilterShape):
            return its
        fits = self.joins.insert(slots, entry.shape, entry.tested_columns, constants)
        if not fits.any():
            return its
        self._count(entry, int(np.count_nonzero(fits)))
        left = (~fits).nonzero()[0]
        return entry, slots[left], [constants[i] for i in left.tolist()]

    def _count(self, entry: ShapeEntry, slots: int) -> None:
        """Count slots of a shape that came to the index of joins, or went from it (below 0)."""
        if slots:
            counts = self._joined.setdefault(entry.shape.relation, Counter())
            counts.update(dict.fromkeys(["", *entry.needed], slots))
            if not counts[""]:
                del self._joined[entry.shape.relation]

    def hits(self, packed: PackedImages) -> Iterator[Hits]:
        """Yield who is concerned by row changes of a table, some changes at a time, in their order.

        Raises MissingColumnError where a filter needs a column that is not told.
        """
        (channel,) = packed.header.channels
        table = self._tables.get(channel.relation)
        return iter(()) if table is None else table.hits(packed)

    def check_told(self, packed: PackedImages) -> None:
        """Raise MissingColumnError where a filter needs a column that images of its table do not have."""
        (channel,) = packed.header.channels
        table = self._tables.get(channel.relation)
        if table is not None:
            table.check_told(packed)

    @property
    def relations(self) -> list[str]:
        """The tables and joins that filters are of, sorted."""
        return sorted({*self._tables, *self._joined})

    def joined(self, relation: str) -> bool:
        """Whether some filter of a join is in the index of joins."""
        return relation in self._joined

    def imaged(self, relation: str) -> list[str]:
        """Return the columns that `hits` must be told of a table or a join, sorted; none where it has no filter."""
        return self._tables[relation].wanted if relation in self._tables else []

    def wanted(self, relation: str) -> list[str]:
        """Return the columns that filters of a table or a join compare, show or sum, sorted."""
        joined = self._joined.get(relation, Counter())
        return sorted({*self.imaged(relation), *(name for name in joined if name and joined[name])})

    def figures(self) -> dict[str, FilterFigures]:
        """Return what there is to say of the filters of each table. Cost: O(tables)."""
        return {name: self._figures(name) for name in self.relations}

    def _figures(self, relation: str) -> FilterFigures:
        table, joined = self._tables.get(relation), self._joined.get(relation, Counter())[""]
        figures = FilterFigures(0, 0, 0.0, False) if table is None else table.figures()
        return figures._replace(filters=figures.filters + joined, bytes=figures.bytes + joined * self.joins.bytes_each)

    def _by_shape(self, slots: I64) -> Iterator[tuple[ShapeEntry, I64]]:
        order = np.argsort(self._slots.shape[slots], kind="stable")
        numbers, starts = np.unique(self._slots.shape[slots[order]], return_index=True)
        bounds = pairwise([*starts.tolist(), len(slots)])
        for number, (start, end) in zip(numbers.tolist(), bounds, strict=True):
            yield self._shapes[number], slots[order[start:end]]

    def check(self) -> None:
        """Check the invariants of the module's header. Raises AssertionError."""
        of_tables: dict[str, list[tuple[ShapeEntry, I64]]] = {}
        joined, counts = self.joins.slots(), Counter[str]()
        assert self._inside[joined].all(), (3, joined)
        for entry, slots in self._by_shape(self.slots()):
            others = slots[~np.isin(slots, joined)]
            counts[entry.shape.relation] += len(slots) - len(others)
            if len(others):
                of_tables.setdefault(entry.shape.relation, []).append((entry, others))
        assert +counts == {name: each[""] for name, each in self._joined.items()}, (2, counts, self._joined)
        assert of_tables.keys() == self._tables.keys(), (1, of_tables.keys(), self._tables.keys())
        for relation, shapes in of_tables.items():
            constants = self._slots.filters.constants
            self._tables[relation].check([(entry, slots, constants(slots)) for entry, slots in shapes])


_Slots = tuple[ShapeEntry, I64, list[bytes]]
"""Slots of a shape, with the constants of each."""


class _TableFilters:
    """The filters of one table: their index, the numbers of columns, and the codes of those without order codes.

    wanted: how many filters compare, show or sum each column.  bucket: the columns that part the table, if it is.
    """

    def __init__(self) -> None:
        self._index = FilterIndex(0)
        self._numbers: dict[str, int] = {}
        self._types: dict[str, ColumnType] = {}
        self._codes: dict[str, TextCodes] = {}
        self._wanted: Counter[str] = Counter()
        self._bucket: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self._index)

    @property
    def wanted(self) -> list[str]:
        """The columns that some filter needs, sorted."""
        return sorted(+self._wanted)

    def figures(self) -> FilterFigures:
        """Return what there is to say of them."""
        index = self._index
        return FilterFigures(len(index), index.nbytes, round(index.candidates_per_hit, 2), index.crowded)

    def insert(self, shapes: Sequence[_Slots]) -> None:
        """Put slots of shapes in: all at once where their constants are order codes, the others one by one."""
        interests = []
        for entry, slots, _ in shapes:
            needed = entry.needed
            self._number(needed)
            if isinstance(entry.shape, FilterShape):
                self._bucket = entry.shape.bucket
            for name in needed:
                self._wanted[name] += len(slots)
            interests.append(interest_of(self._interest(needed)))
        slots = np.concatenate([slots for _, slots, _ in shapes])
        constants = [text for _, _, texts in shapes for text in texts]
        shape = np.repeat(np.arange(len(shapes)), [len(mine) for _, mine, _ in shapes])
        numbers = np.full((len(shapes), max(len(entry.tested) for entry, _, _ in shapes) + 1), -1, np.int64)
        for i, (entry, _, _) in enumerate(shapes):
            numbers[i, : len(entry.tested)] = [self._numbers[name] for name in entry.tested]
        interest = np.array(interests, np.uint64)
        columns = TermColumns.of(constants)
        self._index.insert_all(columns.numbered(slots, interest[shape], numbers, shape))
        left = (~columns.taken).nonzero()[0].tolist()
        if left:
            self._insert_each([(shapes[shape[i]][0], int(slots[i]), constants[i]) for i in left])

    def _insert_each(self, filters: Sequence[tuple[ShapeEntry, int, bytes]]) -> None:
        """Put slots in that compare texts or wide decimals, each with its shape and constants."""
        boxes = [_boxes_of(entry, text) for entry, _, text in filters]
        self._bound(boxes)
        coded = [(slot, [self._coded(box) for box in its], self._interest(entry.needed))
                 for (entry, slot, _), its in zip(filters, boxes, strict=True)]  # fmt: skip
        self._index.insert_all(FilterColumns.of(coded))

    def _interest(self, needed: Iterable[str]) -> list[int]:
        """Return the numbers of the columns that a shape needs; of some one if none: whoever is in wants to hear."""
        return [self._numbers[name] for name in needed] or [0]

    def remove(self, entry: ShapeEntry, slots: I64, constants: Sequence[bytes]) -> None:
        """Take out slots of a shape that are in."""
        self._wanted.subtract(dict.fromkeys(entry.needed, len(slots)))
        for slot in slots.tolist():
            self._index.remove(slot)
        for i in (~TermColumns.of(constants).taken).nonzero()[0].tolist():
            for name, bounds in _bounds(_boxes_of(entry, constants[i])):
                for bound in bounds:
                    self._codes[name].release(bound)

    def check_told(self, packed: PackedImages) -> None:
        """Raise MissingColumnError where some filter needs a column that images do not have."""
        wanted = self._bucket or self.wanted
        missing = sorted(name for name in wanted if name not in packed.columns)
        if missing:
            raise MissingColumnError(f"images lack {missing}, expected {self.wanted}")

    def hits(self, packed: PackedImages) -> Iterator[Hits]:
        """Yield who is concerned, some changes at a time, in their order."""
        self.check_told(packed)
        for change, slot, kind in self._index.matches(*self._rows(packed), most=_HITS_AT_ONCE):
            yield Hits(change.astype(np.int64), slot, kind.astype(np.int64))

    def _number(self, needed: dict[str, ColumnType]) -> None:
        """Number the columns that a shape needs."""
        self._types |= needed
        for name in needed:
            self._numbers.setdefault(name, len(self._numbers))
        if len(self._numbers) > self._index.columns:
            self._index.widen(len(self._numbers))

    def _bound(self, filters: Iterable[list[dict[str, ValueSet]]]) -> None:
        """Count bounds in; where codes that were given before do not hold, the index has the new ones."""
        new: dict[str, list[bytes]] = {}
        for boxes in filters:
            for name, bounds in _bounds(boxes):
                new.setdefault(name, []).extend(bounds)
        for name, bounds in new.items():
            moved = self._codes.setdefault(name, TextCodes()).add(bounds)
            if moved is not None:
                self._index.recode(self._numbers[name], *moved)

    def _coded(self, box: dict[str, ValueSet]) -> CodedBox:
        return [
            (self._numbers[name], [self._interval(name, *one) for one in values.intervals], values.null)
            for name, values in box.items()
        ]

    def _interval(self, name: str, lo: Bound, hi: Bound) -> tuple[int, int]:
        if isinstance(lo, bytes) and isinstance(hi, bytes):
            return self._codes[name].interval(lo, hi)
        assert isinstance(lo, int) and isinstance(hi, int), "a value set has bounds of one kind"
        return lo, hi

    def _rows(self, packed: PackedImages) -> tuple[I64, Bool, Bool, I64, Bool, Bool, U64]:
        """Return images as `FilterIndex.match` takes them: a column each that the index knows."""
        m = len(packed)
        shape = m, self._index.columns
        old, new = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        old_known, new_known = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
        changed = np.zeros(m, np.uint64)
        for name, number in self._numbers.items():
            column = packed.columns.get(name)
            if column is None:  # nobody wants it any more, or nobody of this bucket
                continue
            old_known[:, number], new_known[:, number] = column.old_known, column.new_known
            texts = column.listed
            if texts is None:
                old[:, number], new[:, number] = column.old, column.new
                continue
            differs = (column.old != column.new) | (column.old_known != column.new_known)
            changed |= differs.astype(np.uint64) << np.uint64(number & 63)
            of_text = self._of_texts(name, texts)
            old[:, number], new[:, number] = of_text[column.old], of_text[column.new]
        return old, old_known, packed.rows <= 0, new, new_known, packed.rows >= 0, changed

    def _of_texts(self, name: str, texts: Sequence[str]) -> I64:
        """Return the codes of texts, and one more; nobody looks at them where there are no bounds."""
        codes = self._codes.get(name)
        if codes is None or not len(codes):
            return np.zeros(len(texts) + 1, np.int64)
        type_ = self._types[name]
        return np.append(codes.of([order_key(type_, text) for text in texts]), 0)

    def check(self, filters: list[_Slots]) -> None:
        """Check that the slots that are in are `filters`, and counted so. Raises AssertionError."""
        self._index.check()
        assert len(self) == sum(len(slots) for _, slots, _ in filters), (2, len(self), filters)
        wanted = Counter(name for entry, slots, _ in filters for name in entry.needed for _ in slots)
        assert +self._wanted == wanted, (2, self._wanted, wanted)
        for codes in self._codes.values():
            codes.check()


def _boxes_of(entry: ShapeEntry, constants: bytes) -> list[dict[str, ValueSet]]:
    """Return the WHERE of a filter as boxes of value sets by column."""
    tested = entry.tested
    return [{tested[place]: values for place, values in box.items()} for box in decode_terms(constants)]


def _bounds(boxes: Iterable[dict[str, ValueSet]]) -> Iterator[tuple[str, list[bytes]]]:
    """Yield the bounds of each value set that are bytes."""
    for box in boxes:
        for name, values in box.items():
            bounds = [bound for interval in values.intervals for bound in interval if isinstance(bound, bytes)]
            if bounds:
                yield name, bounds
