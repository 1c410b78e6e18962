"""QUALIFY: the first rows of each group, in an order without ties."""

import pytest

from catalog.schema.view import By, Map, TopK
from tests.catalog.viewed import declared

WINDOW = "ROW_NUMBER() OVER (PARTITION BY dest ORDER BY fare DESC, flight)"


def top(query: str) -> TopK:
    [found] = [s.operator for s in declared(query).stages if isinstance(s.operator, TopK)]
    return found


@pytest.mark.parametrize(
    "condition",
    [f"{WINDOW} <= 1", f"{WINDOW} < 2", f"{WINDOW} = 1", f"1 >= {WINDOW}", f"2 > {WINDOW}", f"1 = {WINDOW}"],
)
def test_one_row_of_each_group(condition: str) -> None:
    found = top(f"SELECT flight FROM seat QUALIFY {condition}")
    assert found == TopK("seat", ("dest",), (By("fare", True, True), By("flight", False, False)), 1, False)


def test_the_place_is_a_column() -> None:
    view = declared(f"SELECT flight, {WINDOW} AS place FROM seat QUALIFY place <= 3")
    assert view.sql.endswith(
        "QUALIFY ROW_NUMBER() OVER (PARTITION BY dest ORDER BY fare DESC NULLS FIRST, flight NULLS LAST) <= 3"
    )
    assert [str(column.type) for column in view.relation.columns] == ["VARCHAR", "BIGINT"]
    assert view.stages[-2].relation.columns[-1].name == "ROW_NUMBER()"


def test_what_is_computed_stands_in_a_map_before_it() -> None:
    view = declared(
        "SELECT flight, fare + tax AS x FROM seat QUALIFY ROW_NUMBER() OVER (ORDER BY fare + tax, flight) <= 1"
    )
    first, best, *rest = view.stages
    assert isinstance(first.operator, Map) and isinstance(best.operator, TopK) and not rest
    assert [column.name for column in view.relation.columns] == ["flight", "x"]


def test_the_key_may_be_among_the_columns_of_the_groups() -> None:
    found = top("SELECT dest FROM low QUALIFY ROW_NUMBER() OVER (PARTITION BY dest ORDER BY dest) <= 1")
    assert (found.by, found.order) == (("dest",), (By("dest", False, False),))
    joined = top(
        "SELECT a.flight, b.booking FROM seat a JOIN booked b ON a.flight = b.flight QUALIFY ROW_NUMBER() OVER "
        "(PARTITION BY a.flight ORDER BY b.n, b.booking) <= 2"
    )
    assert joined.by == ("0.flight",)


def test_of_groups_their_columns_and_aggregates() -> None:
    found = top("SELECT dest FROM seat GROUP BY dest QUALIFY ROW_NUMBER() OVER (ORDER BY COUNT(*) DESC, dest) <= 2")
    assert [by.column for by in found.order] == ["COUNT(*)", "dest"]
