"""Range MIN and MAX over one relation: rows change, and the ranges whose answer changes are named.

A subscription is `SELECT MIN(y) FROM r WHERE e1 = .. AND e2 = .. AND x BETWEEN lo AND hi`; without its constants
it is a shape (catalog/shape.py). What is kept, and what is laid out for a batch and forgotten:

    kept       row store (state/row_store.py)   one ordering per (e1, e2; x) (state/ordering.py)   the shapes
    a batch    replay of versions          ->   layout of slots                              ->   a tree a shape

    apply:  1 replay   every change gets the version it found and the version it left; identical images end here
            2 layout   every version gets its slot, in each ordering
            3 trees    for each shape, one A2B-tree (state/a2b_tree.py) runs through the changes that touch it
            4 commit   rows and orderings take over the last versions

Shapes that compare the same columns share an ordering and its layout; MIN and MAX of one measure are two trees.
A row with NULL in an equality column or in x meets nobody; one with NULL in y is in the ordering, not in the tree.

Source: Interface paper, 2.4 (S-CN) and 3.1. Checked against tests/oracle/naive_range_extremum.py.
Cost of a batch of m changes on n rows: O(n) to open, lay out and write; per change and shape what a2b_tree says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
from numba.core.dispatcher import Dispatcher

from catalog.column_type import ColumnType, Kind
from catalog.relation import Column, Relation
from catalog.shape import Region, Shape, group_key
from operators.operator import Messages
from state import a2b_tree, byte_table, ordering, row_store
from state.a2b_tree import ABSENT, FIELDS, A2BTree
from state.blob import open_blob, write_blob
from state.change_batch import I64, Bool, ChangeBatch
from state.errors import StateError, TidewireError
from state.order_code import restore_top, spare_top
from state.ordering import Layout, Ordering
from state.row_store import Replay, RowStore

MAGIC = b"TWRANGE\x00"
FORMAT = 1

_OrderingKey = tuple[tuple[int, ...], int | None]


class ShapeError(TidewireError):
    """A shape is not one that this operator can serve, or it is asked for without being listened to."""

    code = "shape"


class _Declared(msgspec.Struct, frozen=True):
    """What the state depends on of a relation's declaration; its JSON is the fingerprint."""

    name: str
    born: int
    columns: tuple[tuple[str, str, bool], ...]
    key: tuple[str, ...]

    @classmethod
    def of(cls, relation: Relation) -> _Declared:
        columns = tuple((column.name, str(column.type), column.nullable) for column in relation.columns)
        return cls(relation.name, relation.born, columns, relation.key)

    def evolves_from(self, older: _Declared) -> bool:
        """Whether this is `older` with nullable columns appended."""
        appended = self.columns[len(older.columns) :]
        same = self.columns[: len(older.columns)] == older.columns
        return self == msgspec.structs.replace(older, columns=self.columns) and same and all(c[2] for c in appended)


class _Listening(msgspec.Struct, frozen=True):
    """The part of the state that is not columns."""

    shapes: list[Shape]
    orderings: list[_OrderingKey]


@dataclass(slots=True)
class _Measured:
    """A measure as a tree wants it: y a version, ABSENT where NULL or without a slot; and how to get codes back."""

    y: I64
    maximum: bool
    gap: int | None

    @classmethod
    def of(cls, replay: Replay, layout: Layout, column: int, maximum: bool) -> _Measured:
        there = replay.valid[column] & (layout.slot >= 0)
        codes = ~replay.codes[column] if maximum else replay.codes[column]
        y, gap = spare_top(codes, there)
        return cls(np.where(there, y, ABSENT), maximum, gap)

    def codes(self, y: I64) -> tuple[I64, Bool]:
        """Return the order codes of results, 0 where there is none, and where there is one."""
        there = y != ABSENT
        codes = restore_top(y, self.gap)
        return np.where(there, ~codes if self.maximum else codes, 0), there


