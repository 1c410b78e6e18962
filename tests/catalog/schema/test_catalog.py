"""Relations are found by name: tables, and joins that a cell serves."""

from catalog.schema.join import Join
from tests.catalog import viewed
from tests.catalog.joined import BARE, CATALOG

JOIN, _ = Join.of(["quote", "filing"], [((0, "symbol"), (1, "symbol"))])


def test_a_join_is_there_where_its_cell_is() -> None:
    assert CATALOG.relation("quote") is CATALOG.relations["quote"]
    made = CATALOG.relation(JOIN.name)
    assert made is not None and made.home == JOIN.cell and CATALOG.relation(JOIN.name) is made
    assert BARE.relation(JOIN.name) is None and BARE.relation("nope") is None


def test_a_join_of_columns_that_are_not_there_is_none() -> None:
    nope, _ = Join.of(["quote", "filing"], [((0, "nope"), (1, "symbol"))])
    assert CATALOG.relation(nope.name) is None


def test_shards_of_tables() -> None:
    assert CATALOG.relation_of("quote/0") is CATALOG.relations["quote"]
    assert CATALOG.relation_of("quote/1") is None and CATALOG.relation_of(JOIN.cell) is None


def test_views_are_found_as_tables_are() -> None:
    low = viewed.CATALOG.views["low"].relation
    assert viewed.CATALOG.named("low") == viewed.CATALOG.relation("low") == viewed.CATALOG.relation_of("low/0") == low
    assert viewed.CATALOG.relation_of("dear/3") is not None and viewed.CATALOG.relation_of("dear/4") is None
    assert viewed.CATALOG.named("stage/low/0") is None and viewed.CATALOG.names[-1] == "dear"
