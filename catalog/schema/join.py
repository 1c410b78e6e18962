"""Joins as relations: what the rows of several tables make where their join columns are equal.

    quote q JOIN filing f ON q.symbol = f.symbol

    tables     (filing, quote)                          by name; a table that is joined with itself stands twice
    classes    (((0, symbol), (1, symbol)),)            columns that must be equal, by the position of their table
    columns    0.id  0.symbol  0.kind ...  1.id  1.symbol  1.price ...
    key        0.id  1.id                               a row is known by the keys of the rows that made it

A join is a relation, so what is asked of its rows is a filter of it (`catalog/query/filter_shape.py`), and is answered
as filters are: followed by images of its rows. Nobody stores these. The cell of its tables (`cell.py`) sends edges the
rows of the tables that changed, with their partners, and the edges make the images. All spellings of a join have one
form here, hence one name.

Views may stand beside tables. Their rows are made again in the cell of all tables that they read, and are sent as those
of tables are; the name of such a join says which tables these are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache
from itertools import permutations, product
from typing import Any

import msgspec

from catalog.schema.cell import Cell, cell_name
from catalog.schema.relation import Column, Relation

Place = tuple[int, str]
"""A column of a join: the position of its table, and its name there."""
MOST_TABLES = 4
"""Of one join."""
_MARK = '[["'
"""What the name of a join begins with, which no name of a table does."""


class Join(msgspec.Struct, frozen=True, order=True, array_like=True):
    """An inner equi-join of two to four tables or views; `Join.of` gives the form that all spellings share.

    over: where some are views, the tables that all of them read, sorted; () else.
    """

    tables: tuple[str, ...]
    classes: tuple[tuple[Place, ...], ...]
    over: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        tables: Iterable[str],
        equal: Iterable[tuple[Place, Place]],
        written: Callable[[tuple[int, ...]], Any] = lambda positions: (),
        over: tuple[str, ...] = (),
    ) -> tuple[Join, tuple[int, ...]]:
        """Return the canonical join of `tables` under `equal`, and the position in it that each table got.

        Columns that are equal to the same column are one class. Where a table stands twice, several positions may make
        the same join: chosen are those for which what is `written` of it is least, in the order of `tables` if it is
        alike. Cost: up to 24 forms are compared for four tables.
        """
        named, classes = list(tables), _classes(equal)
        forms = []
        for places in _orders(named):
            moved = tuple(sorted(tuple(sorted((places[p], column) for p, column in each)) for each in classes))
            forms.append((cls(tuple(sorted(named)), moved, over), written(places), places))
        join, _, positions = min(forms)
        return join, positions

    @property
    def name(self) -> str:
        """The name of the join as a relation: a JSON array of its members."""
        members = [self.tables, self.classes, self.over] if self.over else [self.tables, self.classes]
        return msgspec.json.encode(members).decode()

    @property
    def base(self) -> tuple[str, ...]:
        """The tables that it reads, also through views, sorted."""
        return self.over or tuple(sorted(set(self.tables)))

    @property
    def cell(self) -> str:
        """The name of the cell that serves it."""
        return cell_name(self.base)


def is_join(relation: str) -> bool:
    """Whether a relation of this name is a join, not a table. New tables may not be named so (`cell_ddl.py`)."""
    return relation.startswith(_MARK)


@lru_cache(4_096)
def join_of_name(name: str) -> Join | None:
    """Return the join whose relation has this name, None if no join's has it. Cost: 2 us, 0.1 us if seen lately."""
    if not is_join(name):
        return None
    try:
        join = msgspec.json.decode(name, type=Join)
    except msgspec.MsgspecError:
        return None
    return join if join.name == name else None


def column_name(place: Place) -> str:
    """Return what a column of a join is called in its relation."""
    return f"{place[0]}.{place[1]}"


def place_of(name: str) -> Place:
    """Return which column of which table a column of a join is."""
    position, _, column = name.partition(".")
    return int(position), column


def relation_of_join(join: Join, cell: Cell, table: Callable[[str], Relation]) -> Relation:
    """Return the join as a relation, served by `cell`. Raises KeyError where a table, view or column is not there.

    It was born with the newest of what it is made of: a view that is dropped and created again makes another one.
    """
    columns: list[Column] = []
    key: list[str] = []
    born = cell.born
    for position, name in enumerate(join.tables):
        relation = table(name)
        born = max(born, relation.born)
        columns += [_joined(position, column) for column in relation.columns]
        key += [column_name((position, column)) for column in relation.key]
    for place in (place for each in join.classes for place in each):
        table(join.tables[place[0]]).column(place[1])
    return Relation(join.name, tuple(columns), tuple(key), topic="", born=born, home=cell.name)


def _joined(position: int, column: Column) -> Column:
    of = column_name((position, column.of)) if column.of else ""
    return replace(column, name=column_name((position, column.name)), of=of)


def _classes(equal: Iterable[tuple[Place, Place]]) -> list[set[Place]]:
    classes: list[set[Place]] = []
    for pair in equal:
        met = [each for each in classes if each & set(pair)]
        classes = [each for each in classes if each not in met] + [set(pair).union(*met)]
    return classes


def _orders(tables: list[str]) -> Iterable[tuple[int, ...]]:
    """Yield the positions that tables may have: by name, those of one name in any order."""
    order = sorted(range(len(tables)), key=lambda i: tables[i])
    runs = [[i for i in order if tables[i] == name] for name in dict.fromkeys(tables[i] for i in order)]
    for choice in product(*(permutations(run) for run in runs)):
        standing = [i for run in choice for i in run]
        yield tuple(standing.index(i) for i in range(len(tables)))
