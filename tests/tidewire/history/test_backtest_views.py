"""Back-tests of views, and their rows at a version: against DuckDB, which runs the views over what was published."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from connectors.log.publication_log import PublicationLog
from operators.stored_rows import stored_rows
from shard.log_fold import fold_view
from tests.effort import deep_examples
from tests.tidewire.history.test_backtest_joins import CHANGES, Change, filled
from tidewire.history.backtest import Backtest, tables_of, views_of

TABLES = "; ".join(f"CREATE TABLE {name} (id BIGINT PRIMARY KEY, k BIGINT, v BIGINT)" for name in "ab")
VIEWS = {
    "sums": "SELECT k, SUM(v) AS total, COUNT(*) AS n FROM a GROUP BY k",
    "low": "SELECT MIN(total) AS low, SUM(n) AS n FROM sums WHERE k IS NOT NULL",
    "pairs": "SELECT a.id, b.id AS other, a.v + b.v AS total FROM a LEFT JOIN b ON a.k = b.k",
    "first": "SELECT id, other, total FROM pairs QUALIFY ROW_NUMBER() OVER (ORDER BY total DESC, id, other) <= 2",
}
DDL = f"{TABLES}; {'; '.join(f'CREATE VIEW {name} AS {query}' for name, query in VIEWS.items())}"
CATALOG = apply_ddl(Catalog(), DDL, 3)
VERSIONS = st.lists(st.lists(CHANGES, min_size=1, max_size=5), min_size=1, max_size=4)


class Published:
    """What was published so far, in DuckDB."""

    def __init__(self) -> None:
        self.database = duckdb.connect()
        self.database.execute("PRAGMA disable_optimizer")
        self.database.execute("SET default_null_order = 'NULLS_LAST_ON_ASC_FIRST_ON_DESC'")
        self.database.execute(DDL)

    def take(self, change: Change) -> None:
        table, key, k, v = change
        self.database.execute(f"DELETE FROM {table} WHERE id = ?", [key])
        if v is not None:
            self.database.execute(f"INSERT INTO {table} VALUES (?, ?, ?)", [key, k, v])

    def rows(self, view: str) -> Counter[tuple[Any, ...]]:
        return Counter(self.database.execute(f"SELECT * FROM {view}").fetchall())


def question(view: str) -> bytes:
    return msgspec.json.encode({"sql": f"SELECT * FROM {view}"})


@pytest.mark.deep
@settings(max_examples=deep_examples(20), deadline=None)
@given(VERSIONS, st.sampled_from(list(VIEWS)))
def test_every_version_and_every_delivery_against_recomputation(
    tmp_path_factory: pytest.TempPathFactory, versions: list[list[Change]], view: str
) -> None:
    opened = PublicationLog(filled(tmp_path_factory.mktemp("log"), versions).uri)
    tables, views = tables_of(CATALOG, question(view)), views_of(CATALOG, question(view))
    for as_of in range(len(versions)):
        published = Published()
        for change in (change for version in versions[: as_of + 1] for change in version):
            published.take(change)
        meant = [published.rows(view)]
        cut = opened.at_version(as_of)
        shown = [row for state in fold_view(opened, CATALOG, CATALOG.views[view], cut)
                 for row in stored_rows(CATALOG.views[view].relation, state.table.stored)]  # fmt: skip
        assert Counter(tuple(row.values()) for row in shown) == meant[0]
        read = {relation.name for relation in tables}
        for change in (change for version in versions[as_of + 1 :] for change in version if change[0] in read):
            published.take(change)
            if published.rows(view) != meant[-1]:
                meant.append(published.rows(view))
        test = Backtest(opened, tables, question(view), cut, opened.newest.cut, [], views=views)
        held: Counter[object] = Counter()
        for n, (one, whole) in enumerate(zip(test.run(), meant, strict=True), 1):
            gone, come = ([tuple(row) for row in side or ()] for side in (one.removed, one.added))  # type: ignore[arg-type]
            held = held - Counter(gone) + Counter(come)
            assert (one.n, held) == (n, whole)


def test_a_question_of_a_view_is_of_its_tables_and_of_the_views_below() -> None:
    assert [one.name for one in tables_of(CATALOG, question("low"))] == ["a"]
    assert [one.name for one in views_of(CATALOG, question("low"))] == ["sums", "low"]
    assert [one.name for one in tables_of(CATALOG, question("first"))] == ["a", "b"]
    assert [one.name for one in views_of(CATALOG, question("first"))] == ["pairs", "first"]
    assert views_of(CATALOG, question("a")) == ()


def test_a_view_of_a_table_in_buckets_has_the_rows_of_all(tmp_path: Path) -> None:
    columns = "a (id BIGINT PRIMARY KEY, k BIGINT, v BIGINT)"
    ddl = TABLES.replace(columns, f"{columns} WITH ('buckets'='3', 'bucket.by'='id')")
    catalog = apply_ddl(Catalog(), f"{ddl}; CREATE VIEW w AS SELECT id, v + 1 AS n FROM a WHERE v > 0", 1)
    opened = PublicationLog(filled(tmp_path, [[("a", id, 0, id % 3) for id in range(9)]]).uri)
    view = catalog.views["w"]
    [state] = fold_view(opened, catalog, view, opened.newest.cut)
    found = {row["id"]: row["n"] for row in stored_rows(view.relation, state.table.stored)}
    assert found == {id: id % 3 + 1 for id in range(9) if id % 3}
