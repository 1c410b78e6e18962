"""What `explain` says of a subscription."""

from catalog.query.compiler import Compiler
from catalog.schema.ddl import apply_ddl
from catalog.schema.relation import Catalog
from tidewire.explanation import explain, lines_of

CATALOG = apply_ddl(
    Catalog(),
    "CREATE TABLE stock (symbol VARCHAR PRIMARY KEY, exchange VARCHAR, risk DOUBLE, price DECIMAL(12,2), day DATE)",
    0,
)


def said(where: str, id: str | None = None) -> dict[str, object]:
    compiled = Compiler(CATALOG).compile(f"SELECT MIN(price) FROM stock {where}")
    return dict(lines_of(explain(compiled, CATALOG, id, 16)))


def test_the_rectangle_is_in_the_columns_values() -> None:
    facts = said("WHERE exchange = 'NYSE' AND day BETWEEN '2026-03-01' AND DATE '2026-03-31'", "mine")
    assert facts["answer"] == "MIN(price), DECIMAL(12,2)"
    assert facts["group"] == 'exchange = "NYSE"'
    assert facts["rectangle"] == 'day from "2026-03-01" to "2026-03-31", both included'
    assert facts["shard"] == "stock/0"
    assert str(facts["cost class"]).startswith("reformulated: ")
    assert facts["virtual edge"] in range(16)


def test_the_shard_is_that_of_the_bucket() -> None:
    catalog = apply_ddl(Catalog(), "CREATE TABLE t (k INT PRIMARY KEY) WITH ('buckets'='9', 'bucket.by'='k')", 0)
    places = [
        explain(Compiler(catalog).compile(f"SELECT COUNT(*) FROM t WHERE k = {k}"), catalog, None, 2) for k in range(40)
    ]
    assert {place.shard for place in places} == set(catalog.relations["t"].shards)


def test_open_empty_and_no_range() -> None:
    assert said("WHERE price > 1")["rectangle"] == 'price from "1.01" to the highest, both included'
    assert said("WHERE risk <= 0.5")["rectangle"] == "risk from the lowest to 0.5, both included"
    assert said("WHERE risk < 1 AND risk > 2")["rectangle"] == "empty: no row can ever be in it"
    assert said("")["rectangle"] == "no range"
    assert said("")["group"] == "every row"
    assert "virtual edge" not in said("")
