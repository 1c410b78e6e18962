"""Questions to a table that chooses its subscribers: what they become, and what is refused with what works."""

from __future__ import annotations

import pytest

from catalog.ddl.statements import apply_ddl
from catalog.query.compiler import Compiler
from catalog.query.explanation import explain
from catalog.query.filter_shape import FilterShape
from catalog.schema.catalog import Catalog
from catalog.sql.errors import SubscriptionError
from tests.catalog import refusals
from tests.catalog.chosen import CATALOG

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


@pytest.mark.parametrize(("sql", "code", "message"), refusals.read("refusals_audience.txt"))
def test_what_might_tell_more_is_refused(sql: str, code: str, message: str) -> None:
    error = refusals.refuse_chosen(sql)
    assert error is not None and (error.code, str(error)) == (code, message)


def test_a_refusal_says_what_works() -> None:
    said = refused("SELECT MIN(v) FROM offer")
    assert "SELECT columns FROM offer [WHERE ...] ATTRIBUTES (age = ..., region = ...)" in said and "COUNT, SUM" in said


def test_a_table_called_attributes_is_a_table() -> None:
    catalog = apply_ddl(Catalog(), "CREATE TABLE attributes (k BIGINT PRIMARY KEY)", 1)
    assert Compiler(catalog).compile("SELECT k FROM attributes WHERE attributes.k = 1")
    assert Compiler(catalog).compile("SELECT attributes.k FROM attributes attributes WHERE k = 1")
