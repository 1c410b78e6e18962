"""Versions of views against DuckDB, which runs the text of each view over the rows behind every record."""

from __future__ import annotations

import random
from collections import Counter
from decimal import Decimal
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import examples
from tests.tidewire.verification.random_views import TABLES, Database, random_row, random_views
from tests.tidewire.verification.scratch import SCRATCH
from tidewire.verification.input.column import Column
from tidewire.verification.input.view_planner import planned
from tidewire.verification.input.view_source import Source
from tidewire.verification.recompute.history import FOREVER
from tidewire.verification.recompute.version import Version
from tidewire.verification.recompute.view_versions import versions_of

TYPES = {"p": ["INTEGER", "VARCHAR", "INTEGER", "BIGINT"], "q": ["INTEGER", "VARCHAR", "DECIMAL(4,1)", "DOUBLE"]}
NAMES = {"p": ["id", "g", "x", "y"], "q": ["id", "g", "x", "z"]}
SOURCES = {
    table: Source(
        tuple(Column(name, type, True) for name, type in zip(NAMES[table], TYPES[table], strict=True)), ("id",)
    )
    for table in TABLES
}


class History:
    """Versions of p and q, each record at a seq of its own."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.versions: dict[str, list[Version]] = {table: [] for table in TABLES}
        self._open: dict[tuple[str, int], tuple[int, tuple[Any, ...]]] = {}
        self.seq = 0

    def act(self, choose: random.Random) -> None:
        self.seq += 1
        table = choose.choice(["p", "q"])
        row = random_row(choose, table)
        self._close(table, row["id"])
        if choose.random() < 0.7:
            self.database.put(table, row)
            [stored] = self.database.connection.execute(f"SELECT * FROM {table} WHERE id = {row['id']}").fetchall()
            self._open[table, row["id"]] = self.seq, stored
        else:
            self.database.delete(table, row["id"])

    def _close(self, table: str, id: int) -> None:
        since, row = self._open.pop((table, id), (0, ()))
        if row:
            self.versions[table].append(Version(since, self.seq, (id,), row))

    def all(self) -> dict[str, list[Version]]:
        still = {table: [] for table in TABLES}
        for (table, id), (since, row) in self._open.items():
            still[table].append(Version(since, FOREVER, (id,), row))
        return {table: self.versions[table] + still[table] for table in TABLES}


def at(versions: list[Version], seq: int) -> Counter[tuple[Any, ...]]:
    return Counter(map(plain, (one.row for one in versions if one.start <= seq < one.end)))


def plain(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(Decimal(value) if isinstance(value, int | float) else value for value in row)


@settings(max_examples=examples(150), deadline=None)
@given(st.integers(0, 10**9))
def test_each_moment_is_what_duckdb_makes_of_the_rows_then(seed: int) -> None:
    choose = random.Random(seed)
    views = random_views(choose)
    history = History(Database(views))
    expected: dict[str, list[Counter[tuple[Any, ...]]]] = {view: [] for view in views}
    for _ in range(choose.randrange(1, 14)):
        for view, those in expected.items():
            those.append(Counter(map(plain, history.database.rows(view))))
        history.act(choose)
    relations, sources = history.all(), dict(SOURCES)
    for view, query in views.items():
        plan = planned(SCRATCH, query.lower().replace("'u'", "'u'"), sources)
        relations[view] = versions_of(plan.selects, relations)
        sources[view] = Source(plan.columns, plan.key)
        told = [at(relations[view], seq) for seq in range(len(expected[view]))]
        assert told == expected[view], (view, views)
        check_key(plan.columns, plan.key, relations[view])


def check_key(columns: tuple[Column, ...], key: tuple[str, ...], versions: list[Version]) -> None:
    """Of one key there is never more than one row at a time, and versions that follow each other differ."""
    places = [[column.name for column in columns].index(name) for name in key]
    held: dict[Any, int] = {}
    for version in versions:
        for own in (version.key, *([("key", *(version.row[place] for place in places))] if key else [])):
            assert held.get(own, 0) <= version.start
            held[own] = version.end
