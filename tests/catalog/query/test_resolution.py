"""What names stand for, and what is said where they stand for nothing."""

from dataclasses import replace

import pytest

from catalog.query.resolution import check_buckets, column_of, relation_of
from catalog.query.statement_names import Name
from catalog.sql.errors import SubscriptionError
from catalog.sql.statement_text import StatementText
from tests.catalog.sample import CATALOG

TEXT = StatementText("SELECT MIN(price) FROM stock", SubscriptionError)
STOCK = CATALOG.relations["stock"]
TABLE = Name("stock", (23, 28))


def test_tables_and_columns_that_there_are() -> None:
    assert relation_of(CATALOG, TABLE, TEXT) is STOCK
    assert column_of(STOCK, Name("Lot Size", None), TEXT) == STOCK.columns[-1]


def test_names_that_stand_for_nothing() -> None:
    with pytest.raises(SubscriptionError, match="no table `stok`") as table:
        relation_of(CATALOG, Name("stok", None), TEXT)
    with pytest.raises(SubscriptionError, match="no column `lot size`") as column:
        column_of(STOCK, Name("lot size", None), TEXT)
    assert (table.value.code, table.value.hint) == ("unknown_table", "Did you mean `stock`?")
    assert (column.value.code, column.value.hint) == ("unknown_column", "Did you mean `Lot Size`?")


def test_each_column_that_parts_the_table_is_compared() -> None:
    parted = replace(STOCK, buckets=4, bucket_by=("exchange", "Lot Size"))
    check_buckets(parted, TABLE, {"exchange", "Lot Size", "price"}, TEXT)
    check_buckets(STOCK, TABLE, set(), TEXT)
    with pytest.raises(SubscriptionError, match="in 4 buckets by `exchange` and `Lot Size`") as caught:
        check_buckets(parted, TABLE, {"exchange"}, TEXT)
    assert 'Add "Lot Size" = ... to the WHERE' in (caught.value.hint or "")