class RangeExtremum:
    """The operator of MIN and MAX subscriptions of one relation. Implements `operators.operator.Operator`."""

    __slots__ = ("_orderings", "_rows", "_shapes", "_size", "relation")

    def __init__(self, relation: Relation) -> None:
        self.relation = relation
        self._rows = RowStore(len(relation.columns), _texts(relation))
        self._orderings: dict[_OrderingKey, Ordering] = {}
        self._shapes: dict[Shape, _OrderingKey] = {}
        self._size = 0

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The shapes listened to, in canonical order."""
        return tuple(sorted(self._shapes, key=lambda shape: shape.key))

    @property
    def rows(self) -> int:
        """How many rows there are now."""
        return len(self._rows)

    @property
    def orderings(self) -> int:
        """How many orderings are kept for the shapes."""
        return len(self._orderings)

    @property
    def moved_partitions(self) -> int:
        """Changes, ever, of a row that came from another Kafka partition than the change before."""
        return self._rows.moved_partitions

    def listen(self, shapes: Sequence[Shape]) -> None:
        """Make the orderings that `shapes` need. Cost: O(n log n) for each new ordering, nothing for the rest.

        Raises ShapeError if a shape is of another relation, names a column it lacks, or measures text.
        """
        for shape in shapes:
            if shape not in self._shapes:
                self._shapes[shape] = self._order_of(shape)
        for key in {self._shapes[shape] for shape in shapes} - self._orderings.keys():
            self._orderings[key] = Ordering.of(*key, self._rows.still())

    def forget(self, shapes: Sequence[Shape]) -> None:
        """Drop `shapes`, and the orderings that no other shape needs; those not listened to are passed over."""
        for shape in shapes:
            self._shapes.pop(shape, None)
        needed = set(self._shapes.values())
        self._orderings = {key: order for key, order in self._orderings.items() if key in needed}

    def snapshot(self, regions: Sequence[Region]) -> tuple[I64, Bool]:
        """Return the current answers of `regions`: order codes and validity (False: NULL, no row in range).

        Cost: O(n) for each shape among them, O(log n) and 2 us for each region.
        Raises ShapeError for a shape that is not listened to.
        """
        codes, there = np.zeros(len(regions), np.int64), np.zeros(len(regions), np.bool_)
        by_shape: dict[Shape, list[int]] = {}
        for i, region in enumerate(regions):
            if not region.empty:
                by_shape.setdefault(region.shape, []).append(i)
        still = self._rows.still()
        layouts: dict[_OrderingKey, Layout] = {}
        for shape, which in by_shape.items():
            if shape not in self._shapes:
                raise ShapeError(f"shape `{shape.key}` is not listened to; call `listen` before `snapshot`")
            key = self._shapes[shape]
            if key not in layouts:
                layouts[key] = self._orderings[key].layout(still)
            codes[which], there[which] = self._answer(shape, layouts[key], still, [regions[i] for i in which])
        return codes, there

    def apply(self, changes: ChangeBatch) -> Messages:
        """Apply `changes` one by one and return the messages they cause for the shapes listened to.

        Messages of one change are adjacent; a subscription is in at most one of them, and only if its answer
        changes. A change to an identical row causes none. Cost: see the module's header.
        """
        replay = self._rows.replay(changes)
        layouts = {key: self._orderings[key].layout(replay) for key in sorted(self._orderings, key=repr)}
        collected = _Collected(self.shapes)
        for number, shape in enumerate(collected.shapes):
            key = self._shapes[shape]
            measured = _Measured.of(replay, layouts[key], self.relation.index(shape.measure), shape.aggregate == "max")
            found = _run(layouts[key], measured, replay)
            if found.size:
                numbers, which = np.unique(found[1], return_inverse=True)
                groups = self._group_keys(self._orderings[key], layouts[key], replay, numbers)
                collected.add(number, found, measured, groups, which)
        self._rows.commit(replay)
        for key, layout in layouts.items():
            self._orderings[key].commit(layout, replay)
        return collected.messages()

    def dump(self) -> bytes:
        """Return the whole state as one value: same state, same bytes. Cost: O(n)."""
        keys = sorted(self._orderings, key=repr)
        listening = msgspec.json.encode(_Listening(list(self.shapes), keys))
        orderings = {f"ordering/{i}": self._orderings[key].rows for i, key in enumerate(keys)}
        fingerprint = msgspec.json.encode(_Declared.of(self.relation)).decode()
        data = write_blob(MAGIC, FORMAT, fingerprint, {"listening": listening, **self._rows.sections(), **orderings})
        self._size = len(data)
        return data

    @classmethod
    def load(cls, relation: Relation, data: bytes) -> RangeExtremum:
        """Read what `dump` wrote. Cost: O(n).

        Nullable columns appended to `relation` since are NULL in every row; a relation that was dropped and
        created again begins empty. Raises StateError, naming both declarations, if it differs otherwise.
        """
        stored, sections = open_blob(data, MAGIC, FORMAT)
        now, then = _Declared.of(relation), msgspec.json.decode(stored, type=_Declared)
        if now.name == then.name and now.born > then.born:
            return cls(relation)
        if not now.evolves_from(then):
            raise StateError(
                f"the stored state of table `{relation.name}` was made by another declaration: expected {now}, "
                f"found {then}; only appending nullable columns keeps the rows, else DROP TABLE and create it anew"
            )
        operator = cls(relation)
        operator._size = len(data)
        operator._rows = RowStore.from_sections(len(relation.columns), _texts(relation), sections)
        listening = msgspec.json.decode(bytes(sections["listening"]), type=_Listening)
        for i, key in enumerate(listening.orderings):
            operator._orderings[key] = Ordering(*key, np.array(sections[f"ordering/{i}"], np.int32))
        operator._shapes = {shape: operator._order_of(shape) for shape in listening.shapes}
        return operator

    def check(self) -> None:
        """Assert the invariants of rows, orderings and trees, and that orderings are the needed ones. Cost: O(n)."""
        self._rows.check()
        assert set(self._orderings) == set(self._shapes.values()), f"{self._orderings} for {self._shapes}"
        still = self._rows.still()
        for each in self._orderings.values():
            each.check(still)
        for shape, key in self._shapes.items():
            layout = self._orderings[key].layout(still)
            measured = _Measured.of(still, layout, self.relation.index(shape.measure), shape.aggregate == "max")
            leaves = measured.y[layout.version]
            A2BTree(layout, leaves).check(leaves)

    def _order_of(self, shape: Shape) -> _OrderingKey:
        """Return the columns by which the shape's rows are ordered."""
        relation = self.relation
        names = {column.name: i for i, column in enumerate(relation.columns)}
        used = [shape.measure, *shape.equal, *([] if shape.range is None else [shape.range])]
        missing = [name for name in used if name not in names]
        coded = [shape.measure] if shape.range is None else [shape.measure, shape.range]
        if shape.relation != relation.name or shape.aggregate not in ("min", "max") or missing:
            raise ShapeError(f"shape `{shape.key}` does not fit table `{relation.name}` with columns {list(names)}")
        for name in coded:
            if not relation.column(name).type.coded:
                raise ShapeError(f"shape `{shape.key}`: column `{name}` has no order code; only equality can use it")
        return tuple(names[name] for name in shape.equal), None if shape.range is None else names[shape.range]

    def _answer(self, shape: Shape, layout: Layout, still: Replay, regions: list[Region]) -> tuple[I64, Bool]:
        order = self._orderings[self._shapes[shape]]
        numbers = {group: i for i, group in enumerate(dict.fromkeys(region.group for region in regions))}
        found = order.seek(layout, still, self._group_codes(order, list(numbers)))
        group = found[np.fromiter((numbers[region.group] for region in regions), np.int64, len(regions))]
        lo = np.fromiter((region.lo for region in regions), np.int64, len(regions))
        hi = np.fromiter((region.hi for region in regions), np.int64, len(regions))
        measured = _Measured.of(still, layout, self.relation.index(shape.measure), shape.aggregate == "max")
        tree = A2BTree(layout, measured.y[layout.version])
        return measured.codes(tree.answers(group, lo, hi))

    def _group_codes(self, order: Ordering, groups: list[bytes]) -> list[list[int]]:
        """Return each group's equality codes; a text that no row holds has code -1, and finds no group."""
        values = [msgspec.json.decode(group) for group in groups]
        for place, column in enumerate(order.equal):
            if not self.relation.columns[column].type.coded:
                texts = self._rows.numbers_of(column, [value[place] for value in values]).tolist()
                for value, number in zip(values, texts, strict=True):
                    value[place] = number
        return values

    def _group_keys(self, order: Ordering, layout: Layout, replay: Replay, numbers: I64) -> list[bytes]:
        """Return the canonical bytes of the groups with these numbers."""
        heads = layout.version[layout.starts[numbers]]
        columns: list[list[int] | list[str]] = []
        for column in order.equal:
            codes = replay.codes[column][heads].tolist()
            coded = self.relation.columns[column].type.coded
            columns.append(codes if coded else [self._rows.text(column, number) for number in codes])
        return [group_key(values) for values in zip(*columns, strict=True)] if columns else [group_key(())]

    @property
    def bytes(self) -> int:
        """Size of the state when it was last loaded or dumped; 0 before. (Last in the class: it hides the type.)"""
        return self._size


