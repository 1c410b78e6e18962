"""The catalog that tests of joins compile against, and statements over it: drawn as what they say, then spelled."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import product

from catalog.ddl.statements import apply_ddl
from catalog.query.compiler import Compiler
from catalog.query.shape import Region
from catalog.schema.catalog import Catalog
from catalog.schema.join import Place

DDL = """
CREATE TABLE quote (id BIGINT PRIMARY KEY, symbol VARCHAR, price DECIMAL(12,2), volume INTEGER, day DATE);
CREATE TABLE filing (id INTEGER PRIMARY KEY, symbol VARCHAR, kind VARCHAR, day DATE, open BOOLEAN, weight DOUBLE);
CREATE TABLE sector (name VARCHAR, "Rank" SMALLINT, symbol VARCHAR, PRIMARY KEY (symbol, name));
CREATE TABLE office (town VARCHAR PRIMARY KEY, sector VARCHAR, staff DECIMAL(6,0), at TIMESTAMP);
"""
TABLES = ("quote", "filing", "sector", "office")
BARE = apply_ddl(Catalog(), DDL, 0)
"""Without cells."""
CATALOG = apply_ddl(
    BARE,
    "; ".join(
        f"CREATE JOIN {', '.join(table for table, taken in zip(TABLES, which, strict=True) if taken)}"
        for which in product((True, False), repeat=4)
        if any(which)
    ),
    1,
)
KINDS = {
    "text": ["quote.symbol", "filing.symbol", "filing.kind", "sector.symbol", "sector.name", "office.sector",
             "office.town"],
    "number": ["quote.id", "quote.price", "quote.volume", "filing.id", "filing.weight", "sector.Rank", "office.staff"],
    "day": ["quote.day", "filing.day"],
}  # fmt: skip
"""Columns that may be equal."""
CONDITIONS = {
    "quote": ["{q}price BETWEEN {n} AND {n}", "{q}volume = {n}", "({q}price > {n} OR {q}volume IS NULL)",
              "{q}symbol IN ('a', 'b')", "NOT ({q}symbol = 'a' AND {q}day = '2026-03-01')", "{q}id <> {n}"],
    "filing": ["{q}kind = 'a'", "{q}weight < {n}", "{q}open", "({q}id > {n} OR {q}kind LIKE 'a%' OR {q}kind IS NULL)",
               "{q}symbol IS NOT NULL", "{q}day >= DATE '2026-03-02'", "{n} <= {q}weight"],
    "sector": ['{q}"Rank" >= {n}', "{q}name NOT IN ('c', NULL)", '({q}"Rank" = {n} OR {q}"Rank" = {n})',
               "starts_with({q}symbol, 'a')", "{q}symbol > ''"],
    "office": ["{q}town BETWEEN 'a' AND 'b'", "NOT {q}staff = {n}", "{q}at < '2026-03-02 12:00:00'", "{q}staff <= {n}"],
}  # fmt: skip


def compiler(catalog: Catalog = CATALOG) -> Compiler:
    return Compiler(catalog)


def region(sql: str) -> Region:
    return compiler().compile(sql).region


def written(name: str) -> str:
    return f'"{name}"' if name != name.lower() else name


@dataclass(frozen=True)
class Asked:
    """A question: its tables, columns that are equal, conditions of a table with `{q}` for its name, columns shown."""

    tables: tuple[str, ...]
    classes: tuple[tuple[Place, ...], ...]
    conditions: tuple[tuple[int, str], ...]
    shown: tuple[Place, ...]

    def spelled(self, source: random.Random) -> str:
        """One of its spellings: tables in another order, by other names, equalities turned, in ON and in WHERE."""
        names = [f"{source.choice('xyz')}{i}" for i in source.sample(range(9), len(self.tables))]
        if len(set(self.tables)) == len(self.tables) and source.random() < 0.3:
            names = list(self.tables)
        pairs = [pair for each in self.classes for pair in _spanning(each, source)]
        source.shuffle(pairs)
        order = self._order(pairs, source)
        on: dict[int, list[str]] = {}
        where = [text.format(q=f"{names[i]}.") for i, text in self.conditions]
        for one, other in pairs:
            sides = [f"{names[place[0]]}.{written(place[1])}" for place in (one, other)]
            source.shuffle(sides)
            last = max(order.index(one[0]), order.index(other[0]))
            said = on.setdefault(last, [])
            (where if said and source.random() < 0.4 else said).append(" = ".join(sides))
        source.shuffle(where)
        text = ""
        for i, at in enumerate(order):
            named = "" if names[at] == self.tables[at] else f"{source.choice([' ', ' AS '])}{names[at]}"
            word = f" {source.choice(['JOIN', 'INNER JOIN', 'join'])} " if i else ""
            text += f"{word}{self.tables[at]}{named}" + (f" ON {' AND '.join(on[i])}" if i else "")
        shown = ", ".join(f"{names[i]}.{written(column)}" for i, column in self.shown)
        return f"SELECT {shown} FROM {text}" + (f" WHERE {' AND '.join(where)}" if where else "")

    def _order(self, pairs: list[tuple[Place, Place]], source: random.Random) -> list[int]:
        """Tables in an order in which each but the first has an equality with one before it."""
        order = [source.randrange(len(self.tables))]
        while len(order) < len(self.tables):
            sides = [(one[0], other[0]) for pair in pairs for one, other in (pair, pair[::-1])]
            order.append(source.choice([b for a, b in sides if a in order and b not in order]))
        return order


def _spanning(members: tuple[Place, ...], source: random.Random) -> list[tuple[Place, Place]]:
    """Pairs of columns of different tables that make all members one class."""
    while True:
        left = list(members)
        source.shuffle(left)
        pairs, tied = [], [left.pop()]
        while left:
            fitting = [place for place in tied if place[0] != left[-1][0]]
            if not fitting:
                break
            pairs.append((left[-1], source.choice(fitting)))
            tied.append(left.pop())
        if not left:
            return pairs


def asked(source: random.Random) -> Asked:
    """Draw a question in which each table shows a column."""
    tables = tuple(source.choice(TABLES[:3] if i else TABLES) for i in range(source.choice([2, 2, 3, 4])))
    tied: dict[Place, Place] = {}
    for i in range(1, len(tables)):
        for _ in range(source.choice([1, 1, 2])):
            one, other = _equal(tables, source.randrange(i), i, source)
            _unite(tied, one, other)
    classes = [tuple(sorted(p for p in tied if _root(tied, p) == root)) for root in tied if tied[root] == root]
    conditions = []
    for i, table in enumerate(tables):
        for text in source.sample(CONDITIONS[table], source.choice([0, 1, 1, 2] if len(tables) == 2 else [0, 0, 0, 1])):
            while "{n}" in text:
                text = text.replace("{n}", source.choice(["0", "1", "2", "1.5", "-1"]), 1)
            conditions.append((i, text))
    shown = [(i, source.choice([c.name for c in BARE.relations[t].columns])) for i, t in enumerate(tables)]
    source.shuffle(shown)
    return Asked(tables, tuple(classes), tuple(conditions), tuple(shown))


def _equal(tables: tuple[str, ...], i: int, j: int, source: random.Random) -> tuple[Place, Place]:
    choices = [
        ((i, one.partition(".")[2]), (j, other.partition(".")[2]))
        for columns in KINDS.values()
        for one in columns
        for other in columns
        if one.startswith(tables[i] + ".") and other.startswith(tables[j] + ".")
    ]
    return source.choice(choices)


def _root(tied: dict[Place, Place], place: Place) -> Place:
    while tied[place] != place:
        place = tied[place]
    return place


def _unite(tied: dict[Place, Place], one: Place, other: Place) -> None:
    tied.setdefault(one, one)
    tied.setdefault(other, other)
    tied[_root(tied, one)] = _root(tied, other)
