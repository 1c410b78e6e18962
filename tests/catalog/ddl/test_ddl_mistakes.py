"""Slips in catalog texts are underlined, and what the hint says is accepted."""

from __future__ import annotations

import pytest

from catalog.ddl.statements import apply_ddl
from catalog.sql.errors import CatalogError
from tests.catalog.sample import CATALOG

T = "CREATE TABLE t (id INT PRIMARY KEY)"
CASES = [
    ("CREAT TABLE t (id INT PRIMARY KEY)", "CREAT", "CREATE", T),
    ("CREATE TABEL t (id INT PRIMARY KEY)", "TABEL", "TABLE", T),
    ("CREATE TABLE t (id INT PRIMRAY KEY)", "PRIMRAY", "PRIMARY", T),
    ("DORP TABLE stock", "DORP", "DROP", "DROP TABLE stock"),
    ("DROP TABLE IF EXIST stock", "EXIST", "EXISTS", "DROP TABLE IF EXISTS stock"),
    ("DROP stock", "DROP stock", "DROP TABLE stock", "DROP TABLE stock"),
    ("CREATE t (id INT PRIMARY KEY)", "CREATE t", "CREATE TABLE t", T),
    ("CREATE TABLE `t` (id INT PRIMARY KEY)", "`t`", "t", T),
    ("CREATE TABLE t (`Id` INT PRIMARY KEY)", "`Id`", "id", T),
    ("CREATE TABLE t ([my id] INT PRIMARY KEY)", "[my id]", '"my id"', 'CREATE TABLE t ("my id" INT PRIMARY KEY)'),
    ("CREATE TABLE t (my-id INT PRIMARY KEY)", "my-id", '"my-id"', 'CREATE TABLE t ("my-id" INT PRIMARY KEY)'),
    ("CREATE TABLE t (my id INT PRIMARY KEY)", "my id", '"my id"', 'CREATE TABLE t ("my id" INT PRIMARY KEY)'),
    ("CREATE TABLE t (1st INT PRIMARY KEY)", "1st", '"1st"', 'CREATE TABLE t ("1st" INT PRIMARY KEY)'),
    ("CREATE TABLE t ('id' INT PRIMARY KEY)", "'id'", '"id"', 'CREATE TABLE t ("id" INT PRIMARY KEY)'),
    ("CREATE TABLE t (true INT PRIMARY KEY)", "true", '"true"', 'CREATE TABLE t ("true" INT PRIMARY KEY)'),
    ("CREATE TABLE t (current_user INT PRIMARY KEY)", "current_user", '"current_user"',
     'CREATE TABLE t ("current_user" INT PRIMARY KEY)'),
    ("CREATE TABLE t (select INT PRIMARY KEY)", "select", '"select"', 'CREATE TABLE t ("select" INT PRIMARY KEY)'),
    ("CREATE TABLE t (id INT, PRIMARY KEY id)", "id", "PRIMARY KEY (id)", "CREATE TABLE t (id INT, PRIMARY KEY (id))"),
    ("CREATE TABLE t (id INT PRIMARY)", "PRIMARY", "PRIMARY KEY", T),
    ("CREATE TABLE t (id INT, PRIMARY KEY (id DESC))", "DESC", "Leave out DESC",
     "CREATE TABLE t (id INT, PRIMARY KEY (id))"),
    (T + " WITH ('topic' 'x')", "'topic' 'x'", "'topic'='x'", T + " WITH ('topic'='x')"),
    (T + " WITH ('topic' => 'x')", "'topic' => 'x'", "'topic'='x'", T + " WITH ('topic'='x')"),
    (T + " WITH ('topic'='x' 'format'='csv')", "'x' 'format'", "'x', 'format'",
     T + " WITH ('topic'='x', 'format'='csv')"),
    (T + " WITH (topic=x)", "x", "in single quotes", T + " WITH (topic='x')"),
    (T + " ENGINE=InnoDB", "ENGINE", "Leave it out", T),
    ("CREATE UNLOGGED TABLE t (id INT PRIMARY KEY)", "UNLOGGED", "Leave it out", T),
    (T + " WITH ('format'='debezium')", "'debezium'", "Did you mean debezium-json?",
     T + " WITH ('format'='debezium-json')"),
    ("ALTER TABLE stock ADD COLUMN v INT", "ALTER", "nullable columns appended", T),
    ("CREATE TABLE t (id INT PRIMARY KEY, v DECIMAL(-1))", "-1", "DECIMAL(12,2)", T),
    ("CREATE TABLE t (id INT PRIMARY KEY, v DECIMAL(10,-2))", "10,-2", "DECIMAL(12,2)", T),
    ("CREATE TABLE t (id INT PRIMARY KEY, v DECIMAL(10,2,3))", "10,2,3", "DECIMAL(12,2)", T),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "place", "hint", "right"), CASES)
def test_slips_are_underlined_and_the_hint_is_right(sql, place, hint, right) -> None:
    with pytest.raises(CatalogError) as caught:
        apply_ddl(CATALOG, sql, 1)
    error = caught.value
    assert sql[error.start : error.end] == place
    assert hint in (error.hint or ""), error
    assert apply_ddl(CATALOG, right, 1)
