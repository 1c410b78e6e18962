import msgspec
import pytest

from catalog.query.explanation import explain
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
    }


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
