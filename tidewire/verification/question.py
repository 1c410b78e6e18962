"""A subscription's SQL, run by DuckDB as written: only the SELECT list is replaced, in DuckDB's own syntax tree.

    SELECT MIN(price) FROM stock WHERE exchange = 'NYSE' AND risk BETWEEN 1 AND 3
    SELECT __from, __to, __rank_0 FROM stock WHERE ((exchange = 'NYSE') AND (risk BETWEEN 1 AND 3))

The tree comes from `json_serialize_sql` and goes back through `json_deserialize_sql`, so the condition is DuckDB's
reading of the text, not ours. One thing is exact here that DuckDB would round: a number in scientific notation beside
an integer or decimal column is written out (DuckDB compares BIGINT with 9007199254740992e0 as doubles).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import duckdb

from tidewire.verification.words import quote_names

_MAX_DIGITS = 38
_INEXACT = ("FLOAT", "DOUBLE")


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
            _write_out(node["where_clause"], types)
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


def _write_out(node: Any, types: dict[str, str]) -> None:
    """Write numbers in scientific notation out where a column of an exact type stands beside them."""
    for comparison in _comparisons(node):
        sides = [comparison[name] for name in ("left", "right", "input", "lower", "upper") if name in comparison]
        columns = [side["column_names"][-1].lower() for side in sides if side.get("class") == "COLUMN_REF"]
        if columns and all(not types.get(name, "DOUBLE").startswith(_INEXACT) for name in columns):
            for side in sides:
                _write_constants(side)


def _comparisons(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        if node.get("class") in ("COMPARISON", "BETWEEN"):
            yield node
        for child in node.values():
            yield from _comparisons(child)
    elif isinstance(node, list):
        for child in node:
            yield from _comparisons(child)


def _write_constants(node: Any) -> None:
    if isinstance(node, list):
        for child in node:
            _write_constants(child)
    elif isinstance(node, dict):
        literal = node.get("literal")
        if isinstance(literal, dict) and literal.get("kind") == "NUMERIC" and "e" in literal["text"].lower():
            number = Decimal(literal["text"])
            if abs(number.adjusted()) < _MAX_DIGITS and len(format(number, "f")) <= _MAX_DIGITS:
                literal["text"] = format(number, "f")
        for child in node.values():
            _write_constants(child)
