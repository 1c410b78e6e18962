import dataclasses

import pytest

from catalog.schema.catalog import Catalog
from tests.catalog.sample import CATALOG


def test_columns_by_name_and_position() -> None:
    stock = CATALOG.relations["stock"]
    assert stock.index("risk") == 3
    assert str(stock.column("price").type) == "DECIMAL(12,2)"
    assert not stock.column("symbol").nullable
    with pytest.raises(KeyError):
        stock.index("Risk")


def test_shard_is_named_after_the_relation() -> None:
    assert CATALOG.relations["gauge"].shard == "gauge/0"


def test_relations_are_values() -> None:
    stock = CATALOG.relations["stock"]
    assert dataclasses.replace(stock) == stock
    assert hash(stock) == hash(dataclasses.replace(stock))


def test_an_empty_catalog_comes_before_every_version() -> None:
    assert Catalog().version == -1 and not Catalog().relations
