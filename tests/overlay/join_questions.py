"""Joins of all forms over three small tables full of ties and NULLs, and records that change them.

Behind them joins as users write them, over the tables of `edge_world.py`, for the machine of virtual edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from hypothesis import strategies as st

from catalog.query.compiler import Compiler
from catalog.query.filter_shape import FilterShape
from catalog.query.shape import Region
from catalog.schema.catalog import Catalog
from catalog.schema.cell import Cell
from catalog.schema.join import Join
from catalog.schema.relation import Column, Relation
from catalog.sql.notify import Notify
from catalog.types.column_type import ColumnType, Kind
from tests.oracle.naive_answer import Naive, Row
from tests.oracle.naive_cell import Caused, Part
from tests.oracle.naive_edge import Wanted
from tests.oracle.naive_filter import Truth, Where, met
from tests.overlay.edge_world import table
from tests.overlay.filter_questions import atoms

_TYPES = {"id": Kind.VARCHAR, "k": Kind.BIGINT, "j": Kind.BIGINT, "x": Kind.BIGINT, "s": Kind.VARCHAR}
TABLES = ("r", "s", "t")
RELATIONS = [
    Relation(name, tuple(Column(one, ColumnType(kind), one != "id") for one, kind in _TYPES.items()), ("id",), name)
    for name in TABLES
]
IDS = "pqv"
SHOWN = ("id", "k", "x", "s")


def _join(tables: str, *equal: str) -> Join:
    """Return the join of tables, `0k 1k` saying that two columns are equal."""
    pairs = [tuple((int(one[0]), one[1:]) for one in pair.split()) for pair in equal]
    return Join.of(tables, pairs)[0]  # type: ignore[arg-type]


FORMS = {
    "two": _join("rs", "0k 1k"),
    "two keys": _join("rs", "0k 1k", "0j 1j"),
    "across": _join("rs", "0k 1j"),
    "twice": _join("rs", "0k 1k", "0k 1j"),
    "texts": _join("st", "0s 1s"),
    "itself": _join("rr", "0k 1k"),
    "itself across": _join("rr", "0k 1j"),
    "chain": _join("rst", "0k 1k", "1j 2j"),
    "star": _join("srt", "0k 1k", "1j 2j"),
    "triangle": _join("rst", "0k 1k", "1j 2j", "0s 2s"),
    "wide": _join("rst", "0k 1k", "1k 2k"),
    "chain of itself": _join("rrs", "0k 1j", "1k 2k"),
    "thrice itself": _join("rrr", "0k 1k", "1j 2j"),
    "four": _join("rstr", "0k 1k", "1j 2j", "2k 3k", "0s 3s"),
}
joins = st.sampled_from(sorted(FORMS)).map(FORMS.__getitem__)


def _row(source: Random, key: str) -> Row:
    numbers = {name: source.choice([0, 1, 1, 1, 1, None]) for name in ("k", "j", "x")}
    return {"id": key, **numbers, "s": source.choice(["a", "a", "ab", None])}


def _parts(source: Random) -> tuple[Part, ...]:
    """What one record does: a row is set or deleted, a key changes, a table is emptied."""
    table, kind = source.choice(TABLES), source.randrange(20)
    if kind == 0:
        return tuple((table, key, None) for key in IDS)
    key = source.choice(IDS)
    if kind == 1:
        return (table, source.choice(IDS), None), (table, key, _row(source, key))
    return ((table, key, None if kind < 5 else _row(source, key)),)


def batches(*bounds: tuple[int, int]) -> st.SearchStrategy[list[list[Caused]]]:
    """The records of batches that have so many, at offsets 100, 101 ... of their topics.

    Drawn by one number: what is drawn row by row, or batch by batch, repeats itself, so that nearly nothing changes.
    """
    return st.integers(0, 2**32).map(lambda seed: _batches(Random(seed), bounds))


def _batches(source: Random, bounds: Sequence[tuple[int, int]]) -> list[list[Caused]]:
    return [_causes([_parts(source) for _ in range(source.randint(*bound))]) for bound in bounds]


def _causes(made: Sequence[tuple[Part, ...]]) -> list[Caused]:
    return [Caused(one, f"topic-{one[0][0]}", i % 2, 100 + i) for i, one in enumerate(made)]


CELLS = (("t",), ("t", "u"))
_ALL = Compiler(
    Catalog(
        1,
        {name: table(name, 0, extra=True) for name in "tu"},
        cells={cell.name: cell for cell in (Cell(tables, 1) for tables in CELLS)},
    )
)
_FROM = (
    "t a JOIN u b ON a.g = b.g",
    "u b JOIN t a ON b.x = a.g",
    "t a JOIN u b ON a.s = b.s AND b.g = a.g",
    "t a JOIN t b ON a.g = b.g",
    "t b JOIN t a ON a.g = b.x",
    "t a JOIN u b ON a.m = b.m AND a.m = b.x",
    "t a JOIN u b ON a.w = b.w JOIN t c ON b.g = c.x",
    "u c JOIN t a ON a.g = c.g JOIN u b ON a.x = b.m",
)


@dataclass(frozen=True)
class _InRegion(Where):
    """Whether a joined row is in the boxes that the statement was compiled to: what these mean is tested elsewhere."""

    region: Region | None = None

    def truth(self, naive: Naive, row: Row) -> Truth:
        assert self.region is not None
        return not self.region.empty and met(naive, self.region, row)


@st.composite
def joined_rows(draw: st.DrawFn) -> Wanted:
    """A question for rows of a join."""
    tables = draw(st.sampled_from(_FROM))
    called = [name for name in "abc" if f" {name} " in f"{tables} "]
    column = st.sampled_from(["k", "g", "m", "m", "s", "w", "x", "e"])
    items = draw(st.lists(st.tuples(st.sampled_from(called), column).map(".".join), min_size=1, max_size=3))
    conditions = [f"{draw(st.sampled_from(called))}.{one.sql}" for one in draw(st.lists(atoms(), max_size=2))]
    notify = draw(st.sampled_from(["every", "every", "latest"]))
    ttl, bare = draw(st.sampled_from([None] * 7 + [2, 9])), draw(st.integers(0, 5)) == 0
    sql = f"SELECT {', '.join(items)} FROM {tables}{' WHERE ' if conditions else ''}{' AND '.join(conditions)}"
    sql += (" NOTIFY LATEST" if notify == "latest" else "") + ("" if ttl is None else f" TTL {ttl} SECONDS")
    sql += draw(st.sampled_from(["", "", " DELIVER PUSH"])) + (" SNAPSHOT NONE" if bare else "")
    region = _ALL.compile(sql).region
    assert isinstance(region.shape, FilterShape)
    columns = {*region.shape.shown, *region.shape.tested}
    where = _InRegion("region", region=region)
    return Wanted(sql, region, "", tuple(sorted(columns)), Notify(notify), ttl, where, bare)
