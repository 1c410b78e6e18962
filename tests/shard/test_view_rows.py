"""Rows of views, made of their tables' states: beside one table, bucket by bucket, and in the cell of several."""

from __future__ import annotations

from typing import Any

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from connectors.json.writer import encode_key, encode_row
from operators.stored_rows import stored_rows
from shard.view_rows import view_rows
from tidewire.pure_pipeline import PurePipeline

DDL = """CREATE TABLE a (id INTEGER PRIMARY KEY, k INTEGER) WITH ('buckets'='3', 'bucket.by'='id');
CREATE TABLE b (id INTEGER PRIMARY KEY, k INTEGER);
CREATE VIEW of_a AS SELECT id, k + 1 AS next FROM a WHERE k > 0;
CREATE VIEW of_b AS SELECT k, COUNT(*) AS n FROM b GROUP BY k;
CREATE VIEW pairs AS SELECT a.id, g.n FROM a JOIN of_b g ON a.k = g.k"""


def filled() -> PurePipeline:
    """Return a chain with some rows, of which nobody asks anything."""
    chain = PurePipeline(1)
    catalog = chain.apply(DDL)
    for id in range(8):
        for table in ("a", "b"):
            row = {"id": id, "k": id % 3}
            chain.append(table, encode_key(catalog.relations[table], row), encode_row(catalog.relations[table], row))
    chain.settle()
    return chain


def rows(catalog: Catalog, name: str, states: dict[str, bytes | None]) -> list[list[tuple[Any, ...]]]:
    view = catalog.views[name]
    found = view_rows(view, catalog, states)
    assert [state.shard for state in found] == list(view.relation.shards)
    return [[tuple(row.values()) for row in stored_rows(view.relation, state.table.stored)] for state in found]


def test_views_have_the_rows_of_their_tables() -> None:
    chain = filled()
    parts = rows(chain.catalog, "of_a", chain.groups)
    assert len(parts) == 3 and sorted(row for part in parts for row in part) == [
        (id, id % 3 + 1) for id in range(8) if id % 3
    ]
    assert sorted(rows(chain.catalog, "of_b", chain.groups)[0]) == [(0, 3), (1, 3), (2, 2)]
    assert sorted(rows(chain.catalog, "pairs", chain.groups)[0]) == [(id, 2 if id % 3 == 2 else 3) for id in range(8)]


def test_what_has_no_state_yet_has_no_rows() -> None:
    catalog = apply_ddl(Catalog(), DDL, 0)
    assert rows(catalog, "of_a", {}) == [[], [], []] and rows(catalog, "pairs", {}) == [[]]
