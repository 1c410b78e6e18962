"""A virtual edge on the bench with joins of quotes and filings: what their cell sends is made of records by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from catalog.query.compiler import Compiler
from catalog.query.filter_shape import FilterShape
from catalog.schema.catalog import Catalog
from catalog.schema.cell import Cell
from catalog.schema.join import Join, join_of_name, place_of
from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from operators.control import Progress
from operators.operator import Answers
from operators.packed import Header, pack_snapshot
from operators.reply import Reply, Rows, encode_row
from operators.wire.timeline import pack, split
from overlay.delivery.packed_deliveries import PACKED_KEY, lines_of
from overlay.index.join_index import JoinIndex
from tests.oracle.naive_answer import Naive
from tests.oracle.naive_cell import Caused, NaiveTimeline, Part, Tables, applied, joined
from tests.oracle.naive_filter import met
from tests.overlay.edge_bench import Bench

TEXT, NUMBER = ColumnType(Kind.VARCHAR), ColumnType(Kind.DECIMAL, 12, 2)
QUOTE = Relation(
    "quote", (Column("id", TEXT, False), Column("symbol", TEXT), Column("price", NUMBER)), ("id",), "quotes"
)
FILING = Relation(
    "filing", (Column("id", TEXT, False), Column("symbol", TEXT), Column("kind", TEXT)), ("id",), "filings"
)
TABLES = {"filing": FILING, "quote": QUOTE}
CELL = Cell(("filing", "quote"), 1)
SERVED, UNSERVED = {CELL.name: CELL}, {CELL.name: "32 are there already"}
CATALOGS = [
    Catalog(0, TABLES),
    Catalog(1, TABLES, cells=SERVED),
    Catalog(2, TABLES, unserved=UNSERVED),
    Catalog(3, {"quote": QUOTE}),
    Catalog(4, TABLES, cells={CELL.name: replace(CELL, born=4)}),
]
ASK = "SELECT q.price, f.kind FROM quote q JOIN filing f ON q.symbol = f.symbol WHERE q.price > 5"


def quote(key: str, symbol: str | None, price: int | None) -> Part:
    """A quote as it is now; prices are in hundredths."""
    return "quote", key, {"id": key, "symbol": symbol, "price": price}


def filing(key: str, symbol: str | None, kind: str | None) -> Part:
    """A filing as it is now."""
    return "filing", key, {"id": key, "symbol": symbol, "kind": kind}


class JoinBench(Bench):
    """Records stand in partition 3 of their table's topic, at offsets 100, 101 ..."""

    epoch = 5

    def __init__(
        self, catalog: int = 1, *there: Part, number: int = 0, partitions: int = 1, joins: JoinIndex | None = None
    ) -> None:
        super().__init__(number, partitions, catalogs=CATALOGS.__getitem__, joins=joins)
        self.catalog = catalog
        self.tables: Tables = applied({"filing": {}, "quote": {}}, there)
        self.causes = 100
        self.end(-1)

    def end(self, batch: int, catalog: int | None = None) -> None:
        """Say that a batch is committed, and what the catalog is from now on."""
        self.catalog = self.catalog if catalog is None else catalog
        if batch >= 0 or self.catalog:
            self.control(Progress(self.epoch, max(batch, 0), self.catalog, f"t{batch}"))

    def answer(self, batch: int, replies: Sequence[tuple[int, Reply]], chunk: int = 0, of: int = 1) -> None:
        """Give replies by version, as one chunk."""
        header = Header("snapshot", self.epoch, CELL.name, batch, chunk=chunk, of=of)
        nothing = np.zeros(len(replies), np.int64)
        versions = np.array([version for version, _ in replies], np.int64)
        answers = Answers(nothing, nothing > 0, {})
        self.give(pack_snapshot(header, versions, answers, {i: reply for i, (_, reply) in enumerate(replies)}))

    def start(self, sql: str = ASK, *rows: tuple[int | str | None, ...], name: str = "a", version: int = 0) -> None:
        """Subscribe and answer in batch 1."""
        self.ask(version, name, sql)
        self.take()
        self.answer(1, [(version, Rows(tuple(encode_row(row) for row in rows)))])
        self.end(1)

    def chunks(self, batch: int, *records: tuple[Part, ...], joins: Sequence[str] = (ASK,)) -> list[bytes]:
        """Return what the cell sends of records, to somebody who asks for these joins."""
        causes = [Caused(parts, TABLES[parts[0][0]].topic, 3, self.causes + i) for i, parts in enumerate(records)]
        self.causes += len(records)
        told: dict[str, set[str]] = {table: set() for table in TABLES}
        followed: dict[str, Join] = {}
        for sql in joins:
            join, columns = _needed(sql)
            followed[join.name] = join
            for position, column in map(place_of, columns):
                told[join.tables[position]].add(column)
        needed = {table: sorted(names) for table, names in told.items()}
        timeline = NaiveTimeline(list(TABLES.values()), list(followed.values()), needed).of(self.tables, causes)
        for parts in records:
            self.tables = applied(self.tables, parts)
        parts_of = list(split(timeline)) if len(timeline) else []
        return [
            pack(Header("rows", self.epoch, CELL.name, batch, chunk=i, of=len(parts_of)), part)
            for i, part in enumerate(parts_of)
        ]

    def answers(self, sql: str) -> list[tuple[int | str | None, ...]]:
        """Return the rows that answer a question now."""
        region = Compiler(CATALOGS[1]).compile(sql).region
        join, shape = join_of_name(region.shape.relation), region.shape
        assert join is not None and isinstance(shape, FilterShape)
        relation = CATALOGS[1].relation(join.name)
        assert relation is not None
        rows = [row for row in joined(join, self.tables).values() if met(Naive(relation), region, row)]
        return [tuple(row.get(name) for name in shape.shown) for row in rows]

    def records(self, batch: int, *records: tuple[Part, ...], joins: Sequence[str] = (ASK,)) -> None:
        """Give what the cell sends of a batch, and say that it is committed."""
        for value in self.chunks(batch, *records, joins=joins):
            self.give(value)
        self.end(batch)

    def give(self, value: bytes) -> None:
        """Give a chunk."""
        self.edge.notification(self.offset, CELL.name.encode(), value)
        self.offset += 1

    def told(self) -> list[dict[str, Any]]:
        """Return what was told in any form, but for progress."""
        ids = {b"a", *(b"%d" % i for i in range(10))}
        records = [*self.take().get("deliveries", []), *self.edge.pushed]
        values = []
        for record in records:
            if record.key == PACKED_KEY:
                values += [line for _, line in lines_of(record.value or b"", ids)]
            elif record.key != b"@progress" and record.value:
                values.append(record.value)
        return [msgspec.json.decode(value) for value in values]


def _needed(sql: str) -> tuple[Join, set[str]]:
    shape = Compiler(CATALOGS[1]).compile(sql).region.shape
    assert isinstance(shape, FilterShape)
    join = join_of_name(shape.relation)
    assert join is not None
    return join, {*shape.shown, *shape.tested}
