"""A subscription's SQL, run by DuckDB as written: only the SELECT list is replaced, in DuckDB's own syntax tree.

    SELECT MIN(price) FROM stock WHERE exchange = 'NYSE' AND risk BETWEEN 1 AND 3
    SELECT __from, __to, __rank_0 FROM stock WHERE ((exchange = 'NYSE') AND (risk BETWEEN 1 AND 3))

The tree comes from `json_serialize_sql` and goes back through `json_deserialize_sql`, so the condition is DuckDB's
reading of the text, not ours; only constants are made exact (`literals`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import duckdb

from tidewire.verification.literals import make_exact
from tidewire.verification.words import quote_names


class Unreadable(Exception):
    """DuckDB cannot read the SQL, or it is no question that is known here."""


@dataclass(frozen=True, slots=True)
class Query:
    """What a client registered: SQL, or a template with parameters (JSON values)."""

    sql: str
    params: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """`aggregate` (`min` or `max`) of `measure` over `table`, both in lower case; `tree` is DuckDB's."""

    aggregate: str
    measure: str
    table: str
    tree: str
    params: tuple[Any, ...]

    def selection(self, database: duckdb.DuckDBPyConnection, rank: str, types: dict[str, str]) -> str:
        """Return the SELECT of (from, to, rank) of the versions that meet the condition; `types` by column name."""
        tree = json.loads(self.tree)
        node = tree["statements"][0]["node"]
        node["select_list"] = [_column("__from"), _column("__to"), _column(rank)]
        if node["where_clause"] is not None:
            node["where_clause"] = make_exact(node["where_clause"], types, self.params)
        made = database.execute("SELECT json_deserialize_sql(?)", [json.dumps(tree)]).fetchone()
        assert made is not None
        return str(made[0])


def parse(database: duckdb.DuckDBPyConnection, query: Query, names: set[str]) -> Question:
    """Read the query; `names` are those of columns, which may be keywords of DuckDB. Raises Unreadable."""
    try:
        made = database.execute("SELECT json_serialize_sql(?)", [quote_names(query.sql, names)]).fetchone()
    except duckdb.Error as error:
        raise Unreadable(str(error)) from None
    assert made is not None
    tree = json.loads(made[0])
    if tree["error"]:
        raise Unreadable(tree["error_message"])
    try:
        return _question(tree, made[0], query)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise Unreadable(f"not a question of MIN or MAX: {error}") from None


def _question(tree: dict[str, Any], text: str, query: Query) -> Question:
    [statement] = tree["statements"]
    node = statement["node"]
    [item] = node["select_list"]
    [argument] = item["arguments"]
    aggregate = item["function_name"].lower()
    measure = argument["expression"]["column_names"][-1].lower()
    table = node["from_table"]["table_name"].lower()
    if aggregate not in ("min", "max") or node["group_expressions"] or node["having"] or node["modifiers"]:
        raise ValueError(aggregate)
    return Question(aggregate, measure, table, text, query.params)


def _column(name: str) -> dict[str, Any]:
    return {
        "class": "COLUMN_REF",
        "type": "COLUMN_REF",
        "alias": "",
        "query_location": 0,
        "query_location_length": 0,
        "column_names": [name],
    }
