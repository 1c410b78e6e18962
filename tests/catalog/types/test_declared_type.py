import pytest

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from catalog.sql.errors import CatalogError


@pytest.mark.parametrize(
    ("written", "type_"),
    [
        ("BOOLEAN", "BOOLEAN"),
        ("bool", "BOOLEAN"),
        ("SMALLINT", "SMALLINT"),
        ("int", "INTEGER"),
        ("INTEGER", "INTEGER"),
        ("BIGINT", "BIGINT"),
        ("REAL", "REAL"),
        ("DOUBLE", "DOUBLE"),
        ("Double\n  Precision", "DOUBLE"),
        ("DECIMAL(12,2)", "DECIMAL(12,2)"),
        ("decimal ( 38 , 38 )", "DECIMAL(38,38)"),
        ("NUMERIC(5)", "DECIMAL(5,0)"),
        ("DEC(1,1)", "DECIMAL(1,1)"),
        ("DATE", "DATE"),
        ("TIMESTAMP", "TIMESTAMP"),
        ("VARCHAR", "VARCHAR"),
        ("TEXT", "VARCHAR"),
    ],
)
def test_types(written, type_) -> None:
    catalog = apply_ddl(Catalog(), f"CREATE TABLE t (k INT PRIMARY KEY, a {written} NOT NULL)", 0)
    column = catalog.relations["t"].column("a")
    assert str(column.type) == type_ and not column.nullable


@pytest.mark.parametrize(
    "written",
    [
        "FLOAT",
        "FLOAT8",
        "TINYINT",
        "CHAR",
        "NVARCHAR",
        "STRING",
        "TIMESTAMPTZ",
        "DATETIME",
        "TIME",
        "INTERVAL",
        "UUID",
        "JSON",
        "BLOB",
        "BYTEA",
        "MAP<INT, INT>",
        "INT[]",
        "VARCHAR[3]",
        "BIGINT UNSIGNED",
        "VARCHAR(10)",
        "BOOLEAN(1)",
        "DATE(3)",
        "DECIMAL",
        "DECIMAL(0)",
        "DECIMAL(39)",
        "DECIMAL(5,6)",
        "DECIMAL(5,2,1)",
        "DECIMAL(99999999)",
        "DECIMAL('5')",
        "DECIMAL(x)",
        "DECIMAL(-1)",
        "ENUM('a','b')",
        "TIMESTAMP WITH TIME ZONE",
        "DOUBLE(3)",
        "REAL(3)",
        "foo",
        "SERIAL",
    ],
)
def test_no_types(written) -> None:
    with pytest.raises(CatalogError) as caught:
        apply_ddl(Catalog(), f"CREATE TABLE t (k INT PRIMARY KEY, a {written})", 0)
    assert caught.value.code in ("unsupported_type", "syntax")
    assert caught.value.line == 1
