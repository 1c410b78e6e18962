"""Random views over two tables, and DuckDB, which runs their text as it is written over the rows that there are."""

from __future__ import annotations

import random
import re
from typing import Any

import duckdb

TABLES = {
    "p": "CREATE TABLE p (id INTEGER PRIMARY KEY, g VARCHAR, x INTEGER, y BIGINT)",
    "q": "CREATE TABLE q (id INTEGER PRIMARY KEY, g VARCHAR, x DECIMAL(4,1), z DOUBLE)",
}
VALUES: dict[str, dict[str, list[Any]]] = {
    "p": {"g": ["u", "v", None], "x": [None, 0, 1, 2], "y": [None, 1, 2, 3]},
    "q": {"g": ["u", "v", "", None], "x": [None, "0.0", "1", "1.5", "2.0"], "z": [None, 1.0, 2.0, 2.5]},
}
Row = dict[str, Any]
_NUMBERS = {"p": ["x", "y", "id"], "q": ["x", "z", "id"]}
_LATEST = re.compile(r"LATEST\((\w+) BY (\w+)\)")


def random_views(choose: random.Random) -> dict[str, str]:
    """Return texts of some views by name, over p and q and over each other; each shows a number `n` and a text `g`."""
    made: dict[str, str] = {}
    for name in ("v", "w", "u")[: choose.randrange(1, 4)]:
        made[name] = _random_view(choose, list(made))
    return made


def _random_view(choose: random.Random, views: list[str]) -> str:
    if views and choose.random() < 0.6:
        return choose.choice(_OF_VIEW)(choose, choose.choice(views))
    return choose.choice(_OF_TABLE)(choose, choose.choice(["p", "q"]))


def _mapped(choose: random.Random, table: str) -> str:
    a, b = choose.choice(_NUMBERS[table]), choose.choice(_NUMBERS[table])
    item = choose.choice([f"{a} {choose.choice('+-*')} {b}", f"COALESCE({a}, 1)", f"-{a}", f"{a} * 2 - 1", "id"])
    return f"SELECT id, g, {item} AS n FROM {table}{_where(choose, table)}"


def _where(choose: random.Random, table: str) -> str:
    a, b = choose.choice(_NUMBERS[table]), choose.choice(_NUMBERS[table])
    conditions = [
        f"{a} {choose.choice(['<', '<=', '=', '<>', '>', '>='])} {b}", f"{a} IS NOT NULL", f"{a} IN (1, 1.5, 2)",
        "g = 'u'", "g <> 'v'", f"{a} BETWEEN 0 AND 1", f"{a} + {b} > 1.5", f"{a} NOT IN (1, 2)", "g IS NULL",
    ]  # fmt: skip
    return choose.choice(["", "", f" WHERE {choose.choice(conditions)}"])


def _grouped(choose: random.Random, table: str) -> str:
    number = choose.choice(_NUMBERS[table])
    function = choose.choice(["MIN", "MAX", "SUM", "AVG", "COUNT", "LATEST"])
    other = choose.choice(_NUMBERS[table])
    item = f"LATEST({number} BY {other})" if function == "LATEST" else f"{function}({number})"
    having = choose.choice(
        ["", "", " HAVING COUNT(*) > 1", f" HAVING MIN({number}) >= 1", f" HAVING SUM({number}) < 4"]
    )
    more = choose.choice(["", f", COUNT({number}) + 1 AS m"])
    if choose.random() < 0.2:
        return f"SELECT MAX(g) AS g, {item} AS n{more} FROM {table}{_where(choose, table)}{having}"
    return f"SELECT g, {item} AS n{more} FROM {table}{_where(choose, table)} GROUP BY g{having}"


def _ranked(choose: random.Random, table: str) -> str:
    number = choose.choice(_NUMBERS[table])
    partition = choose.choice(["", "PARTITION BY g "])
    order = (
        f"{number}{choose.choice(['', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST'])}, id{choose.choice(['', ' DESC'])}"
    )
    window = f"ROW_NUMBER() OVER ({partition}ORDER BY {order})"
    place = choose.choice([number, window])
    most = f" QUALIFY {window} <= {choose.randrange(1, 3)}"
    return f"SELECT id, g, {place} AS n FROM {table}{_where(choose, table)}{most}"


