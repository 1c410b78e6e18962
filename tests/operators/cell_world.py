"""A cell's copies without a shard: rows, orderings and interests, batch by batch; small tables full of ties.

Tables r, s and t have id, k, j, x, y, v. Joins have the twelve forms: two tables, by two columns, across columns, one
column equal to two, a table with itself, chains, stars, a triangle, one class over three tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random

import numpy as np

from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import encode_terms
from catalog.query.shape import Region
from catalog.query.value_set import ValueSet
from catalog.schema.catalog import Catalog
from catalog.schema.join import Join, Place, column_name
from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from catalog.types.order_key import after, order_key
from operators.batch_view import BatchView
from operators.cell_view import CellView
from operators.exact_units import units_of_one
from operators.join_interest import JoinInterests
from state.change_batch import ChangeBatch
from state.order_code import INT64_MAX, INT64_MIN, code_of_double
from state.ordering import Ordering
from state.row_store import RowStore
from tests.oracle.join_twin import Change, relation_of
from tests.oracle.naive_first_rows import Row, Scalar

TABLES = ("r", "s", "t")
NAMES = ("id", "k", "j", "x", "y", "v")
BIGINT, TEXT = ColumnType(Kind.BIGINT), ColumnType(Kind.VARCHAR)
WIDE, DECIMAL, DOUBLE = ColumnType(Kind.DECIMAL, 20, 2), ColumnType(Kind.DECIMAL, 6, 1), ColumnType(Kind.DOUBLE)
KEY_TYPES = (
    (BIGINT, BIGINT, BIGINT),
    (BIGINT, ColumnType(Kind.SMALLINT), ColumnType(Kind.DECIMAL, 9, 0)),
    (TEXT, TEXT, TEXT),
    (BIGINT, DOUBLE, DECIMAL),
    (WIDE, DECIMAL, WIDE),
    (ColumnType(Kind.DECIMAL, 30, 1), WIDE, BIGINT),
)
"""Of the columns k, j and v in each table: those that joins compare."""
FORMS = (
    "two", "two", "two keys", "self", "chain", "star", "triangle", "wide", "across", "twice", "self chain", "four",
)  # fmt: skip
_TEXTS = ("", "a", "é", "b", "c", "d", "e")
PARTITIONS = 70
EDGES = (0, 1, 69)
"""The virtual edges that ask for something: their bits stand in two words."""


def catalog_of(types: Sequence[ColumnType]) -> Catalog:
    """Return the three tables, whose k, j and v have these types."""
    relations = {}
    for name, type_ in zip(TABLES, types, strict=True):
        kinds = {"id": BIGINT, "x": BIGINT, "y": TEXT}
        columns = tuple(Column(column, kinds.get(column, type_), column != "id") for column in NAMES)
        relations[name] = Relation(name, columns, ("id",), f"topic of {name}")
    return Catalog(0, relations)


def stored(type_: ColumnType, half: int) -> Scalar:
    """Return half / 2 as a column of this type stores it; where it has no halves, half."""
    if type_.kind is Kind.VARCHAR:
        return _TEXTS[half]
    if type_.kind is Kind.DOUBLE:
        return code_of_double(half / 2)
    unit = Fraction(half, 2) * units_of_one(type_)
    number = unit.numerator if unit.denominator == 1 else half
    if type_.coded:
        return number
    text = str(number).rjust(type_.scale + 1, "0")
    return f"{text[: -type_.scale]}.{text[-type_.scale :]}"


def draw_join(rng: Random, form: str) -> tuple[list[str], list[tuple[Place, Place]]]:
    """Return tables and the columns that must be equal."""
    one = rng.choice(TABLES)
    other = rng.choice(TABLES)
    return {
        "two": (["r", "s"], [((0, "k"), (1, "k"))]),
        "two keys": (["r", "s"], [((0, "k"), (1, "k")), ((0, "j"), (1, "j"))]),
        "across": (["r", "s"], [((0, "k"), (1, "j"))]),
        "twice": (["r", "s"], [((0, "k"), (1, "k")), ((0, "k"), (1, "j"))]),
        "self": ([one, one], [((0, "k"), (1, rng.choice("kj")))]),
        "chain": (["r", "s", "t"], [((0, "k"), (1, "k")), ((1, "j"), (2, "j"))]),
        "star": (["s", "r", "t"], [((0, "k"), (1, "k")), ((0, "j"), (2, "j"))]),
        "triangle": (["r", "s", "t"], [((0, "k"), (1, "k")), ((1, "j"), (2, "j")), ((0, "v"), (2, "v"))]),
        "wide": (["r", "s", "t"], [((0, "k"), (1, "k")), ((1, "k"), (2, "k"))]),
        "self chain": (["r", "r", other], [((0, "k"), (1, "j")), ((1, "k"), (2, "k"))]),
        "four": (["r", "s", "s", "t"], [((0, "k"), (1, "k")), ((0, "k"), (2, "j")), ((2, "v"), (3, "v"))]),
    }[form]


def draw_region(rng: Random, catalog: Catalog, top: int, keys: int) -> Region:
    """Return a filter of a join that is drawn."""
    join, _ = Join.of(*draw_join(rng, rng.choice(FORMS)))
    relation = relation_of(catalog, join)
    shown = [(rng.randrange(len(join.tables)), rng.choice(NAMES)) for _ in range(rng.randint(1, 4))]
    boxes = [_draw_box(rng, relation, len(join.tables), top, keys) for _ in range(rng.choice((1, 1, 1, 2)))]
    places = sorted({place for box in boxes for place in box})
    terms = encode_terms([{places.index(place): values for place, values in box.items()} for box in boxes])
    tested = tuple(column_name(place) for place in places)
    shape = FilterShape(join.name, tuple(map(column_name, shown)), (), tested, (), ())
    return Region(shape, b"[]", empty=rng.random() < 0.05, terms=terms)


def _draw_box(rng: Random, relation: Relation, tables: int, top: int, keys: int) -> dict[Place, ValueSet]:
    box: dict[Place, ValueSet] = {}
    for position in range(tables):
        if rng.random() < 0.7:
            lo, hi = sorted((rng.randint(-1, top + 1), rng.randint(-1, top + 1)))
            lo, hi = (INT64_MIN if rng.random() < 0.1 else lo), (INT64_MAX if rng.random() < 0.1 else hi)
            box[position, "x"] = ValueSet.of([(lo, hi)], rng.random() < 0.1)
        if rng.random() < 0.25:
            name = rng.choice(("y", "v", "k"))
            type_ = relation.column(column_name((position, name))).type
            values = [stored(type_, rng.randint(0, keys)) for _ in range(rng.choice((1, 1, 2)))]
            box[position, name] = ValueSet.of([_point(type_, value) for value in values], rng.random() < 0.1)
    return box  # type: ignore[return-value]


def _point(type_: ColumnType, value: Scalar) -> tuple[int, int] | tuple[bytes, bytes]:
    if isinstance(value, str):
        key = order_key(type_, value)
        return key, after(key)
    assert value is not None
    return value, value


def draw_parts(rng: Random, catalog: Catalog, tables: dict[str, dict], top: int, keys: int) -> list[Change]:
    """Return one publication: an upsert, a change of some columns, a delete; now and then of several rows."""
    table = rng.choice(TABLES)
    if rng.random() < 0.05 and tables[table]:
        return [(table, key, None) for key in tables[table]]  # a truncate
    key, roll = rng.randrange(6), rng.random()
    if roll < 0.25:
        return [(table, key, None)]
    drawn = _draw_row(rng, catalog.relations[table], key, top, keys)
    old = tables[table].get(key)
    if old is not None and roll < 0.7:
        drawn = {**old, **{name: drawn[name] for name in rng.sample(NAMES[1:], rng.randint(0, 2))}}
    if rng.random() < 0.05:
        return [(table, rng.randrange(6), None), (table, key, drawn)]  # a primary key that changed
    return [(table, key, drawn)]


def _draw_row(rng: Random, relation: Relation, key: int, top: int, keys: int) -> Row:
    def value(column: Column) -> Scalar:
        if rng.random() < 0.06:
            return None
        most = top if column.name == "x" else keys
        return stored(column.type, rng.randint(0, most))

    return {column.name: key if column.name == "id" else value(column) for column in relation.columns}


@dataclass
class CellWorld:
    """The copies of a cell of r, s and t."""

    catalog: Catalog
    interests: JoinInterests = field(default_factory=JoinInterests)
    rows: dict[str, RowStore] = field(default_factory=dict)
    orderings: dict[str, dict] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, relation in self.catalog.relations.items():
            texts = tuple(i for i, column in enumerate(relation.columns) if not column.type.coded)
            self.rows[name] = RowStore(len(relation.columns), texts)
            self.orderings[name] = {}

    def view(self, publications: Sequence[Sequence[Change]]) -> CellView:
        """Return what a batch of these publications sees."""
        batches, places, views = [], [], []
        for name, relation in self.catalog.relations.items():
            mine = [
                (at, key, row) for at, parts in enumerate(publications) for table, key, row in parts if table == name
            ]
            batches.append(_batch(relation, mine))
            places.append(np.array([at for at, _, _ in mine], np.int64))
            views.append(self._view(relation, batches[-1]))
        return CellView.of(TABLES, views, batches, places)

    def commit(self, view: CellView) -> None:
        """Take a batch over."""
        for of in view.views:
            layouts = {key: of.layout(key) for key in of.orderings}
            of.rows.commit(of.replay)
            for key, order in of.orderings.items():
                order.commit(layouts[key], of.replay)
                order.check(of.rows.still())

    def _view(self, relation: Relation, batch: ChangeBatch) -> BatchView:
        store, kept = self.rows[relation.name], self.orderings[relation.name]
        for key in self.interests.orderings(relation.name, relation):
            if key not in kept:
                kept[key] = Ordering.of(*key, store.still())
        return BatchView(relation, store, kept, store.replay(batch))


def _batch(relation: Relation, changes: Sequence[tuple[int, object, Row | None]]) -> ChangeBatch:
    """Lay out changes as a decoder does; `at` is the number of each one's publication."""
    m, c = len(changes), len(relation.columns)
    codes, valid = np.zeros((c, m), np.int64), np.zeros((c, m), np.bool_)
    texts: dict[int, list[str | None]] = {i: [None] * m for i, col in enumerate(relation.columns) if not col.type.coded}
    for i, (_, _, row) in enumerate(changes):
        for column, name in enumerate(col.name for col in relation.columns):
            value = None if row is None else row[name]
            valid[column, i] = value is not None
            if isinstance(value, str):
                texts[column][i] = value
            else:
                codes[column, i] = value or 0
    at = np.array([at for at, _, _ in changes], np.int64)
    live = np.array([row is not None for _, _, row in changes], np.bool_)
    keys = [f"{key}".encode() for _, key, _ in changes]
    cause = np.unique(at, return_inverse=True)[1].astype(np.int32)
    return ChangeBatch(keys, live, codes, valid, dict(texts), (at % 2).astype(np.int32), at * 10, cause=cause)
