"""A subscription's SQL, run by DuckDB as written: only the SELECT list is replaced, in DuckDB's own syntax tree.

    SELECT MIN(price), COUNT(*) FROM stock WHERE exchange = 'NYSE' AND risk BETWEEN 1 AND 3 NOTIFY LATEST
    SELECT __from, __to, __rank_0 FROM stock WHERE ((exchange = 'NYSE') AND (risk BETWEEN 1 AND 3))

The tree comes from `json_serialize_sql` and goes back through `json_deserialize_sql`, so the condition is DuckDB's
reading of the text, not ours; only constants are made exact (`literals`), and what stands behind the statement that is
no SQL is cut off before (`policy`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from tidewire.verification.records.lexer import quote_names
from tidewire.verification.records.literals import make_exact
from tidewire.verification.records.policy import EVERY_CHANGE, Policy, cut_options, with_record


class Unreadable(Exception):
    """DuckDB cannot read the SQL, or it is no question that is known here."""


@dataclass(frozen=True, slots=True)
class Query:
    """What a client registered: SQL, or a template with parameters (JSON values), and options beside it.

    `whole` is False where the record is gone, and with it what it may have said beside the SQL.
    """

    sql: str
    params: tuple[Any, ...] = ()
    notify: str | None = None
    ttl: int | None = None
    deliver: str | None = None
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Item:
    """An item of the SELECT list; COUNT(*) has no column.

    `function` is `min`, `max`, `count`, `count distinct`, `sum`, `avg`, or of the whole statement `distinct`.
    """

    function: str
    column: str | None


@dataclass(frozen=True, slots=True)
class Question:
    """`items` over `table`, names in lower case; `tree` is DuckDB's."""

    items: tuple[Item, ...]
    table: str
    tree: str
    params: tuple[Any, ...]
    policy: Policy = EVERY_CHANGE

    @property
    def distinct(self) -> bool:
        """Whether the answer is a set of values."""
        return self.items[0].function == "distinct"

    @property
    def measures(self) -> set[str]:
        """The columns in the SELECT list."""
        return {item.column for item in self.items if item.column is not None}

    def selection(self, database: duckdb.DuckDBPyConnection, ranks: Sequence[str], types: dict[str, str]) -> str:
        """Return the SELECT of (from, to, ranks) of the versions that meet the condition; `types` by column name."""
        tree = json.loads(self.tree)
        node = tree["statements"][0]["node"]
        node["select_list"] = [_column(name) for name in ("__from", "__to", *ranks)]
        node["modifiers"] = []
        if node["where_clause"] is not None:
            node["where_clause"] = make_exact(node["where_clause"], types, self.params)
        made = database.execute("SELECT json_deserialize_sql(?)", [json.dumps(tree)]).fetchone()
        assert made is not None
        return str(made[0])


def says_policy(query: Query) -> bool:
    """Whether it is known when its subscriber is told: the record is there, or the SQL itself says it."""
    return query.whole or cut_options(query.sql)[1].kind != "every"


def is_pushed(query: Query) -> bool:
    """Whether its deliveries are told over HTTP alone."""
    said = query.deliver == "push" or "push" in query.sql.lower()
    return said and with_record(cut_options(query.sql)[1], None, None, query.deliver).pushed


def parse(database: duckdb.DuckDBPyConnection, query: Query, names: set[str]) -> Question:
    """Read the query; `names` are those of columns, which may be keywords of DuckDB. Raises Unreadable."""
    statement, policy = cut_options(query.sql)
    if "\0" in statement or any(isinstance(value, str) and "\0" in value for value in query.params):
        raise Unreadable("DuckDB reads a text only up to a NUL")
    try:
        made = database.execute("SELECT json_serialize_sql(?)", [quote_names(statement, names)]).fetchone()
    except duckdb.Error as error:
        raise Unreadable(str(error)) from None
    assert made is not None
    try:
        tree = json.loads(made[0])
        if tree["error"]:
            raise Unreadable(tree["error_message"])
        return _question(tree, made[0], query, with_record(policy, query.notify, query.ttl, query.deliver))
    except (KeyError, IndexError, TypeError, ValueError, RecursionError) as error:
        raise Unreadable(f"not a question of a range: {error}") from None


def _question(tree: dict[str, Any], text: str, query: Query, policy: Policy) -> Question:
    [statement] = tree["statements"]
    node = statement["node"]
    if node["group_expressions"] or node["having"]:
        raise ValueError("it groups")
    if node["modifiers"]:
        [modifier] = node["modifiers"]
        [item] = node["select_list"]
        if modifier["type"] != "DISTINCT_MODIFIER" or modifier["distinct_on_targets"]:
            raise ValueError(modifier["type"])
        items = [Item("distinct", _name(item))]
    else:
        items = [_item(item) for item in node["select_list"]]
    return Question(tuple(items), node["from_table"]["table_name"].lower(), text, query.params, policy)


def _item(item: dict[str, Any]) -> Item:
    function = item["function_name"].lower()
    if item["filter"] is not None or (item["distinct"] and function != "count"):
        raise ValueError(f"{function} of a part of the rows")
    if function == "count_star":
        return Item("count", None)
    if function not in ("min", "max", "count", "sum", "avg"):
        raise ValueError(function)
    [argument] = item["arguments"]
    return Item("count distinct" if item["distinct"] else function, _name(argument["expression"]))


def _name(reference: dict[str, Any]) -> str:
    return str(reference["column_names"][-1]).lower()


def _column(name: str) -> dict[str, Any]:
    return {
        "class": "COLUMN_REF",
        "type": "COLUMN_REF",
        "alias": "",
        "query_location": 0,
        "query_location_length": 0,
        "column_names": [name],
    }
