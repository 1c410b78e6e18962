import pytest

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from catalog.sql.errors import CatalogError

OLD = apply_ddl(Catalog(), "CREATE TABLE t (a INT PRIMARY KEY, b DATE, c INT NOT NULL)", 0)


@pytest.mark.parametrize(
    "columns",
    [
        "a INT PRIMARY KEY, b DATE, c INT NOT NULL",
        "A INTEGER, b DATE, c INT NOT NULL, PRIMARY KEY (a)",
        "a INT PRIMARY KEY, b DATE, c INT NOT NULL, d VARCHAR, e DECIMAL(30,2)",
    ],
)
def test_legal(columns) -> None:
    new = apply_ddl(OLD, f"CREATE TABLE t ({columns})", 5).relations["t"]
    assert new.columns[:3] == OLD.relations["t"].columns
    assert new.born == 0


@pytest.mark.parametrize(
    ("columns", "what"),
    [
        ("a INT PRIMARY KEY, b DATE", "has a column `c`, which is left out"),
        ("a INT PRIMARY KEY, b TIMESTAMP, c INT NOT NULL", "`b` is DATE and cannot become TIMESTAMP"),
        ("a INT PRIMARY KEY, b DATE, c INT", "`c` is NOT NULL"),
        ("a INT PRIMARY KEY, b DATE NOT NULL, c INT NOT NULL", "`b` may be NULL"),
        ("a INT PRIMARY KEY, c INT NOT NULL, b DATE", "`c` stands before `b`"),
        ("a INT PRIMARY KEY, x INT, b DATE, c INT NOT NULL", "`x` stands before `b`"),
        ("a INT PRIMARY KEY, b DATE, c INT NOT NULL, d INT NOT NULL", "`d` is appended as NOT NULL"),
        ("a INT, b DATE, c INT NOT NULL, PRIMARY KEY (a, c)", "primary key of `t` is (a) and cannot become (a, c)"),
    ],
)
def test_illegal(columns, what) -> None:
    with pytest.raises(CatalogError) as caught:
        apply_ddl(OLD, f"CREATE TABLE t ({columns})", 5)
    assert caught.value.code == "conflict" and what in caught.value.what
    assert "DROP TABLE t" in (caught.value.hint or "")
