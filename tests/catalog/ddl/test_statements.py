import contextlib

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from catalog.ddl.statements import apply_ddl, to_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.relation import Column, Relation
from catalog.sql.errors import CatalogError
from catalog.types.column_type import RANGES, ColumnType, Kind
from tests.catalog import odd_texts, refusals
from tests.catalog.sample import CATALOG, of
from tests.effort import deep_examples, examples

STOCK = """
-- what is traded
CREATE TABLE stock (symbol VARCHAR PRIMARY KEY, exchange VARCHAR, risk DOUBLE, price DECIMAL(12,2))
  WITH ('topic'='stock', 'format'='json'); /* and
what is asked */ CREATE TABLE Quote (Id BIGINT, "At" TIMESTAMP NOT NULL, PRIMARY KEY (id));
"""


def fold(*texts: str) -> Catalog:
    catalog = Catalog()
    for version, text in enumerate(texts):
        catalog = apply_ddl(catalog, text, version)
    return catalog


def test_several_statements_and_comments() -> None:
    catalog = fold(STOCK)
    assert catalog.version == 0
    assert catalog.relations["stock"] == Relation(
        "stock",
        (
            Column("symbol", of("VARCHAR"), False),
            Column("exchange", of("VARCHAR")),
            Column("risk", of("DOUBLE")),
            Column("price", of("DECIMAL", 12, 2)),
        ),
        ("symbol",),
        "stock",
    )
    quote = catalog.relations["quote"]
    assert (quote.topic, quote.key, [c.name for c in quote.columns]) == ("quote", ("id",), ["id", "At"])
    assert not quote.column("At").nullable


def test_an_identical_table_is_left_alone() -> None:
    catalog = fold(STOCK, STOCK)
    assert catalog.version == 1
    assert catalog.relations == fold(STOCK).relations
    assert {r.born for r in catalog.relations.values()} == {0}


def test_a_table_grows_by_nullable_columns() -> None:
    grown = "CREATE TABLE t (a INTEGER PRIMARY KEY, b DATE, c REAL)"
    catalog = fold("CREATE TABLE t (a INTEGER PRIMARY KEY)", grown, grown)
    table = catalog.relations["t"]
    assert [c.name for c in table.columns] == ["a", "b", "c"]
    assert table.born == 0 and catalog.version == 2


def test_a_table_dropped_and_created_again_is_another() -> None:
    one = "CREATE TABLE t (a INTEGER PRIMARY KEY)"
    assert fold(one, "DROP TABLE t", one).relations["t"].born == 2
    assert fold(one, f"DROP TABLE T; {one}").relations["t"].born == 1


def test_if_exists_and_if_not_exists() -> None:
    catalog = fold(
        "CREATE TABLE IF NOT EXISTS t (a INTEGER PRIMARY KEY)",
        "CREATE TABLE IF NOT EXISTS t (b VARCHAR PRIMARY KEY)",
        "DROP TABLE IF EXISTS u, v",
    )
    assert [c.name for c in catalog.relations["t"].columns] == ["a"]
    assert not apply_ddl(catalog, "DROP TABLE IF EXISTS t", 3).relations


def test_a_topic_is_free_again_after_a_drop() -> None:
    catalog = fold(
        "CREATE TABLE t (a INTEGER PRIMARY KEY) WITH ('topic'='x')",
        "DROP TABLE t; CREATE TABLE u (a INTEGER PRIMARY KEY) WITH ('topic'='x')",
    )
    assert list(catalog.relations) == ["u"]


def test_a_text_is_applied_whole_or_not_at_all() -> None:
    before = fold(STOCK)
    with pytest.raises(CatalogError):
        apply_ddl(before, "DROP TABLE stock; DROP TABLE nope", 1)
    assert "stock" in before.relations and before.version == 0


def test_catalogs_cannot_be_written_to() -> None:
    with pytest.raises(TypeError):
        fold(STOCK).relations["x"] = None  # type: ignore[index]


def test_versions_rise() -> None:
    with pytest.raises(ValueError, match="does not come after"):
        apply_ddl(fold(STOCK), "DROP TABLE stock", 0)


def test_canonical_ddl() -> None:
    assert to_ddl(CATALOG.relations["gauge"]) == (
        "CREATE TABLE gauge (\n  station INTEGER,\n  height BIGINT,\n  basin VARCHAR,\n  flow INTEGER,\n"
        "  PRIMARY KEY (station)\n) WITH ('topic'='gauge', 'format'='json', 'absent'='null')"
    )


types = st.one_of(
    st.sampled_from([ColumnType(k) for k in Kind if k is not Kind.DECIMAL and k not in RANGES]),
    st.integers(1, 38).flatmap(lambda p: st.integers(0, p).map(lambda s: ColumnType(Kind.DECIMAL, p, s))),
)
names = st.one_of(
    st.sampled_from(
        ["a", "b", "A", "order", "date", "Lot Size", 'q"q', "primary", "key", "é", "timestamp", "2x", "with"]
    ),
    st.text("abcxyz_", min_size=1, max_size=6),
)


@st.composite
def relations(draw: st.DrawFn) -> Relation:
    columns = draw(st.lists(names, min_size=1, max_size=6, unique=True))
    key = sorted(draw(st.sets(st.sampled_from(columns), min_size=1)), key=columns.index)
    declared = tuple(Column(c, draw(types), c not in key and draw(st.booleans())) for c in columns)
    return Relation(
        draw(names), declared, tuple(key), "t.x-1", "json", draw(st.sampled_from(["null", "error", "keep"])), 0
    )


@given(relations())
@settings(deadline=None, max_examples=examples(100))
def test_canonical_ddl_declares_the_same_table(relation) -> None:
    catalog = fold(to_ddl(relation))
    assert catalog.relations == {relation.name: relation}


@pytest.mark.parametrize(("sql", "code", "message"), refusals.read("refusals_catalog.txt"))
def test_refused_catalogs(sql, code, message) -> None:
    error = refusals.refuse_catalog(sql)
    assert error is not None, "accepted"
    assert (error.code, str(error)) == (code, message)


GOLDEN = [sql for sql, _, _ in refusals.read("refusals_catalog.txt")] + [STOCK, to_ddl(CATALOG.relations["stock"])]


@given(st.data())
@settings(deadline=None, max_examples=examples(150))
def test_no_text_raises_anything_else(data) -> None:
    sql = data.draw(st.one_of(st.sampled_from(GOLDEN), st.text(max_size=60)))
    for _ in range(data.draw(st.integers(0, 3))):
        start = data.draw(st.integers(0, len(sql)))
        end = min(len(sql), start + data.draw(st.integers(0, 10)))
        sql = (
            sql[:start]
            + data.draw(st.sampled_from(["", " ", "'", '"', "(", ")", ",", "KEY", "*", ";", "\x00", "=", "1"]))
            + sql[end:]
        )
    with contextlib.suppress(CatalogError):
        apply_ddl(CATALOG, sql, 1)


@pytest.mark.deep
@settings(max_examples=deep_examples(200), deadline=None)
@given(odd_texts.texts)
@example("CREATE TABLE t (id INT PRIMARY KEY, x INT" + "[]" * 30_000 + ")")
@example('CREATE TABLE t (id INT PRIMARY KEY, x """int")')
def test_any_text_declares_or_is_refused(text: str) -> None:
    with contextlib.suppress(CatalogError):
        apply_ddl(CATALOG, text, 1)
