"""DuckDB's reading of the catalog topic, and that it is the same as the product's."""

import contextlib

import pytest
from hypothesis import given, settings

from catalog.ddl.statements import apply_ddl, fold_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.format_options import unit_of
from catalog.sql.errors import CatalogError
from state.errors import TidewireError
from tests.catalog import odd_texts
from tests.effort import examples
from tests.tidewire.verification.scratch import SCRATCH
from tidewire.verification.input.column import Column
from tidewire.verification.input.declared import Declared
from tidewire.verification.records.journal import Record

STOCK = "CREATE TABLE stock (symbol VARCHAR PRIMARY KEY, price DECIMAL(12,2))"


def declared(*texts: str) -> Declared:
    return Declared([Record(0, i, 0, None, text.encode()) for i, text in enumerate(texts)], scratch=SCRATCH)


def test_columns_key_and_options() -> None:
    text = """
    -- a comment; with a semicolon
    CREATE TABLE Fare (day DATE, seat INT NOT NULL, "Class" TEXT, paid DOUBLE PRECISION, PRIMARY KEY (seat, day))
      WITH ('topic' = 'fares', format = 'json', 'absent'='keep'); /* another; */ DROP TABLE IF EXISTS nothing;
    """
    table = declared(text).at(0)["fare"]
    assert table.columns == (
        Column("day", "DATE", False),
        Column("seat", "INTEGER", False),
        Column("Class", "VARCHAR", True),
        Column("paid", "DOUBLE", True),
    )
    assert (table.name, table.key, table.topic, table.absent, table.born) == (
        "fare",
        ("day", "seat"),
        "fares",
        "keep",
        0,
    )


DEBEZIUM = "CREATE TABLE d (a INT PRIMARY KEY, b TIMESTAMP) WITH ('format'='debezium-json', 'timestamp'='millis')"


@pytest.mark.parametrize(
    "text",
    [
        DEBEZIUM,
        DEBEZIUM.replace("'timestamp'", "'column.b'"),
        DEBEZIUM.replace("millis", "micros"),
        DEBEZIUM.replace(") WITH", ", c DATE) WITH").replace("'timestamp'", "'date'='days', 'timestamp'"),
        DEBEZIUM.replace("'timestamp'", "'schema'='inline', 'timestamp'"),
        DEBEZIUM.replace("'timestamp'", "'placeholder'='?', 'timestamp'"),
        DEBEZIUM.partition(" WITH")[0],
    ],
)
def test_evolution_of_a_format(text: str) -> None:
    catalog = apply_ddl(Catalog(), DEBEZIUM, 0)
    with contextlib.suppress(TidewireError):
        catalog = fold_ddl(catalog, text, 1)
    table, relation = declared(DEBEZIUM, text).at(1)["d"], catalog.relations["d"]
    assert (table.format, table.options, len(table.columns)) == (
        relation.format,
        relation.options,
        len(relation.columns),
    )


def test_versions_evolution_and_being_born_again() -> None:
    wider = STOCK.replace("))", "), lot INTEGER)")
    found = declared(STOCK, wider, STOCK, "DROP TABLE stock", STOCK)
    assert found.at(-1) == {}
    assert [len(found.at(v)["stock"].columns) for v in (0, 1, 2)] == [2, 3, 3], "a narrower one does not apply"
    assert found.at(3) == {}
    assert (found.at(2)["stock"].born, found.at(4)["stock"].born) == (0, 4)
    assert len(found.newest("stock", 0).columns) == 3
    assert found.topics() == {"stock"}


