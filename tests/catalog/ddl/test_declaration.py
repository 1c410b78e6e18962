import pytest

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.relation import Relation
from catalog.sql.errors import CatalogError


def declared(sql: str) -> Relation:
    (relation,) = apply_ddl(Catalog(), sql, 7).relations.values()
    return relation


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE t (a INTEGER, b VARCHAR NOT NULL, PRIMARY KEY (b, a))",
        'create table T (A int, B text not null, primary key ("a", B),)',
        "CREATE TABLE t (PRIMARY KEY (a, b), a INT, b VARCHAR)",
        "CREATE TABLE t (a INTEGER NOT NULL, b VARCHAR NULL, CONSTRAINT pk PRIMARY KEY (a, b)) WITH ('topic'='t')",
    ],
)
def test_forms_of_one_table(sql) -> None:
    table = declared(sql)
    assert (table.name, table.key, table.topic, table.born) == ("t", ("a", "b"), "t", 7)
    assert [(c.name, str(c.type), c.nullable) for c in table.columns] == [
        ("a", "INTEGER", False),
        ("b", "VARCHAR", False),
    ]


def test_names_fold_unless_quoted() -> None:
    table = declared('CREATE TABLE "T" (Key INTEGER PRIMARY KEY, "Key" DATE, date DATE, value INT, text TEXT)')
    assert [c.name for c in table.columns] == ["key", "Key", "date", "value", "text"]
    assert (table.name, table.topic) == ("T", "T")


def test_the_key_stands_in_ddl_order() -> None:
    assert declared("CREATE TABLE t (a INT, b INT, c INT, PRIMARY KEY (c, a))").key == ("a", "c")


def test_a_name_has_an_end() -> None:
    assert len(declared(f"CREATE TABLE t ({'a' * 255} INT PRIMARY KEY)").key[0]) == 255
    with pytest.raises(CatalogError, match="1 to 255"):
        declared(f"CREATE TABLE t ({'a' * 256} INT PRIMARY KEY)")
