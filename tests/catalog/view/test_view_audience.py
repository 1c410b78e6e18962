"""A view that shows for whom its rows are has the audience; any other view of such a table is refused."""

from __future__ import annotations

import pytest

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from catalog.sql.errors import CatalogError
from tests.tidewire.verification.input.test_view_audience import declared_views

DDL = (
    "CREATE TABLE o (id BIGINT PRIMARY KEY, p INTEGER, r VARCHAR, f BOOLEAN) "
    "WITH ('audience'='region:r, fan:f', 'null.range'='everything'); "
    "CREATE TABLE q (id BIGINT PRIMARY KEY, r VARCHAR); "
    "CREATE TABLE n (id BIGINT PRIMARY KEY, a INT4RANGE) WITH ('audience'='x:a')"
)
CATALOG = apply_ddl(Catalog(), DDL, 1)
TAKEN = [
    ("SELECT id, r, f, p + 1 AS p FROM o WHERE p > 2", "r", "f"),
    ("SELECT id, f AS ff, r AS rr, r AS again FROM o", "rr", "ff"),
    ("SELECT * FROM o", "r", "f"),
    ("SELECT f, COUNT(*) AS n, r AS team FROM o WHERE p > 1 GROUP BY r, f HAVING COUNT(*) > 1", "team", "f"),
    ("SELECT id, r, f FROM o QUALIFY ROW_NUMBER() OVER (PARTITION BY p, r, f ORDER BY id) <= 2", "r", "f"),
    ("SELECT r, f, SUM(p) AS s FROM o GROUP BY r, f QUALIFY ROW_NUMBER() OVER (PARTITION BY f, r ORDER BY r, f) <= 2",
     "r", "f"),
]  # fmt: skip
REFUSED = [
    "SELECT id, r FROM o", "SELECT r, COUNT(*) AS n FROM o GROUP BY r", "SELECT COUNT(*) AS n FROM o",
    "SELECT id, r, f FROM o QUALIFY ROW_NUMBER() OVER (PARTITION BY r ORDER BY p, id) <= 2",
    "SELECT o.id, o.r, o.f FROM o JOIN q ON o.id = q.id", "SELECT q.id, o.r, o.f FROM q LEFT JOIN o ON o.id = q.id",
    "SELECT id, r, f FROM o UNION ALL SELECT id, r, f FROM o", "SELECT id, COALESCE(r, 'x') AS r, f FROM o",
    "SELECT MAX(r) AS r, f FROM o GROUP BY f", "SELECT id FROM n",
]  # fmt: skip


@pytest.mark.parametrize(("query", "region", "fan"), TAKEN)
def test_a_view_has_the_audience_of_its_rows(query: str, region: str, fan: str) -> None:
    catalog = apply_ddl(CATALOG, f"CREATE VIEW v AS {query}; CREATE VIEW w AS SELECT * FROM v", 2)
    for name in ("v", "w"):
        relation = catalog.views[name].relation
        assert relation.audience == (("region", region), ("fan", fan)) and relation.null_range == "everything"
        judged = declared_views(f"{DDL}; CREATE VIEW v AS {query}; CREATE VIEW w AS SELECT * FROM v")[name].audience
        assert judged.pairs == relation.audience and judged.everything


@pytest.mark.parametrize("query", REFUSED)
def test_a_view_that_might_tell_of_others_is_refused(query: str) -> None:
    with pytest.raises(CatalogError, match="does not show for whom the rows are") as caught:
        apply_ddl(CATALOG, f"CREATE VIEW v AS {query}", 2)
    assert "it has the same audience then" in str(caught.value)
    assert not declared_views(f"{DDL}; CREATE VIEW v AS {query}")


def test_a_range_of_the_audience_is_shown_as_any_other_column() -> None:
    made = apply_ddl(CATALOG, "CREATE VIEW v AS SELECT id, a AS ages FROM n", 2).views["v"].relation
    assert made.audience == (("x", "ages"),)
    judged = declared_views(f"{DDL}; CREATE VIEW v AS SELECT id, a AS ages FROM n")["v"].audience
    assert judged.pairs == made.audience and not judged.everything


def test_views_of_other_tables_are_for_everybody() -> None:
    assert apply_ddl(CATALOG, "CREATE VIEW v AS SELECT id FROM q", 2).views["v"].relation.audience == ()