class _Collected:
    """Messages of several shapes on their way to one causally ordered batch."""

    def __init__(self, shapes: tuple[Shape, ...]) -> None:
        self.shapes = shapes
        self._groups: dict[bytes, int] = {}
        self._parts: list[tuple[int, I64, I64, Bool, I64]] = []

    def add(self, shape: int, found: I64, measured: _Measured, groups: list[bytes], which: I64) -> None:
        """Take one shape's messages; `groups[which[i]]` is the group of message i."""
        numbers = np.array([self._groups.setdefault(group, len(self._groups)) for group in groups])
        new, there = measured.codes(found[2])
        self._parts.append((shape, found, new, there, numbers[which]))

    def messages(self) -> Messages:
        """Return all of them by cause, then shape. Cost: nothing for one shape, a merge for several."""
        parts = self._parts
        empty = np.empty((FIELDS, 0), np.int64)
        found = _joined([part[1] for part in parts], empty)
        shape = _joined([np.full(part[1].shape[1], part[0]) for part in parts], empty[0])
        new = _joined([part[2] for part in parts], empty[0])
        there = _joined([part[3] for part in parts], empty[0].astype(np.bool_))
        group = _joined([part[4] for part in parts], empty[0])
        if len(parts) > 1:
            order = np.argsort(found[0], kind="stable")
            found, shape, new = found[:, order], shape[order], new[order]
            there, group = there[order], group[order]
        _, _, _, lo_min, lo_max, hi_min, hi_max = found
        cause, shape32, group32 = (column.astype(np.int32) for column in (found[0], shape, group))
        return Messages(
            list(self.shapes), list(self._groups), cause, shape32, group32, new, there, lo_min, lo_max, hi_min, hi_max
        )


