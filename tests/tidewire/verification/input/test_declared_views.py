"""Which views are declared and what their columns are, and that it is the same as the product's reading."""

from __future__ import annotations

import contextlib
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.ddl.statements import fold_ddl
from catalog.schema.catalog import Catalog
from catalog.sql.errors import CatalogError
from catalog.types.column_type import ColumnType, Kind
from tests.effort import examples
from tests.tidewire.verification.random_views import TABLES, random_views
from tests.tidewire.verification.scratch import SCRATCH
from tidewire.verification.input.declared import Declared
from tidewire.verification.input.view_plan import Call, Field
from tidewire.verification.records.journal import Record

BOTH = "; ".join(TABLES.values())


def declared(*texts: str) -> Declared:
    return Declared([Record(0, i, 0, None, t.encode()) for i, t in enumerate([BOTH, *texts])], scratch=SCRATCH)


def type_name(type_: ColumnType) -> str:
    """Return a type of the product as it is called here; computed numbers have all the digits there can be."""
    if type_.whole:
        return "HUGEINT"
    if type_.kind is Kind.DECIMAL:
        return f"DECIMAL(,{type_.scale})"
    return "FLOAT" if type_.kind is Kind.REAL else str(type_)


def alike(ours: str, its: str) -> bool:
    """Whether two types are the same; any computed whole number is HUGEINT here."""
    if ours == "HUGEINT":
        return its in ("SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
    return ours == its or (its.startswith("DECIMAL") and ours.endswith(its.removeprefix("DECIMAL(")))


def check_same(catalog: Catalog, ours: Declared, version: int) -> None:
    views = ours.views_at(version)
    assert list(views) == list(catalog.views)
    for name, view in catalog.views.items():
        mine = views[name]
        assert (mine.born, mine.tables, set(mine.reads)) == (view.born, view.tables, set(view.reads))
        assert mine.topic == view.topic
        assert [column.name for column in mine.columns] == [column.name for column in view.relation.columns]
        for own, its in zip(mine.columns, view.relation.columns, strict=True):
            assert alike(own.type, type_name(its.type)), (view.sql, own, its)
        assert mine.key == view.relation.key, view.sql
    cells = {(cell.tables, cell.born) for cell in ours.cells_at(version).values() if cell is not None}
    assert cells == {(cell.tables, cell.born) for cell in catalog.cells.values()}


OPTIONS = (
    "", "", "", " WITH ('topic'='out')", ' WITH ( "Topic" = \'out\' )', " with (topic='p')",
    " WITH ('topic'='tw.acks')", " WITH ('topic'='a b')", " WITH ('topic'='..')", " WITH ('keep'='1')",
)  # fmt: skip


@settings(max_examples=examples(200), deadline=None)
@given(st.integers(0, 10**9))
def test_the_product_reads_the_same(seed: int) -> None:
    choose = random.Random(seed)
    texts = [f"CREATE VIEW {name}{choose.choice(OPTIONS)} AS {query}" for name, query in random_views(choose).items()]
    texts += choose.choices(
        ["DROP VIEW w", "DROP VIEW IF EXISTS u, v", "DROP TABLE q", "DROP JOIN p, q", "CREATE VIEW IF NOT EXISTS v AS "
         "SELECT g FROM p", "CREATE JOIN q, p", "CREATE VIEW q AS SELECT * FROM p", texts[0],
         "CREATE TABLE v (k INTEGER PRIMARY KEY)", "DROP VIEW v, w, u", "CREATE VIEW k AS SELECT g AS x FROM nobody",
         TABLES["p"][:-1] + ", more INTEGER)", "CREATE VIEW all_p AS SELECT * FROM p",
         texts[0].replace("'out'", "'else'"),
         "CREATE TABLE z (k INTEGER PRIMARY KEY) WITH ('topic'='out')", "CREATE VIEW s WITH ('topic'='out') AS SELECT "
         "COUNT(*) AS n, MAX(id) AS m FROM p", "CREATE VIEW t WITH ('topic'='two') AS SELECT n FROM s WHERE m > 1"],
        k=6,
    )  # fmt: skip
    catalog, ours = fold_ddl(Catalog(), BOTH, 0), declared(*texts)
    for version, text in enumerate(texts, 1):
        with contextlib.suppress(CatalogError):
            catalog = fold_ddl(catalog, text, version)
        check_same(catalog, ours, version)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT g, MIN(x) AS low, COUNT(*) AS n FROM p WHERE x > 0.5 GROUP BY g HAVING COUNT(*) > 1 AND MAX(y) < 9",
        "SELECT x + 1 AS a, x * 0.5 AS b, z * 2 AS c, -x AS d, COALESCE(x, 0) AS e, COALESCE(z, 0.1) AS f, id FROM q",
        "SELECT LATEST(g BY y) AS g, MAX_BY(x, y) AS x, SUM(x) AS s, SUM(y) AS t, AVG(y) AS a FROM p",
        "SELECT q.*, p.y FROM q LEFT JOIN p ON q.id = p.id",
        "SELECT p.*, q.z FROM p JOIN q ON p.x = q.x",
        "SELECT x, g, id FROM p UNION ALL SELECT x, g, z FROM q UNION ALL SELECT 1 AS a, 'a' AS b, 2.5 AS c FROM p",
        "SELECT id, g, ROW_NUMBER() OVER (PARTITION BY g ORDER BY x, id) AS place FROM p QUALIFY place < 3",
        "SELECT g AS h, x, COUNT(*) AS n FROM p GROUP BY x, h",
        "select P.ID, \"g\" as \"G g\" from P where ID in (1, 2) and not x = 1 and x between 1 and 2",
        "SELECT x AS left, id FROM p WHERE g = 'left'",
        "SELECT a.id, a.x - COALESCE(b.x, 0) AS left FROM p a LEFT JOIN q b ON a.id = b.id",
    ],
)  # fmt: skip
def test_texts_are_read_as_the_product_reads_them(query: str) -> None:
    catalog, ours = fold_ddl(Catalog(), BOTH, 0), declared(f"CREATE VIEW v AS {query}")
    with contextlib.suppress(CatalogError):
        catalog = fold_ddl(catalog, f"CREATE VIEW v AS {query}", 1)
        check_same(catalog, ours, 1)
        return
    pytest.fail(f"refused: {query}")


