"""Views of a table in buckets are kept in its buckets."""

import pytest

from catalog.sql.errors import CatalogError
from tests.catalog.viewed import after, declared


@pytest.mark.parametrize(
    "query",
    [
        "SELECT symbol, price FROM trade",
        "SELECT symbol, kind, MIN(price) AS low FROM trade WHERE id > 3 GROUP BY symbol, kind HAVING COUNT(*) > 1",
        "SELECT symbol, id FROM trade QUALIFY ROW_NUMBER() OVER (PARTITION BY symbol ORDER BY price, id) <= 2",
        "SELECT a.symbol, b.high FROM trade a LEFT JOIN dear b ON a.symbol = b.symbol",
        "SELECT symbol, price FROM trade UNION ALL SELECT symbol, high FROM dear",
        "SELECT high, symbol FROM dear WHERE high > 3",
    ],
)
def test_it_has_the_buckets_of_its_table(query: str) -> None:
    relation = declared(query).relation
    assert (relation.buckets, relation.bucket_by) == (4, ("symbol",))
    assert relation.shards == ("v/0", "v/1", "v/2", "v/3")


@pytest.mark.parametrize(
    ("refused", "taken"),
    [
        ("SELECT kind, MIN(price) AS low FROM trade GROUP BY kind",
         "SELECT symbol, kind, MIN(price) AS low FROM trade GROUP BY kind, symbol"),
        ("SELECT COUNT(*) AS n FROM dear", "SELECT symbol, COUNT(*) AS n FROM dear GROUP BY symbol"),
        ("SELECT id, price FROM trade", "SELECT symbol, id, price FROM trade"),
        ("SELECT symbol AS s, price FROM trade", "SELECT symbol, price FROM trade"),
        ("SELECT symbol, id FROM trade QUALIFY ROW_NUMBER() OVER (ORDER BY symbol, id) <= 2",
         "SELECT symbol, id FROM trade QUALIFY ROW_NUMBER() OVER (PARTITION BY symbol ORDER BY symbol, id) <= 2"),
        ("SELECT a.symbol, b.id FROM trade a JOIN trade b ON a.id = b.id",
         "SELECT a.symbol, b.id FROM trade a JOIN trade b ON a.id = b.id AND a.symbol = b.symbol"),
        ("SELECT symbol, kind FROM trade UNION ALL SELECT kind, symbol FROM trade",
         "SELECT symbol, kind FROM trade UNION ALL SELECT symbol, kind FROM trade"),
    ],
)  # fmt: skip
def test_what_a_refusal_advises_is_taken(refused: str, taken: str) -> None:
    with pytest.raises(CatalogError, match="is kept in 4 buckets by `symbol`"):
        declared(refused)
    assert declared(taken).relation.bucket_by == ("symbol",)


def test_every_stage_says_which_column_parts_it() -> None:
    view = declared("SELECT a.symbol, COUNT(*) AS n FROM trade a JOIN dear b ON a.symbol = b.symbol GROUP BY a.symbol")
    assert [stage.relation.bucket_by for stage in view.stages] == [("0.symbol",), ("symbol",)]
    assert {stage.relation.buckets for stage in view.stages} == {4}


def test_over_several_tables_there_is_one_place() -> None:
    relation = declared("SELECT t.id, s.flight FROM trade t JOIN seat s ON t.kind = s.dest").relation
    assert (relation.buckets, relation.bucket_by, relation.shards) == (1, (), ("v/0",))


def test_a_question_says_which_bucket() -> None:
    from catalog.query.compiler import Compiler

    compiled = Compiler(after()).compile("SELECT high FROM dear WHERE symbol = 'A'")
    assert compiled.region.shape.grouped == ("symbol",)
