"""First rows: their order, their limit, and the range that they are of."""

import pytest

from catalog.ddl.statements import apply_ddl
from catalog.query.best_plan import BestPlan, LimitRefused, make_best_plan
from catalog.query.best_shape import BestShape
from catalog.query.channel import Order
from catalog.query.compiler import Compiler
from catalog.query.question import read_question
from catalog.query.shape import Region, group_key
from catalog.query.template import split
from catalog.schema.catalog import Catalog
from catalog.sql.errors import SubscriptionError
from catalog.sql.statement_text import StatementText
from state.order_code import code_of_double
from tests.catalog.bulk.test_bulk_compiler import together
from tests.catalog.sample import CATALOG, region

PAIRS = apply_ddl(Catalog(), "CREATE TABLE t (a INT, b INT, v INT, w INT NOT NULL, PRIMARY KEY (a, b))", 0)


def plan(sql: str, catalog: Catalog = CATALOG) -> BestPlan:
    text = StatementText(sql, SubscriptionError)
    question = read_question(text)
    return make_best_plan(catalog.relations[question.table.text], question, text)


def best(sql: str, catalog: Catalog = CATALOG) -> Region:
    constants = read_question(StatementText(sql, SubscriptionError)).constants
    return plan(sql, catalog).region([o.kind for o in constants if o.kind], [o.text for o in constants])


def test_a_question_is_a_shape_and_a_place_in_it() -> None:
    where = "WHERE exchange = 'N' AND risk BETWEEN 1 AND 3"
    found = best(f"SELECT symbol, price FROM stock {where} ORDER BY price DESC, symbol LIMIT 3")
    order = (Order("price", True, True), Order("symbol", False, False))
    assert found.shape == BestShape("stock", ("symbol", "price"), ("exchange",), "risk", order, 3, (0,))
    assert (found.group, found.lo, found.hi) == (group_key(("N",)), code_of_double(1), code_of_double(3))
    assert not found.empty and found.terms == b""


def test_the_range_is_that_of_an_aggregate() -> None:
    for condition in ("price > 1.005", "symbol BETWEEN 'a' AND 'b'", "wide < 3 AND open", "volume = 1 AND volume = 2"):
        found, other = best(f"SELECT * FROM stock WHERE {condition} ORDER BY symbol LIMIT 1"), region(condition)
        assert (found.group, found.lo, found.hi, found.empty) == (other.group, other.lo, other.hi, other.empty)


@pytest.mark.parametrize(
    ("written", "order"),
    [
        ("v, a, b", [("v", False, False), ("a", False, False), ("b", False, False)]),
        ("v DESC, b DESC, a", [("v", True, True), ("b", True, True), ("a", False, False)]),
        ("v NULLS FIRST, a, b", [("v", False, True), ("a", False, False), ("b", False, False)]),
        ("v DESC NULLS LAST, a, b", [("v", True, False), ("a", False, False), ("b", False, False)]),
        ("w NULLS FIRST, a NULLS FIRST, b ASC", [("w", False, False), ("a", False, False), ("b", False, False)]),
        ("w DESC NULLS LAST, a, b", [("w", True, True), ("a", False, False), ("b", False, False)]),
        ("v, v DESC, a, b, v", [("v", False, False), ("a", False, False), ("b", False, False)]),
        ("a, b", [("a", False, False), ("b", False, False)]),
    ],
)
def test_orders(written, order) -> None:
    found = best(f"SELECT v FROM t ORDER BY {written} LIMIT 5", PAIRS).shape
    assert isinstance(found, BestShape) and found.order == tuple(Order(*each) for each in order)


@pytest.mark.parametrize("written", ["v", "v, a", "a, b, v", "a, v, b"])
def test_an_order_ends_in_the_primary_key(written) -> None:
    with pytest.raises(SubscriptionError) as caught:
        best(f"SELECT v FROM t ORDER BY {written} LIMIT 5", PAIRS)
    assert "ORDER BY ..., a, b." in (caught.value.hint or "")


def test_each_limit_has_a_shape_and_none_is_empty() -> None:
    for limit in (0, 1, 7, 100):
        found = best(f"SELECT v FROM t ORDER BY a, b LIMIT {limit}", PAIRS)
        assert isinstance(found.shape, BestShape)
        assert (found.shape.limit, found.empty) == (limit, limit == 0)


@pytest.mark.parametrize("limit", ["101", "2.5", "1e1", "'5'", "NULL", "TRUE", "999999999999"])
def test_limits_that_are_none(limit) -> None:
    with pytest.raises(LimitRefused, match="a whole number from 0 to 100"):
        best(f"SELECT v FROM t ORDER BY a, b LIMIT {limit}", PAIRS)


def test_a_limit_is_not_negative() -> None:
    with pytest.raises(SubscriptionError, match="LIMIT with a minus"):
        best("SELECT v FROM t ORDER BY a, b LIMIT -1", PAIRS)


def test_more_than_one_range_is_refused() -> None:
    with pytest.raises(SubscriptionError, match="beside the one over"):
        best("SELECT symbol FROM stock WHERE volume > 1 AND price > 1 ORDER BY symbol LIMIT 1")


FIRST = "SELECT symbol, price FROM stock WHERE exchange = {} AND risk < {} ORDER BY price DESC, symbol LIMIT {}"


def test_the_compiler_takes_them() -> None:
    """Templates, parameters and bulk give what the parser gives, whatever the limit."""
    warm = Compiler(CATALOG)
    written = [FIRST.format(f"'x{i % 3}'", i, limit) for i in range(6) for limit in (0, 1, 5, 100)]
    fresh = [Compiler(CATALOG).compile(sql) for sql in written]
    assert [warm.compile(sql) for sql in written] == fresh
    assert warm.shortcut(split(written[0])[0]) is not None
    template, parameters = FIRST.format("?", "?", "?"), [[f"x{i % 3}", i, n] for i in range(6) for n in (0, 1, 5, 100)]
    assert [warm.compile_template(template, each) for each in parameters] == fresh
    assert together(written * 2) == dict(enumerate(fresh * 2))
    for limit in ("101", "-1", "2.5", "'5'"):
        with pytest.raises(SubscriptionError, match="LIMIT") as caught:
            warm.compile(FIRST.format("'x'", 1, limit))
        assert caught.value.line == 1
    for parameter in (101, -1, 2.5, "5", None, True):
        with pytest.raises(SubscriptionError, match="LIMIT"):
            warm.compile_template(template, ["x", 1, parameter])


@pytest.mark.parametrize(
    "condition",
    [
        "price <> 1", "symbol LIKE 'A%'", "symbol NOT LIKE 'A%'", "price IN (1)", "price NOT IN (1, 2)",
        "NOT price = 1", "price IS NULL", "price IS NOT NULL", "price = 1 OR price = 2", "price NOT BETWEEN 1 AND 2",
        "exchange = 'N' AND (risk > 1 OR risk < 0)",
    ],
)  # fmt: skip
def test_a_condition_that_is_no_range_is_refused(condition: str) -> None:
    with pytest.raises(SubscriptionError, match="is not supported") as caught:
        Compiler(CATALOG).compile(f"SELECT symbol FROM stock WHERE {condition} ORDER BY price, symbol LIMIT 3")
    assert caught.value.code == "unsupported" and "without ORDER BY, take any condition" in str(caught.value)