def test_a_column_may_be_called_as_a_join_begins() -> None:
    texts = [
        "CREATE VIEW v AS SELECT x AS left, id FROM p",
        "CREATE VIEW w AS SELECT v.left, q.z FROM v LEFT JOIN q ON left = q.id",
    ]
    found = declared(*texts).views_at(2)
    assert [column.name for column in found["w"].columns] == ["left", "z"]


@pytest.mark.parametrize(
    "word", ["from", "order", "by", "group", "desc", "limit", "select", "where", "null", "not", "on"]
)
def test_a_column_may_be_called_as_a_word_of_queries(word: str) -> None:
    table = f'CREATE TABLE t ("{word}" INTEGER PRIMARY KEY, x INTEGER)'
    views = [
        f'SELECT x, LATEST("{word}" BY x) AS n FROM t WHERE NOT "{word}" IN (1) AND x IS NOT NULL GROUP BY x',
        f'SELECT "{word}", x FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY x ORDER BY x DESC, "{word}") <= 1',
        f'SELECT a.x AS "{word}", b.x FROM t a LEFT JOIN t b ON a.x = b."{word}"',
    ]
    text = "; ".join([table, *(f"CREATE VIEW v{n} AS {query}" for n, query in enumerate(views))])
    check_same(fold_ddl(Catalog(), text, 0), Declared([Record(0, 0, 0, None, text.encode())], scratch=SCRATCH), 0)


def test_the_latest_of_a_column_that_is_called_by() -> None:
    table = "CREATE TABLE t (by INTEGER PRIMARY KEY, x INTEGER)"
    items = ["LATEST(x BY by)", "LATEST(by BY x)", "LATEST(by BY by)", "LATEST(x + by BY (by))", 'LATEST(x BY "by")']
    text = "; ".join([table, *(f"CREATE VIEW v{n} AS SELECT {item} AS n FROM t" for n, item in enumerate(items))])
    ours = Declared([Record(0, 0, 0, None, text.encode())], scratch=SCRATCH)
    check_same(fold_ddl(Catalog(), text, 0), ours, 0)
    read = [view.selects[0].group for view in ours.views_at(0).values()]
    x, by = Field(1, "INTEGER"), Field(0, "INTEGER")
    more = Call("+", (x, by), "HUGEINT")
    found = [group and (group.aggregates[0].of, group.aggregates[0].by[0]) for group in read]
    assert found == [(x, by), (by, x), (by, by), (more, by), (x, by)]
