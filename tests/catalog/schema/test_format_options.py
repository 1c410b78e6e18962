import pytest

from catalog.ddl.statements import apply_ddl, to_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.format_options import unit_of
from catalog.schema.relation import Relation
from catalog.sql.errors import CatalogError

COLUMNS = "id BIGINT PRIMARY KEY, at TIMESTAMP, day DATE, price DECIMAL(12,2)"


def table(options: str, columns: str = COLUMNS, before: Catalog | None = None) -> Relation:
    catalog = before or Catalog()
    text = f"CREATE TABLE t ({columns}) WITH ('format'='debezium-json'{options})"
    return apply_ddl(catalog, text, catalog.version + 1).relations["t"]


ALL = ", 'timestamp'='micros', 'date'='days', 'decimal'='base64'"


def test_a_column_goes_before_its_type() -> None:
    found = table(ALL + ", 'column.AT'='MILLIS'")
    units = {c.name: unit_of(found, c) for c in found.columns}
    assert units == {"id": None, "at": "millis", "day": "days", "price": "base64"}


def test_records_with_a_schema_need_no_unit() -> None:
    found = table(", 'schema'='inline', 'placeholder'='it''s large'")
    assert [unit_of(found, c) for c in found.columns] == [None] * 4
    assert dict(found.options) == {"schema": "inline", "placeholder": "it's large"}


@pytest.mark.parametrize("options", [ALL, ", 'schema'='inline'", ALL + ", 'placeholder'='it''s', 'column.day'='iso'"])
def test_the_canonical_text_declares_the_same(options) -> None:
    found = table(options)
    assert apply_ddl(Catalog(), to_ddl(found), 0).relations["t"] == found


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_nothing_is_guessed(missing) -> None:
    units = ["'timestamp'='micros'", "'date'='days'", "'decimal'='base64'"]
    with pytest.raises(CatalogError, match="nothing says how Debezium writes"):
        table("".join(f", {unit}" for i, unit in enumerate(units) if i != missing))


def test_a_table_grows_by_a_column_and_its_unit_but_none_changes() -> None:
    first = "CREATE TABLE t (id BIGINT PRIMARY KEY, at TIMESTAMP) WITH ('format'='debezium-json', 'timestamp'='millis')"
    before = apply_ddl(Catalog(), first, 0)
    grown = table(
        ", 'column.at'='millis', 'timestamp'='nanos', 'date'='days'",
        "id BIGINT PRIMARY KEY, at TIMESTAMP, day DATE, late TIMESTAMP",
        before,
    )
    assert [unit_of(grown, c) for c in grown.columns] == [None, "millis", "days", "nanos"]
    with pytest.raises(CatalogError, match="unit of `at` of `t` is millis and cannot become micros"):
        table(", 'timestamp'='micros'", "id BIGINT PRIMARY KEY, at TIMESTAMP", before)
    with pytest.raises(CatalogError, match="option schema of `t` is not given and cannot become inline"):
        table(", 'timestamp'='millis', 'schema'='inline'", "id BIGINT PRIMARY KEY, at TIMESTAMP", before)


def test_a_tab_is_written_as_itself_or_as_its_escape() -> None:
    ddl = "CREATE TABLE t (id BIGINT PRIMARY KEY) WITH ('format'='csv', 'delimiter'='{}')"
    escaped, itself = (apply_ddl(Catalog(), ddl.format(mark), 0) for mark in ("\\t", "\t"))
    assert escaped.relations == itself.relations
    assert dict(escaped.relations["t"].options) == {"delimiter": "\t"}
    assert apply_ddl(Catalog(), to_ddl(escaped.relations["t"]), 0).relations == escaped.relations
    for wrong in ("tab", "\\x09", "", "||"):
        with pytest.raises(CatalogError, match="a delimiter is one character"):
            apply_ddl(Catalog(), ddl.format(wrong), 0)
