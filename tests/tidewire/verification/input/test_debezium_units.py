"""`verify` reads the options of a table by its own code; what it finds is what the catalog finds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from catalog.sql.errors import CatalogError
from tidewire.verification.input.debezium_units import PLACEHOLDER, NoUnit, units_of

COLUMNS = [("id", "BIGINT"), ("price", "DECIMAL(12,2)"), ("day", "DATE"), ("changed", "TIMESTAMP")]
UNITS = ["micros", "millis", "nanos", "zoned", "days", "iso", "base64", "string", "number", "INLINE", "inline", "x", ""]
NAMES = ["timestamp", "date", "decimal", "schema", "column.price", "column.changed", "column.id", "column.none"]


def test_an_option_of_a_column_goes_before_that_of_its_type() -> None:
    options = {"decimal": "base64", "date": "Days", "timestamp": "micros", "column.changed": "zoned"}
    assert units_of(COLUMNS, options) == {"price": "base64", "day": "days", "changed": "zoned"}
    assert units_of(COLUMNS, {"schema": "inline", "date": "iso"}) == {"day": "iso"}
    with pytest.raises(NoUnit):
        units_of(COLUMNS, {"schema": "inline", "placeholder": PLACEHOLDER * 10})


@given(st.dictionaries(st.sampled_from(NAMES), st.sampled_from(UNITS), max_size=5))
def test_it_takes_what_the_catalog_takes(options: dict[str, str]) -> None:
    columns = ", ".join(f"{name} {type}" for name, type in COLUMNS)
    said = "".join(f", '{name}'='{unit}'" for name, unit in options.items())
    try:
        apply_ddl(Catalog(), f"CREATE TABLE t ({columns}, PRIMARY KEY (id)) WITH ('format'='debezium-json'{said})", 0)
    except CatalogError:
        with pytest.raises(NoUnit):
            units_of(COLUMNS, options)
    else:
        units_of(COLUMNS, options)
