"""What is said of a question over a join: its cell, what is equal, what each table is asked."""

import msgspec
import pytest

from catalog.query.explanation import explain
from tests.catalog.joined import CATALOG, compiler


def explained(sql: str) -> dict[str, object]:
    compiled = compiler().compile(sql)
    return msgspec.to_builtins(explain(CATALOG, compiled.region, compiled.cost))


def test_each_table_says_what_it_is_asked() -> None:
    facts = explained(
        """SELECT q.price, f.kind, f."weight" FROM quote q JOIN filing f ON q.symbol = f.symbol AND q.day = f.day
           WHERE price BETWEEN 1 AND 2.5 AND q.id = 7 AND (f.kind = 'a' OR f.weight IS NULL) AND f.open
             AND volume <> 3"""
    )
    assert facts["join"] == {
        "cell": "cell/filing+quote/0",
        "equal": [["filing.day", "quote.day"], ["filing.symbol", "quote.symbol"]],
        "tables": [
            {"table": "filing", "equal": {"open": "true"}, "ranges": {}, "rest": [{"kind": '"a"'}, {"weight": "NULL"}]},
            {
                "table": "quote",
                "equal": {"id": "7"},
                "ranges": {"price": '"1.00" to "2.50"'},
                "rest": [{"volume": "up to 2 or from 4"}],
            },
        ],
        "stages": [],
    }
    assert facts["outputs"] == ["quote.price", "filing.kind", "filing.weight"]
    assert (facts["cost"], facts["types"]) == ("joined changes", ["DECIMAL(12,2)", "VARCHAR", "DOUBLE"])
    where = facts["where"]
    assert isinstance(where, list) and all(
        {"quote.price", "quote.volume", "filing.open"} <= box.keys() for box in where
    )


def test_tables_that_stand_twice_are_numbered() -> None:
    facts = explained("SELECT x.price, y.id FROM quote x JOIN quote y ON x.id = y.volume WHERE y.day = '2026-03-01'")
    join = facts["join"]
    assert isinstance(join, dict) and join["equal"] == [["quote#1.id", "quote#2.volume"]]
    assert facts["outputs"] == ["quote#1.price", "quote#2.id"]
    assert [(t["table"], t["equal"]) for t in join["tables"]] == [("quote#1", {}), ("quote#2", {"day": '"2026-03-01"'})]


@pytest.mark.parametrize("condition", ["q.price = NULL", "q.price > 1 AND q.price < 1"])
def test_nothing_is_asked_where_nothing_can_be(condition: str) -> None:
    join = explained(f"SELECT q.id FROM quote q JOIN filing f ON q.id = f.id WHERE {condition}")["join"]
    assert isinstance(join, dict)
    assert all(not (t["equal"] or t["ranges"] or t["rest"]) for t in join["tables"])


def test_others_have_no_join() -> None:
    assert explained("SELECT id FROM quote")["join"] is None
