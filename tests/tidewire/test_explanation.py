"""What `explain` says of a subscription."""

from catalog.ddl.statements import apply_ddl
from catalog.query.compiler import Compiler
from catalog.schema.catalog import Catalog
from tests.catalog import streamed
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


def test_a_filter_has_a_condition_in_place_of_a_rectangle() -> None:
    def filtered(rest: str) -> dict[str, object]:
        compiled = Compiler(CATALOG).compile(f"SELECT symbol, price FROM stock {rest}")
        return dict(lines_of(explain(compiled, CATALOG, None, 16)))

    facts = filtered("WHERE price > 1 OR exchange IS NULL AND risk < 2 SNAPSHOT NONE")
    assert facts["where"] in (
        'price: from "1.01"; or exchange: NULL, and risk: up to 1.9999999999999998',
        'exchange: NULL, and risk: up to 1.9999999999999998; or price: from "1.01"',
    )
    assert "rectangle" not in facts and str(facts["snapshot"]).startswith("none")
    assert facts["answer"] == "symbol, VARCHAR; price, DECIMAL(12,2)"
    assert str(facts["cost class"]).startswith("table changes: ")
    assert filtered("")["where"] == "every row" and "group" not in filtered("")
    assert facts["notify"] == "EVERY CHANGE: rows that come, that go, and that change in what is shown"
    assert filtered("NOTIFY ENTER")["notify"] == "ENTER: rows that come"
    assert filtered("WHERE price = NULL")["where"] == "empty: no row can ever meet it"


def test_a_filter_of_a_bucketed_table_has_a_shard() -> None:
    catalog = apply_ddl(Catalog(), "CREATE TABLE t (k INT PRIMARY KEY) WITH ('buckets'='9', 'bucket.by'='k')", 0)
    ranges = [f"SELECT COUNT(*) FROM t WHERE k = {k}" for k in range(20)]
    rows = [f"SELECT k FROM t WHERE k = {k} AND (k <> 5 OR k IS NOT NULL)" for k in range(20)]
    shards = [explain(Compiler(catalog).compile(sql), catalog, None, 2).shard for sql in ranges + rows]
    assert shards[:20] == shards[20:]


def test_sums_under_any_condition_are_told_as_values() -> None:
    sql = "SELECT COUNT(*), SUM(price) FROM stock WHERE risk <> 1 OR exchange = 'X' NOTIFY LATEST"
    facts = dict(lines_of(explain(Compiler(CATALOG).compile(sql), CATALOG, None, 16)))
    assert facts["answer"] == "COUNT(*); SUM(price), DECIMAL(12,2)" and facts["notify"] == "LATEST"
    assert str(facts["cost class"]).startswith("table changes: ") and "exchange" in str(facts["where"])


def test_a_join_is_served_by_the_cell_of_its_tables() -> None:
    ddl = "CREATE TABLE a (k INT PRIMARY KEY, v INT); CREATE TABLE b (k INT PRIMARY KEY, w INT); CREATE JOIN b, a"
    catalog = apply_ddl(Catalog(), ddl, 0)
    compiled = Compiler(catalog).compile("SELECT v, w FROM a JOIN b ON a.k = b.k WHERE v > 3")
    facts = dict(lines_of(explain(compiled, catalog, None, 16)))
    assert facts["shard"] == "cell/a+b/0"
    assert str(facts["cost class"]).startswith("joined changes: every change of a row")
    assert facts["joined where"] == "a.k = b.k"
    assert (facts["of `a`"], facts["of `b`"]) == ("v: from 4", "every row")


def test_a_view_says_how_and_where_its_rows_are_made() -> None:
    catalog = apply_ddl(
        CATALOG,
        "CREATE TABLE buy (symbol VARCHAR PRIMARY KEY, analyst VARCHAR);"
        "CREATE VIEW low AS SELECT exchange, MIN(price) AS low FROM stock GROUP BY exchange;"
        "CREATE VIEW watched AS SELECT s.symbol, l.low FROM stock s JOIN buy b ON s.symbol = b.symbol"
        " JOIN low l ON l.exchange = s.exchange;"
        "CREATE VIEW lowest WITH ('topic'='out') AS SELECT exchange, low FROM low WHERE low < 5",
        1,
    )

    def facts(sql: str) -> list[tuple[str, object]]:
        return lines_of(explain(Compiler(catalog).compile(sql), catalog, None, 16))

    assert facts("SELECT MAX(low) FROM low")[1:5] == [
        ("view", "SELECT exchange, MIN(price) AS low FROM stock GROUP BY exchange"),
        ("computed in", "stock/0"),
        ("`low`", "groups of stock by exchange; MIN of price"),
        ("shard", "low/0"),
    ]
    assert [what for what, _ in facts("SELECT MAX(low) FROM lowest")][1:6] == [
        "view", "written to", "computed in", "`low`", "`lowest`",
    ]  # fmt: skip
    assert dict(facts("SELECT MAX(low) FROM lowest"))["written to"] == "out"
    said = dict(facts("SELECT symbol, low FROM watched ORDER BY symbol LIMIT 2"))
    assert (said["computed in"], said["first"]) == ("cell/buy+stock/0", "2 by symbol")
    assert str(said["`low`"]).endswith("(computed again here)")
    assert said["`stage/watched/0`"] == "pairs of stock and buy where symbol = symbol"


def test_what_an_answer_about_a_view_of_a_stream_is_worth() -> None:
    at = "SELECT MAX(high) FROM hourly WHERE symbol = 'A' AND hour = TIMESTAMP '2026-03-02 10:00:00'"
    facts = dict(lines_of(explain(streamed.compiled(f"{at} NOTIFY FINAL"), streamed.CATALOG, None, 16)))
    assert (facts["certainty"], facts["notify"]) == ("at_least, final at 2026-03-02T11:00:00", "FINAL")
    rows = dict(lines_of(explain(streamed.compiled("SELECT * FROM symbols WHERE n > 3"), streamed.CATALOG, None, 16)))
    assert "certainty" not in rows and "certainty" not in said("")
