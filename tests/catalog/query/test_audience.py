"""Questions to a table that chooses its subscribers: what they become, and what is refused with what works."""

from __future__ import annotations

import pytest

from catalog.query.compiler import Compiler
from catalog.query.explanation import explain
from catalog.query.filter_shape import FilterShape
from catalog.schema.catalog import Catalog
from catalog.schema.ddl import apply_ddl
from catalog.sql.errors import SubscriptionError

COLUMNS = "id BIGINT PRIMARY KEY, price NUMRANGE(12,2), for_age INT4RANGE, for_region VARCHAR, v INTEGER"
AUDIENCE = "'audience'='age:for_age, region:for_region'"
OPEN = f"CREATE TABLE offer ({COLUMNS}) WITH ({AUDIENCE}, 'null.range'='everything')"
CLOSED = f"CREATE TABLE shut ({COLUMNS}) WITH ({AUDIENCE})"
TAGS = "CREATE TABLE tagged (k BIGINT PRIMARY KEY, tag TEXTRANGE, n INTEGER NOT NULL) WITH ('audience'='tag:tag, n:n')"
BUCKETS = (
    "CREATE TABLE part (team VARCHAR, k BIGINT, PRIMARY KEY (team, k)) "
    "WITH ('audience'='team:team', 'null.range'='everything', 'buckets'='2', 'bucket.by'='team')"
)
CATALOG = apply_ddl(Catalog(), ";".join([OPEN, CLOSED, TAGS, BUCKETS, "CREATE TABLE plain (k BIGINT PRIMARY KEY)"]), 1)
ATTRIBUTES = "ATTRIBUTES (age = 31, region = 'north')"


def where(sql: str) -> list[dict[str, str]] | None:
    compiled = Compiler(CATALOG).compile(sql)
    return explain(CATALOG, compiled.region, compiled.cost).where


def refused(sql: str) -> str:
    with pytest.raises(SubscriptionError) as caught:
        Compiler(CATALOG).compile(sql)
    return str(caught.value)


def test_attributes_are_conditions_of_the_columns_that_choose() -> None:
    [box] = where(f"SELECT id FROM offer WHERE v > 5 {ATTRIBUTES}") or []
    assert box == {
        "for_age.lower": "up to [31", "for_age.upper": "from 31]", "for_region": '"north" or NULL', "v": "from 6",
    } or box["for_region"] == '"north" or NULL'  # fmt: skip
    assert {"for_age.lower": "up to [31", "for_age.upper": "from 31]"}.items() <= box.items()


def test_without_null_range_a_missing_constraint_is_for_nobody() -> None:
    [box] = where(f"SELECT id FROM shut {ATTRIBUTES}") or []
    assert box["for_region"] == '"north"'


def test_the_order_of_attributes_and_options_behind_them_change_nothing() -> None:
    compiler = Compiler(CATALOG)
    one = compiler.compile(f"SELECT id FROM offer WHERE v IN (1, 2) {ATTRIBUTES} NOTIFY LATEST TTL 5")
    other = compiler.compile("SELECT id FROM offer WHERE v IN (1, 2) ATTRIBUTES (region = 'north', age = 31)")
    template = "SELECT id FROM offer WHERE v IN (?, 2) ATTRIBUTES (age = ?, region = ?) NOTIFY LATEST"
    third = compiler.compile_template(template, [1, 31, "north"])
    assert one.region == other.region == third.region and one.notify.kind == third.notify.kind == "latest"
    assert compiler.compile(third.sql).region == third.region
    again = compiler.compile("SELECT id FROM offer WHERE v IN (3, 4) ATTRIBUTES (region = 'x', age = 7)")
    assert again.region == Compiler(CATALOG).compile(again.sql).region != other.region


def test_every_kind_of_question_is_a_filter() -> None:
    for item in ("*", "id", "COUNT(*)", "SUM(v), AVG(v), COUNT(for_region)"):
        sql = f"SELECT {item} FROM offer WHERE v = 1 {ATTRIBUTES}"
        assert isinstance(Compiler(CATALOG).compile(sql).region.shape, FilterShape)


