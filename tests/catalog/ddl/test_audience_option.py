"""The option that says to whom rows are told: read, written, and never changed."""

from __future__ import annotations

import pytest

from catalog.ddl.statements import apply_ddl, to_ddl
from catalog.schema.catalog import Catalog
from catalog.sql.errors import CatalogError

DDL = 'CREATE TABLE t (k BIGINT PRIMARY KEY, "It\'s, mine" INT4RANGE, team VARCHAR)'
PAIRS = (("age", "It's, mine"), ("team", "team"))


def test_an_audience_is_pairs_of_attribute_and_column() -> None:
    sql = f"{DDL} WITH ('audience'='Age:\"It''s, mine\" , team : TEAM', 'null.range'='everything')"
    relation = apply_ddl(Catalog(), sql, 1).relations["t"]
    assert relation.audience == PAIRS
    assert apply_ddl(Catalog(), to_ddl(relation), 1).relations["t"] == relation


def test_null_range_is_about_an_audience_too() -> None:
    sql = "CREATE TABLE t (k BIGINT PRIMARY KEY, r VARCHAR) WITH ('audience'='r:r', 'null.range'='everything')"
    catalog = apply_ddl(Catalog(), sql, 1)
    assert catalog.relations["t"].null_range == "everything"
    with pytest.raises(CatalogError, match=r"option null.range of `t` is everything and cannot become nothing"):
        apply_ddl(catalog, sql.replace(", 'null.range'='everything'", ""), 2)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("", "pairs of an attribute and a column"), ("age", "pairs of"), ("a:k,", "pairs of"), ("a b:k", "pairs of"),
        ("a:nothing", "which is no column of `t`"), ("a:k, a:team", "twice"), ("a:k, b:k", "twice"),
        ("a:lower(team)", "no column"),
    ],
)  # fmt: skip
def test_what_is_no_audience_is_refused(value: str, said: str) -> None:
    with pytest.raises(CatalogError) as caught:
        apply_ddl(Catalog(), f"{DDL} WITH ('audience'='{value}')", 1)
    assert said in str(caught.value)


@pytest.mark.parametrize(("before", "after"), [("", "x:team"), ("x:team", ""), ("x:team", "y:team")])
def test_an_audience_never_changes(before: str, after: str) -> None:
    texts = [f"{DDL} WITH ('audience'='{value}')" if value else DDL for value in (before, after)]
    catalog = apply_ddl(Catalog(), texts[0], 1)
    with pytest.raises(CatalogError, match="the option audience of `t` is"):
        apply_ddl(catalog, texts[1], 2)


def test_a_stream_has_no_audience() -> None:
    sql = "CREATE STREAM s (at TIMESTAMP, r VARCHAR) WITH ('event_time'='at', 'lateness'='1 s', 'audience'='r:r')"
    with pytest.raises(CatalogError, match="audience"):
        apply_ddl(Catalog(), sql, 1)