def _joined(choose: random.Random, table: str) -> str:
    other = "q" if table == "p" else "p"
    kind = choose.choice(["JOIN", "LEFT JOIN"])
    on = choose.choice(["a.g = b.g", "a.x = b.x", "a.id = b.id", "a.g = b.g AND a.x = b.x", "a.x = b.id"])
    item = choose.choice(["b.x", "a.x + b.x", "COALESCE(b.x, 0)", "a.x - b.id"])
    where = choose.choice(["", "", " WHERE b.id IS NULL", " WHERE a.x <= b.x"])
    with_id = choose.choice(["a.id, b.id AS id_b", "b.id", "a.id"])
    return f"SELECT {with_id}, a.g, {item} AS n FROM {table} a {kind} {other} b ON {on}{where}"


def _self_joined(choose: random.Random, table: str) -> str:
    kind = choose.choice(["JOIN", "LEFT JOIN"])
    return f"SELECT a.id, a.g, b.x AS n FROM {table} a {kind} {table} b ON a.g = b.g AND a.x = b.id"


def _united(choose: random.Random, table: str) -> str:
    number = choose.choice(_NUMBERS["q"])
    return (
        f"SELECT g, {choose.choice(_NUMBERS['p'])} AS n FROM p UNION ALL SELECT g, {number} FROM q{_where(choose, 'q')}"
    )


def _view_mapped(choose: random.Random, view: str) -> str:
    where = choose.choice(["", " WHERE n > 1", " WHERE n IS NOT NULL AND g = 'u'"])
    return f"SELECT g, n + 1 AS n FROM {view}{where}"


def _view_grouped(choose: random.Random, view: str) -> str:
    function = choose.choice(["MIN", "MAX", "SUM", "COUNT"])
    by = choose.choice(["g", "n"])
    if by == "n":
        return f"SELECT MIN(g) AS g, n FROM {view} GROUP BY n"
    return f"SELECT g, {function}(n) AS n FROM {view} GROUP BY g"


def _view_joined(choose: random.Random, view: str) -> str:
    table = choose.choice(["p", "q"])
    kind = choose.choice(["JOIN", "LEFT JOIN"])
    if choose.random() < 0.5:
        return f"SELECT a.id, a.g, b.n FROM {table} a {kind} {view} b ON a.g = b.g"
    return f"SELECT b.id, a.g, a.n FROM {view} a {kind} {table} b ON a.n = b.x"


def _diamond(choose: random.Random, view: str) -> str:
    return f"SELECT a.g, a.n - b.n AS n FROM {view} a JOIN {view} b ON a.g = b.g"


_OF_TABLE = [_mapped, _grouped, _grouped, _ranked, _joined, _self_joined, _united]
_OF_VIEW = [_view_mapped, _view_grouped, _view_joined, _diamond]


def as_duckdb_writes(query: str) -> str:
    """Return a view's text with an expression of DuckDB's for LATEST; of rows with equal times the last id counts."""
    return _LATEST.sub(r"(list(\1 ORDER BY \2 DESC, id DESC) FILTER (\2 IS NOT NULL))[1]", query)


class Database:
    """Tables p and q, and views over them, in DuckDB."""

    def __init__(self, views: dict[str, str]) -> None:
        self.connection = duckdb.connect()
        self.connection.execute("PRAGMA disable_optimizer")
        self.connection.execute("SET default_null_order = 'NULLS_LAST_ON_ASC_FIRST_ON_DESC'")
        for ddl in TABLES.values():
            self.connection.execute(ddl)
        for name, query in views.items():
            self.create_view(name, query)

    def create_view(self, name: str, query: str) -> None:
        self.connection.execute(f"CREATE VIEW {name} AS {as_duckdb_writes(query)}")

    def put(self, table: str, row: Row) -> None:
        self.delete(table, row["id"])
        marks = ", ".join("?" * len(row))
        self.connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", list(row.values()))

    def delete(self, table: str, id: int) -> None:
        self.connection.execute(f"DELETE FROM {table} WHERE id = ?", [id])

    def rows(self, name: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(f"SELECT * FROM {name}").fetchall()


def random_row(choose: random.Random, table: str) -> Row:
    values = {name: choose.choice(some) for name, some in VALUES[table].items()}
    return {"id": choose.randrange(4)} | values
