"""What virtual edges want of joins: which rows of each table may stand in a joined row that somebody asks for.

    SELECT ... FROM filing f JOIN quote q ON f.symbol = q.symbol WHERE f.kind = '8-K' AND q.price BETWEEN 5 AND 9

    position 0   filing   kind = '8-K'            equal (kind)   range -        boxes of hash('8-K')
    position 1   quote    5 <= price <= 9         equal ()       range price    boxes of (5, 9)

A region is projected to each position (Joins paper, 2.3, relaxation into selections: here it prunes what the closure
of a join finds, `join_closure.py`). Of a conjunction there: each column that has to be one value is an equality,
the first other one with order codes is the range, by its hull. All else only loses precision, as what holds NULL does.
`state/boxes.py` covers the points (lo, hi) of each kind: never a false negative.

Boxes only widen; what an edge withdraws is forgotten. A region that no row can meet widens nothing.
Cost: 15 us a region, and `Boxes.widen` for each kind and batch of regions. A join may have `MAX_KINDS` kinds at a
position of a virtual edge; after these its regions want all rows there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np

from catalog.query.channel import ImageChannel
from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import decode_terms
from catalog.query.shape import Region
from catalog.query.value_set import ValueSet
from catalog.schema.join import Join, join_of_name, place_of
from catalog.schema.relation import Relation
from catalog.types.column_type import Kind as TypeKind
from catalog.types.order_key import after
from operators.channel_binding import OrderingKey
from operators.equality_hashes import equality_hashes, text_code
from operators.first_rows import columns_of
from operators.join_walk import sought
from state.boxes import Boxes
from state.errors import StateError
from state.order_code import INT64_MAX, INT64_MIN

MAX_KINDS = 16


class Kind(msgspec.Struct, frozen=True, order=True, array_like=True):
    """Boxes of one kind: of the table at `position`, by its columns `equal` and `range` ('' for none)."""

    position: int
    equal: tuple[str, ...]
    range: str


class _Stored(msgspec.Struct, array_like=True):
    boxes: list[tuple[Kind, bytes]]
    columns: list[str]


@dataclass(slots=True)
class Interest:
    """What one virtual edge wants of one join. `columns` are those of the join that it compares or shows."""

    boxes: dict[Kind, Boxes] = field(default_factory=dict)
    columns: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Points:
    """Regions as they are seen at a position: the values of equalities, and a range."""

    values: list[tuple[int, ...]] = field(default_factory=list)
    lo: list[int] = field(default_factory=list)
    hi: list[int] = field(default_factory=list)


class JoinInterests:
    """Interests by join and virtual edge."""

    __slots__ = ("_by_join", "_told")

    def __init__(self) -> None:
        self._by_join: dict[str, dict[int, Interest]] = {}
        self._told: dict[str, list[str]] = {}

    def widen(self, ve: int, regions: Sequence[Region], relation: Relation) -> None:
        """Let virtual edge `ve` want what `regions`, filters of the join `relation`, need too.

        Raises ValueError for terms that are not sound.
        """
        met = [region for region in regions if not region.empty]
        if not met:
            return
        self._told.clear()
        interest = self._by_join.setdefault(relation.name, {}).setdefault(ve, Interest())
        for shape in {id(region.shape): region.shape for region in met}.values():
            assert isinstance(shape, FilterShape)
            interest.columns |= columns_of(shape)
        for kind, points in _points(met, relation, set(interest.boxes)).items():
            columns = np.array(points.values, np.int64).reshape(len(points.lo), len(kind.equal))
            hashes = equality_hashes(list(columns.T), len(columns))
            bounds = (np.array(points.lo, np.int64), np.array(points.hi, np.int64)) if kind.range else (None, None)
            interest.boxes[kind] = interest.boxes.get(kind, Boxes.none()).widen(hashes, *bounds)

    def withdraw(self, ve: int, channel: ImageChannel) -> None:
        """Forget what a virtual edge wants of a join; one that it does not follow is passed over."""
        self._told.clear()
        edges = self._by_join.get(channel.relation, {})
        edges.pop(ve, None)
        if not edges:
            self._by_join.pop(channel.relation, None)

    def keep(self, there: Callable[[Join], bool]) -> None:
        """Forget what is wanted of joins that are not there."""
        for join in self.joins():
            if not there(join):
                self._told.clear()
                del self._by_join[join.name]

    def joins(self) -> list[Join]:
        """Return the joins that somebody follows, by name."""
        return [join for name in sorted(self._by_join) if (join := join_of_name(name)) is not None]

    def of(self, join: Join) -> Mapping[int, Interest]:
        """Return what each virtual edge wants of a join."""
        return self._by_join.get(join.name, {})

    def told(self, table: str) -> list[str]:
        """Return the columns of a table that followed joins compare or show, sorted: those that edges are sent."""
        if table not in self._told:
            shown = (
                (join.tables[position], column)
                for join in self.joins()
                for position, column in map(place_of, set().union(*(each.columns for each in self.of(join).values())))
            )
            self._told[table] = sorted({column for name, column in shown if name == table})
        return self._told[table]

    def needed(self, table: str) -> list[str]:
        """Return the columns of a table that followed joins join by, compare or show, sorted.

        A change of a row that these do not show is none.
        """
        places = (place for join in self.joins() for each in join.classes for place in _tables(join, each))
        return sorted({*self.told(table), *(column for name, column in places if name == table)})

    def orderings(self, table: str, relation: Relation) -> set[OrderingKey]:
        """Return the orderings by which rows of a table are found, to be kept from batch to batch."""
        steps = (step for join in self.joins() for step in sought(join))
        return {(tuple(relation.index(name) for name in columns), None) for name, columns in steps if name == table}

    def dump(self) -> bytes:
        """Return all of it as bytes, the same for the same interests."""
        stored = {
            name: {ve: _stored(interest) for ve, interest in sorted(edges.items())}
            for name, edges in sorted(self._by_join.items())
        }
        return msgspec.msgpack.encode(stored)

    @classmethod
    def load(cls, data: bytes) -> JoinInterests:
        """Read what `dump` wrote. Raises StateError for anything else."""
        interests = cls()
        try:
            stored = msgspec.msgpack.decode(data, type=dict[str, dict[int, _Stored]])
        except msgspec.MsgspecError as error:
            raise StateError(f"cannot read interests in joins ({len(data)} bytes): {error}") from error
        for name, edges in stored.items():
            if join_of_name(name) is None:
                raise StateError(f"cannot read interests in joins: {name!r} is the name of no join")
            interests._by_join[name] = {
                ve: Interest({kind: Boxes.load(boxes) for kind, boxes in each.boxes}, set(each.columns))
                for ve, each in edges.items()
            }
        return interests


def _stored(interest: Interest) -> _Stored:
    return _Stored([(kind, boxes.dump()) for kind, boxes in sorted(interest.boxes.items())], sorted(interest.columns))


def _tables(join: Join, places: Sequence[tuple[int, str]]) -> Iterator[tuple[str, str]]:
    """Yield table and name of columns of a join."""
    for position, column in places:
        yield join.tables[position], column


def _points(regions: Sequence[Region], relation: Relation, known: set[Kind]) -> dict[Kind, _Points]:
    """Return regions as each position sees them, by kind; `known` are the kinds that there are."""
    join = join_of_name(relation.name)
    assert join is not None
    tested = {id(region.shape): _tested(region, relation) for region in regions}
    kinds, found = set(known), dict[Kind, _Points]()
    for region in regions:
        for box in decode_terms(region.terms):
            by_position: dict[int, list[tuple[str, bool, ValueSet]]] = {}
            for place, values in box.items():
                position, name, kind = tested[id(region.shape)][place]
                by_position.setdefault(position, []).append((name, kind is TypeKind.VARCHAR, values))
            for position in range(len(join.tables)):
                _enter(position, by_position.get(position, []), kinds, found)
    return found


def _tested(region: Region, relation: Relation) -> list[tuple[int, str, TypeKind]]:
    assert isinstance(region.shape, FilterShape)
    return [(*place_of(name), relation.column(name).type.kind) for name in region.shape.tested]


def _enter(
    position: int, conditions: Sequence[tuple[str, bool, ValueSet]], kinds: set[Kind], found: dict[Kind, _Points]
) -> None:
    """Enter a conjunction of conditions on one table; one of a kind too many as any row."""
    equal: list[tuple[str, int]] = []
    range_, lo, hi = "", INT64_MIN, INT64_MAX
    for name, text, values in conditions:
        value = _one_value(values, text)
        if value is not None:
            equal.append((name, value))
        elif not range_ and values.intervals and not values.null and isinstance(values.intervals[0][0], int):
            range_, lo, hi = name, values.intervals[0][0], int(values.intervals[-1][1])
    equal.sort()
    kind = Kind(position, tuple(name for name, _ in equal), range_)
    if kind not in kinds and sum(each.position == position for each in kinds) >= MAX_KINDS:
        kind, equal, lo, hi = Kind(position, (), ""), [], INT64_MIN, INT64_MAX
    kinds.add(kind)
    points = found.setdefault(kind, _Points())
    points.values.append(tuple(value for _, value in equal))
    points.lo.append(lo)
    points.hi.append(hi)


def _one_value(values: ValueSet, text: bool) -> int | None:
    """Return the only value of a set, as `equality_hashes` takes it, None where there are others."""
    if values.null or len(values.intervals) != 1:
        return None
    lo, hi = values.intervals[0]
    if isinstance(lo, int):
        return lo if lo == hi else None
    return text_code(lo) if text and hi == after(lo) else None
