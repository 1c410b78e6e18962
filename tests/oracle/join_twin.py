"""Joins by nested loops: all combinations of rows are looked at, after each publication anew.

A row is its values by column, as they are stored: order codes, texts, None. A publication is one cause: the changes of
one record, (table, primary key, row or None).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from fractions import Fraction

from catalog.query.shape import Region
from catalog.schema.catalog import Catalog
from catalog.schema.cell import Cell
from catalog.schema.join import Join, column_name, join_of_name, relation_of_join
from catalog.schema.relation import Relation
from catalog.types.column_type import ColumnType
from operators.exact_units import is_summable, unit_of, units_of_one
from tests.oracle.naive_first_rows import Row, Scalar, bag_of

Change = tuple[str, Hashable, Row | None]
Bag = Counter[tuple[Scalar, ...]]
Tables = Mapping[str, Mapping[Hashable, Row]]


def joined(catalog: Catalog, join: Join, tables: Tables) -> Iterator[Row]:
    """Yield the rows of a join, with the columns of its relation."""
    for rows in itertools.product(*(tables[name].values() for name in join.tables)):
        if all(_equal(catalog, join, rows, places) for places in join.classes):
            yield {column_name((p, column)): value for p, row in enumerate(rows) for column, value in row.items()}


def comparable(type_: ColumnType, value: Scalar) -> Fraction | int | str | None:
    """Return what a stored value is compared as with values of other types; None is equal to nothing."""
    if value is None or not is_summable(type_):
        return value
    return Fraction(unit_of(type_, value), units_of_one(type_))


def relation_of(catalog: Catalog, join: Join) -> Relation:
    """Return the join as a relation, whether or not a cell serves it."""
    cell = Cell(tuple(sorted(set(join.tables))), 0)
    return relation_of_join(join, cell, catalog.relations.__getitem__)


def answer(catalog: Catalog, region: Region, tables: Tables) -> Bag:
    """Return the rows that a filter of a join shows."""
    join = join_of_name(region.shape.relation)
    assert join is not None
    return bag_of(relation_of(catalog, join), region, joined(catalog, join, tables))


class JoinTwin:
    """Tables, and subscriptions by name with the bags that they hold."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.tables: dict[str, dict[Hashable, Row]] = {name: {} for name in catalog.relations}
        self.regions: dict[str, Region] = {}
        self.bags: dict[str, Bag] = {}

    def subscribe(self, name: str, region: Region) -> Bag:
        """Let a subscription begin; return its first answer."""
        self.regions[name] = region
        self.bags[name] = answer(self.catalog, region, self.tables)
        return self.bags[name]

    def end(self, name: str) -> None:
        """Let a subscription end."""
        del self.regions[name], self.bags[name]

    def publish(self, parts: Iterable[Change]) -> dict[str, tuple[Bag, Bag]]:
        """Let a publication take effect; return removed and added of each subscription whose bag is another one."""
        for table, key, row in parts:
            if row is None:
                self.tables[table].pop(key, None)
            else:
                self.tables[table][key] = row
        told = {}
        for name, region in self.regions.items():
            bag, held = answer(self.catalog, region, self.tables), self.bags[name]
            self.bags[name] = bag
            if bag != held:
                told[name] = held - bag, bag - held
        return told


def _equal(catalog: Catalog, join: Join, rows: tuple[Row, ...], places: Iterable[tuple[int, str]]) -> bool:
    values = [
        comparable(catalog.relations[join.tables[position]].column(column).type, rows[position][column])
        for position, column in places
    ]
    return None not in values and len(set(values)) == 1
