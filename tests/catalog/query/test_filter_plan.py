"""Shapes of filters: what of a statement is its shape, and what the constants of a region."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.ddl.statements import apply_ddl
from catalog.query.compiler import Compiler
from catalog.query.filter_plan import MAX_SHOWN, FilterPlan
from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import decode_terms, encode_terms
from catalog.query.output import Output
from catalog.query.plan import make_plan
from catalog.query.question import read_question
from catalog.query.shape import NO_GROUP, Region, group_key
from catalog.query.value_set import ValueSet
from catalog.schema.catalog import Catalog
from catalog.sql.errors import SubscriptionError
from catalog.sql.statement_text import StatementText
from catalog.types.literal import ConstantRefused, LiteralKind
from tests.catalog.sample import CATALOG, compiler, region
from tests.effort import examples

STOCK = CATALOG.relations["stock"]


def shape(condition: str, selected: str = "symbol") -> FilterShape:
    found = region(condition, selected).shape
    assert isinstance(found, FilterShape)
    return found


def test_a_shape_has_the_columns_that_are_shown_and_compared() -> None:
    found = shape("volume > 5 AND (exchange = 'a' OR price IS NULL) AND volume < 9", "price, symbol, price AS again")
    assert found == FilterShape("stock", ("price", "symbol", "price"), (), ("exchange", "price", "volume"), (), (1,))
    assert shape("", "price, risk") == FilterShape("stock", ("price", "risk"), (), (), (), ())


def test_conditions_of_the_same_columns_have_one_shape() -> None:
    assert shape("volume = 1 AND price = 2") == shape("NOT (price <> 3 OR volume IN (5, 6))")


def test_a_star_is_all_columns_of_the_table() -> None:
    names = tuple(column.name for column in STOCK.columns)
    for selected in ("*", "stock.*"):
        assert shape("", selected).shown == names and shape("", selected).keys == (0,)
    assert shape("", "price, *").shown == ("price", *names)
    compiled = compiler().compile("SELECT * FROM stock")
    assert compiled.columns == tuple(column.type for column in STOCK.columns)
    with pytest.raises(SubscriptionError, match="1,612 columns, where at most 1,600"):
        compiler().compile(f"SELECT {', '.join(['*'] * (MAX_SHOWN // 13 + 1))} FROM stock")


def test_totals_take_any_condition_and_a_range_stays_a_range() -> None:
    assert shape("volume <> 1", "COUNT(*), SUM(price)").outputs == (Output("count", None), Output("sum", "price"))
    assert shape("volume > 1 AND price > 1", "AVG(price)").tested == ("price", "volume")
    for condition in ("", "volume > 1", "volume = 1 AND exchange = 'a' AND price < 3", "NOT price > 3", "open"):
        for selected in ("COUNT(*)", "SUM(price), AVG(risk)", "MIN(price)"):
            found = region(condition, selected)
            assert not isinstance(found.shape, FilterShape) and found.terms == b""


def test_the_columns_of_totals_are_their_types() -> None:
    compiled = compiler().compile("SELECT COUNT(*), SUM(price) FROM stock WHERE open OR volume = 1")
    assert [str(type_) for type_ in compiled.columns] == ["None", "DECIMAL(12,2)"]
    assert compiled.cost == "table changes"


BUCKETS = apply_ddl(
    Catalog(),
    "CREATE TABLE t (a INT, b VARCHAR, c INT, v INT, PRIMARY KEY (a, b, c)) WITH ('buckets'='8', 'bucket.by'='b, a')",
    0,
)


def of_bucket(condition: str, selected: str = "v") -> Region:
    return Compiler(BUCKETS).compile(f"SELECT {selected} FROM t WHERE {condition}").region


def test_the_columns_that_part_a_table_are_the_group() -> None:
    found = of_bucket("b = 'x' AND (v > 1 OR c = 2) AND 3 = a AND a < 5")
    assert isinstance(found.shape, FilterShape)
    assert (found.shape.bucket, found.shape.grouped, found.group) == (("a", "b"), ("a", "b"), group_key((3, "x")))
    assert all(box[0] == ValueSet(((3, 3),)) for box in decode_terms(found.terms))
    assert of_bucket("NOT (b <> 'x' OR a <> 3)").group == group_key((3, "x"))
    assert of_bucket("b = 'x' AND a = 3 AND v <> 1", "COUNT(*)").group == group_key((3, "x"))


def test_impossible_buckets_are_legal_and_empty() -> None:
    for condition in ("b = 'x' AND a = 1 AND a = 2", "b = NULL AND a = 1 AND v <> 2", "b = 'x' AND a = 2.5"):
        found = of_bucket(condition)
        assert found.empty and found.group == NO_GROUP and decode_terms(found.terms) == []
    assert of_bucket("b = 'x' AND a = 1 AND a > 2").empty


@pytest.mark.parametrize(
    "condition", ["v = 1", "a = 1", "b = 'x' AND a > 1", "b = 'x' AND a IN (1)", "b = 'x' AND (a = 1 OR a = 2)", "a"]
)
def test_a_filter_says_which_bucket(condition) -> None:
    with pytest.raises(SubscriptionError) as caught:
        of_bucket(condition)
    if condition != "a":
        assert "kept in 8 buckets by `a` and `b`" in caught.value.what and "= ..." in (caught.value.hint or "")


def test_patterns_are_for_texts() -> None:
    for condition in ("volume LIKE '5%'", "NOT volume LIKE NULL", "starts_with(day, '2026')"):
        with pytest.raises(SubscriptionError, match="takes texts") as caught:
            region(condition, "symbol")
        assert caught.value.code == "type_mismatch"


constants = st.sampled_from(
    [
        "0",
        "-1",
        "5",
        "5.5",
        "1e400",
        "-1e400",
        "99999999999999999999",
        "NULL",
        "'a'",
        "TRUE",
        "DATE '2026-03-01'",
        "1e-9",
    ]
)
conditions = st.one_of(
    st.builds("{} {} {}".format, st.sampled_from(["volume", "price", "risk", "ratio", "small", "open", "day", "wide"]),
              st.sampled_from(["=", "<", "<=", ">", ">="]), constants),
    st.builds("{} BETWEEN {} AND {}".format, st.sampled_from(["volume", "price", "risk"]), constants, constants),
)  # fmt: skip


@given(st.lists(conditions, min_size=1, max_size=4))
@settings(deadline=None, max_examples=examples(800))
def test_ranges_alone_are_the_box_that_any_condition_would_be(some) -> None:
    """Written in numbers, or as a set for each column: the same terms, and the same refusal."""
    text = StatementText("SELECT symbol FROM stock WHERE " + " AND ".join(some), SubscriptionError)
    question = read_question(text)
    plan = make_plan(CATALOG, question, text)
    assert isinstance(plan, FilterPlan)
    assert (plan.ranges is None) is any("wide" in each for each in some)
    kinds, texts = [o.kind or LiteralKind.NULL for o in question.operands], [o.text for o in question.operands]
    try:
        boxes = plan.form.boxes(kinds, texts)
    except ConstantRefused as refused:
        with pytest.raises(ConstantRefused) as caught:
            plan.region(kinds, texts)
        assert (str(caught.value), caught.value.column) == (str(refused), refused.column)
    else:
        found = plan.region(kinds, texts)
        assert (found.terms, found.empty) == (encode_terms(boxes), not boxes)