TEXTS = [
    STOCK,
    "create table if not exists stock (a int primary key)",
    "CREATE TABLE t (a INT)",
    "CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR DEFAULT 'x')",
    "CREATE TABLE t (a INT PRIMARY KEY, b INT UNIQUE)",
    "CREATE TABLE t (a INT PRIMARY KEY, b HUGEINT)",
    "CREATE TABLE t (a INT PRIMARY KEY) WITH ('color'='red')",
    "CREATE TABLE t (a INT PRIMARY KEY) WITH ('absent'='maybe')",
    "CREATE TABLE t (a INT PRIMARY KEY) WITH ('topic'='stock')",
    "CREATE TABLE t (a INT PRIMARY KEY); DROP TABLE gone",
    "CREATE TABLE t (a INT PRIMARY KEY); CREATE TABLE u (b INT PRIMARY KEY); DROP TABLE t, u",
    "DROP TABLE stock; CREATE TABLE stock (a INT PRIMARY KEY)",
    "DROP TABLE",
    "",
    "SELECT 1",
    "CREATE TABLE t (a INT PRIMARY KEY, b DATE) WITH ('format'='debezium-json')",
    "CREATE TABLE t (a INT PRIMARY KEY, b DATE) WITH ('FORMAT'='Debezium-JSON', 'date'='DAYS', placeholder='It''s')",
    "CREATE TABLE t (a INT PRIMARY KEY, b DATE) WITH ('format'='debezium-json', 'date'='millis')",
    "CREATE TABLE t (a INT PRIMARY KEY, b DATE) WITH ('format'='debezium-json', 'column.b'='iso', 'timestamp'='x')",
    "CREATE TABLE t (a INT PRIMARY KEY, \"B c\" DATE) WITH ('format'='debezium-json', 'column.B c'='iso')",
    "CREATE TABLE t (a INT PRIMARY KEY, b DATE) WITH ('format'='debezium-json', 'schema'='inline', 'decimal'='string')",
    "CREATE TABLE t (a INT PRIMARY KEY, b DATE) WITH ('format'='debezium-json', 'schema'='none', 'date'='days')",
    "CREATE TABLE t (a INT PRIMARY KEY) WITH ('format'='debezium-json', 'column.a'='days')",
    "CREATE TABLE t (a INT PRIMARY KEY) WITH ('format'='debezium-json', 'placeholder'='')",
    "CREATE TABLE t (a INT PRIMARY KEY) WITH ('date'='days')",
    "CREATE TABLE t (a INT PRIMARY KEY, b DATE) WITH ('format'='csv', 'delimiter'='X')",
    """CREATE TABLE t (a INT PRIMARY KEY) WITH ('format'='avro', 'schema.1'='{"type":"long"}')""",
    'CREATE TABLE t ("A" SMALLINT, b REAL, c BOOLEAN NOT NULL, d TIMESTAMP, e BIGINT, PRIMARY KEY ("A", e))',
    "CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR) WITH ('audience'='X:B, y : \"a\"', 'null.range'='everything')",
    "CREATE TABLE t (a INT PRIMARY KEY, \"B c\" INT) WITH ('AUDIENCE'='x:\"B c\"')",
    *[
        f"CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR) WITH ('audience'='{value}')"
        for value in (
            "",
            "x",
            "x:",
            "x:c",
            "x:a,",
            ",x:a",
            "x:a,x:b",
            "x:a, y:a",
            "x y:a",
            "x:a b",
            "x:a:b",
            " x : a ,y:b",
        )
    ],
    "CREATE TABLE t (a INT PRIMARY KEY) WITH ('null.range'='everything')",
    "CREATE TABLE t (a INT PRIMARY KEY) WITH ('audience'='x:a'); CREATE TABLE t (a INT PRIMARY KEY)",
    "CREATE TABLE t (a INT PRIMARY KEY) WITH ('audience'='x:a'); "
    "CREATE TABLE t (a INT PRIMARY KEY) WITH ('audience'='x:a', 'null.range'='everything')",
    "CREATE TABLE t (a INT PRIMARY KEY) WITH ('audience'='x:a'); "
    "CREATE TABLE t (a INT PRIMARY KEY, b INT) WITH ('audience'='x:a')",
    "CREATE STREAM s (t TIMESTAMP, a INT) WITH ('event_time'='t', 'lateness'='1 s', 'audience'='x:a')",
]


@pytest.mark.parametrize("text", TEXTS)
def test_it_applies_what_the_product_applies(text: str) -> None:
    catalog = apply_ddl(Catalog(), STOCK, 0)
    with contextlib.suppress(TidewireError):
        catalog = fold_ddl(catalog, text, 1)
    ours = declared(STOCK, text).at(1)
    assert set(ours) == set(catalog.relations)
    for name, relation in catalog.relations.items():
        table = ours[name]
        assert (table.key, table.topic, table.format, table.absent, table.born) == (
            relation.key,
            relation.topic,
            relation.format,
            relation.absent,
            relation.born,
        )
        assert table.pairs == tuple((attribute, column.lower()) for attribute, column in relation.audience)
        assert table.null_range == relation.null_range
        units = {column.name: unit_of(relation, column) for column in relation.columns}
        assert table.units == {name: unit for name, unit in units.items() if unit is not None}
        assert [(c.name, c.nullable) for c in table.columns] == [(c.name, c.nullable) for c in relation.columns]


def check(text: str) -> None:
    """What the product declares is declared; of texts that it refuses none stops the reading."""
    tables: set[str] = set()
    with contextlib.suppress(CatalogError):
        tables = set(apply_ddl(Catalog(), text, 0).relations)
    newest = {name for name, _ in declared(text, STOCK).newest_subjects()}
    assert newest >= {name.lower() for name in tables} | {"stock"}


@settings(max_examples=examples(120), deadline=None)
@given(odd_texts.texts)
def test_any_text_that_the_product_takes_is_taken(text: str) -> None:
    check(text)