def _joined(parts: list[npt.NDArray[Any]], empty: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the parts end to end; a single one as it is."""
    return parts[0] if len(parts) == 1 else np.concatenate([empty, *parts], axis=-1)


def warm() -> None:
    """Compile or load every kernel of the operator, and refuse further specialisations of them.

    A daemon calls it before it forks workers, so that none of them compiles; afterwards a kernel called with
    arrays of another type raises TypeError instead of compiling inside a batch. Cost: 8 s the first time on a
    machine, 0.2 s from numba's cache, which is where the caller's NUMBA_CACHE_DIR says.
    """
    text, number = ColumnType(Kind.VARCHAR), ColumnType(Kind.BIGINT)
    columns = (Column("id", number, False), Column("g", text), Column("x", number), Column("y", number))
    operator = RangeExtremum(Relation("warm", columns, ("id",), "warm"))
    shape = Shape("warm", "min", "y", ("g",), "x")
    operator.listen([shape])
    for x in range(2):
        codes, valid = np.full((4, 2), x, np.int64), np.ones((4, 2), np.bool_)
        live, partition, offset = np.ones(2, np.bool_), np.zeros(2, np.int32), np.zeros(2, np.int64)
        operator.apply(ChangeBatch([b"1", b"2"], live, codes, valid, {1: ["g", "g"]}, partition, offset))
    operator.snapshot([Region(shape, group_key(("g",)))])
    for kernel in (*byte_table.ENTRIES, *row_store.ENTRIES, *ordering.ENTRIES, *a2b_tree.ENTRIES):
        if isinstance(kernel, Dispatcher):
            kernel.disable_compile()


def _texts(relation: Relation) -> tuple[int, ...]:
    return tuple(i for i, column in enumerate(relation.columns) if not column.type.coded)


def _run(layout: Layout, measured: _Measured, replay: Replay) -> I64:
    """Run the changes that touch one measure in one ordering through its tree."""
    y = np.append(measured.y, ABSENT)
    slot = np.where(y[:-1] != ABSENT, layout.slot, -1)
    slot = np.append(slot, -1)
    slot_old, slot_new = slot[replay.before], slot[replay.after]
    y_old, y_new = y[replay.before], y[replay.after]
    cause = np.flatnonzero((slot_old != slot_new) | (y_old != y_new))
    if not len(cause):
        return np.empty((FIELDS, 0), np.int64)
    stored = layout.version < replay.rows
    leaves = np.where(stored, y[layout.version], ABSENT)
    tree = A2BTree(layout, leaves)
    return tree.replay(cause, slot_old[cause], y_old[cause], slot_new[cause], y_new[cause])
