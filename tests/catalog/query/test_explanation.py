import msgspec
import pytest

from catalog.query.best_shape import BestShape
from catalog.query.channel import Order
from catalog.query.explanation import explain
from catalog.query.shape import Region, group_key
from tests.catalog.sample import CATALOG, compiler


def explained(sql: str) -> dict[str, object]:
    compiled = compiler().compile(sql)
    return msgspec.to_builtins(explain(CATALOG, compiled.region, compiled.cost))


def test_values_instead_of_codes() -> None:
    sql = "SELECT MAX(price) FROM stock WHERE exchange = 'Ö' AND open = TRUE AND day >= '2026-03-01 12:00'"
    assert explained(sql) == {
        "relation": "stock",
        "outputs": ["MAX(price)"],
        "types": ["DECIMAL(12,2)"],
        "group": {"exchange": "Ö", "open": True},
        "range": "day",
        "closed": True,
        "low": "2026-03-02",
        "high": None,
        "empty": False,
        "cost": "reformulated",
        "where": None,
        "order": [],
        "limit": None,
        "join": None,
        "view": None,
        "certainty": "temporary",
        "final_at": None,
    }


def test_a_filter_says_what_each_column_has_to_be() -> None:
    sql = """SELECT symbol, "Lot Size" FROM stock WHERE (volume BETWEEN 1 AND 3 OR volume IS NULL) AND symbol LIKE 'ab%'
             AND price <> 1.5 OR wide IN (1.5, 2) AND exchange > 'a'"""
    facts = explained(sql)
    assert (facts["outputs"], facts["types"]) == (["symbol", '"Lot Size"'], ["VARCHAR", "INTEGER"])
    assert (facts["range"], facts["group"], facts["cost"]) == (None, {}, "table changes")
    where = facts["where"]
    assert isinstance(where, list) and sorted(where, key=len) == [
        {"exchange": 'from "a\\u0000"', "wide": '"1.5000000000" or "2.0000000000"'},
        {"symbol": '"ab" to before "ac"', "price": 'up to "1.49" or from "1.51"', "volume": "1 to 3 or NULL"},
    ]
    assert explained("SELECT symbol FROM stock")["where"] == [{}]
    assert explained("SELECT COUNT(*) FROM stock WHERE volume IN (NULL)")["where"] == []


def test_long_lists_are_cut() -> None:
    values = ", ".join(str(2 * i) for i in range(20))
    (box,) = explained(f"SELECT symbol FROM stock WHERE volume IN ({values})")["where"]
    assert box["volume"] == "0, 2, 4, 6, 8, 10, 12, 14, 16, 18 or 10 more"
    (box,) = explained("SELECT symbol FROM stock WHERE volume IS NOT NULL AND symbol = '' AND wide < 0")["where"]
    assert box == {"symbol": '""', "volume": "any value", "wide": 'before "0.0000000000"'}


def test_first_rows_say_their_order() -> None:
    order = (Order("price", True, True), Order("Lot Size", False, True), Order("symbol", True, True))
    shape = BestShape("stock", ("price",), ("exchange",), "risk", order, 5, ())
    facts = explain(CATALOG, Region(shape, group_key(("N",)), lo=5), "reformulated")
    assert (facts.order, facts.limit) == (["price DESC", '"Lot Size" NULLS FIRST', "symbol DESC"], 5)
    assert (facts.outputs, facts.group, facts.range) == (["price"], {"exchange": "N"}, "risk")


@pytest.mark.parametrize(
    ("condition", "low", "high", "empty"),
    [
        ("price > 1.005 AND price < 2", "1.01", "1.99", False),
        ("volume BETWEEN 5 AND 3", 5, 3, True),
        ("volume <= 1e100", None, None, False),
        ("volume > 1e100", 2**63 - 1, -(2**63), True),
        ("small > 70000", None, None, True),
        ("risk >= -1e400 AND risk <= 0.5", None, 0.5, False),
        ("symbol BETWEEN 'a' AND 'b'", "a", "b\0", False),
        ("symbol < 'b'", None, "b", False),
        ("wide >= 1.5", "1.5000000000", None, False),
        ("at < TIMESTAMP '2026-03-01'", None, "2026-02-28T23:59:59.999999", False),
    ],
)
def test_bounds(condition, low, high, empty) -> None:
    facts = explained(f"SELECT MIN(price) FROM stock WHERE {condition}")
    assert (facts["low"], facts["high"], facts["empty"]) == (low, high, empty)


def test_no_range_and_no_group() -> None:
    facts = explained("SELECT MIN(price) FROM stock WHERE volume = 2.5")
    assert (facts["group"], facts["range"], facts["empty"]) == (None, None, True)
    assert explained("SELECT MIN(price) FROM stock")["group"] == {}
