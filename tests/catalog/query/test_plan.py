"""Which plan a statement is answered by, whatever its constants."""

import pytest

from catalog.query.best_plan import BestPlan
from catalog.query.filter_plan import FilterPlan
from catalog.query.plan import make_plan
from catalog.query.question import read_question
from catalog.query.range_plan import RangePlan
from catalog.sql.errors import SubscriptionError
from catalog.sql.statement_text import StatementText
from tests.catalog.sample import CATALOG


@pytest.mark.parametrize(
    ("sql", "plan"),
    [
        ("MIN(price) FROM stock", RangePlan),
        ("COUNT(*) FROM stock WHERE volume > 1 AND volume < 2 AND price = 3", RangePlan),
        ("COUNT(*) FROM stock WHERE volume > 1 AND price > 3", FilterPlan),
        ("COUNT(*) FROM stock WHERE volume > 1 AND volume = 3 AND price > 3", RangePlan),
        ("COUNT(*) FROM stock WHERE volume IN (1)", FilterPlan),
        ("COUNT(DISTINCT price) FROM stock WHERE volume = 1", RangePlan),
        ("price FROM stock WHERE volume = 1", FilterPlan),
        ("* FROM stock", FilterPlan),
        ("DISTINCT price FROM stock WHERE volume > 1", RangePlan),
        ("price FROM stock ORDER BY symbol LIMIT 3", BestPlan),
    ],
)
def test_plans(sql, plan) -> None:
    text = StatementText(f"SELECT {sql}", SubscriptionError)
    assert type(make_plan(CATALOG, read_question(text), text)) is plan


@pytest.mark.parametrize(
    "sql",
    [
        "MIN(price) FROM stock WHERE volume > 1 AND price > 3",
        "MIN(price), COUNT(*) FROM stock WHERE volume <> 1",
        "price FROM stock ORDER BY price LIMIT 3",
    ],
)
def test_refused(sql) -> None:
    text = StatementText(f"SELECT {sql}", SubscriptionError)
    with pytest.raises(SubscriptionError, match="not supported"):
        make_plan(CATALOG, read_question(text), text)