def test_a_bucket_may_be_chosen_by_an_attribute() -> None:
    region = Compiler(CATALOG).compile("SELECT k FROM part ATTRIBUTES (team = 'red')").region
    assert region.group == b'["red"]'


def test_a_value_that_looks_like_a_range_is_a_value() -> None:
    shown = where("SELECT k FROM tagged ATTRIBUTES (tag = 'empty', n = 1)")
    assert shown == [{"tag.lower": "up to [empty", "tag.upper": "from empty]", "n": "1"}]
    for value in ("'empty'", "'(,)'", "'[31,31]'", "31.5", "TRUE"):
        assert "for_age" in refused(f"SELECT id FROM offer ATTRIBUTES (age = {value}, region = 'north')")
    assert where("SELECT id FROM shut ATTRIBUTES (age = NULL, region = 'north')") == []


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT id FROM offer", "asks for `age` and `region` of a subscriber"),
        ("SELECT id FROM offer ATTRIBUTES (age = 31)", "asks for `region` of a subscriber"),
        (f"SELECT id FROM offer {ATTRIBUTES[:-1]}, agee = 1)", "no attribute `agee`"),
        (f"SELECT id FROM offer {ATTRIBUTES[:-1]}, age = 1)", "`age` is given twice"),
        (f"SELECT k FROM plain {ATTRIBUTES}", "`plain` has no audience"),
        (f"SELECT MIN(v) FROM offer {ATTRIBUTES}", "MIN of `offer`, whose rows have an audience"),
        (f"SELECT COUNT(*), MAX(v) FROM offer {ATTRIBUTES}", "MAX of `offer`"),
        (f"SELECT DISTINCT v FROM offer {ATTRIBUTES}", "DISTINCT of `offer`"),
        (f"SELECT COUNT(DISTINCT v) FROM offer {ATTRIBUTES}", "COUNT(DISTINCT) of `offer`"),
        (f"SELECT id FROM offer ORDER BY id LIMIT 3 {ATTRIBUTES}", "ORDER BY and LIMIT of `offer`"),
        ("SELECT offer.id FROM plain JOIN offer ON plain.k = offer.id", "a join with `offer`"),
        (f"SELECT offer.id FROM plain JOIN offer ON plain.k = offer.id {ATTRIBUTES}", "ATTRIBUTES over a join"),
        (f"SELECT id FROM offer WHERE for_region = 'south' {ATTRIBUTES}", "`for_region` says for whom a row"),
        (f"SELECT id FROM offer WHERE v = 1 OR NOT for_age @> 3 {ATTRIBUTES}", "`for_age` says for whom a row"),
        (f"SELECT id FROM offer WHERE lower(for_age) > 3 {ATTRIBUTES}", "`for_age` says for whom a row"),
        ("SELECT id FROM offer ATTRIBUTES ()", "ATTRIBUTES holds nothing"),
        ("SELECT id FROM offer ATTRIBUTES (age > 3)", "no attribute with its value"),
        ("SELECT id FROM offer ATTRIBUTES (offer.age = 3)", "no attribute with its value"),
        ("SELECT id FROM offer ATTRIBUTES (age = v)", "a column in the place of a constant"),
        (f"SELECT id FROM offer NOTIFY LATEST {ATTRIBUTES}", "stands behind an option"),
    ],
)
def test_what_might_tell_more_is_refused(sql: str, said: str) -> None:
    assert said in refused(sql)


def test_a_refusal_says_what_works() -> None:
    said = refused("SELECT MIN(v) FROM offer")
    assert "SELECT columns FROM offer [WHERE ...] ATTRIBUTES (age = ..., region = ...)" in said and "COUNT, SUM" in said


def test_a_table_called_attributes_is_a_table() -> None:
    catalog = apply_ddl(Catalog(), "CREATE TABLE attributes (k BIGINT PRIMARY KEY)", 1)
    assert Compiler(catalog).compile("SELECT k FROM attributes WHERE attributes.k = 1")
    assert Compiler(catalog).compile("SELECT attributes.k FROM attributes attributes WHERE k = 1")
