"""A subscription's SQL, run by DuckDB as written: only the SELECT list is replaced, in DuckDB's own syntax tree.

    SELECT MIN(price), COUNT(*) FROM stock WHERE exchange = 'NYSE' AND risk BETWEEN 1 AND 3 NOTIFY LATEST
    SELECT __from, __to, __rank_0 FROM stock WHERE ((exchange = 'NYSE') AND (risk BETWEEN 1 AND 3))

    SELECT symbol, price FROM stock WHERE risk < 3 ORDER BY price DESC, symbol LIMIT 2
    SELECT *, row_number() OVER (ORDER BY __rank_0 DESC NULLS FIRST, __rank_1 NULLS LAST) AS __place
    FROM (SELECT __from, __to, __rank_0, __rank_1 FROM stock WHERE (risk < 3))

The tree comes from `json_serialize_sql` and goes back through `json_deserialize_sql`, so the condition is DuckDB's
reading of the text, not ours; only constants are made exact (`literals`), and what stands behind the statement that is
no SQL is cut off before (`policy`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import duckdb

from tidewire.verification.records.attributes import EVERYBODY, Audience, cut_attributes, visible
from tidewire.verification.records.join_question import ALL, JoinQuestion, join_question
from tidewire.verification.records.lexer import quote_names
from tidewire.verification.records.literals import make_exact
from tidewire.verification.records.policy import EVERY_CHANGE, Policy, cut_options, with_record
from tidewire.verification.records.range_conditions import RangeConditions, with_bound_columns


class Unreadable(Exception):
    """DuckDB cannot read the SQL, or it is no question that is known here."""


@dataclass(frozen=True, slots=True)
class Query:
    """What a client registered: SQL, or a template with parameters (JSON values), and what stands beside it: options,
    and attributes of the subscriber as SQL.

    `whole` is False where the record is gone, and with it what it may have said beside the SQL.
    """

    sql: str
    params: tuple[Any, ...] = ()
    notify: str | None = None
    ttl: int | None = None
    deliver: str | None = None
    whole: bool = True
    attributes: tuple[tuple[str, str], ...] = ()

    def is_said_by(self, sql: str) -> bool:
        """Whether it is what this SQL says: the same text, or with attributes from beside it added to its own."""
        if not self.attributes or sql == self.sql:
            return sql == self.sql
        (said, said_policy), (own, own_policy) = cut_options(sql), cut_options(self.sql)
        (said, said_of), (own, own_of) = cut_attributes(said), cut_attributes(own)
        added = said_of.items() - own_of.items()
        whole = own_of.items() <= said_of.items() and added <= dict(self.attributes).items()
        return whole and (said.rstrip(), said_policy) == (own.rstrip(), own_policy)


@dataclass(frozen=True, slots=True)
class Item:
    """An item of the SELECT list; COUNT(*) has no column.

    `function` is `min`, `max`, `count`, `count distinct`, `sum`, `avg`, or of the whole statement `distinct` or `rows`;
    of rows the column `*` stands for all.
    """

    function: str
    column: str | None


class Order(NamedTuple):
    """A column of ORDER BY."""

    column: str
    descending: bool
    nulls_first: bool

    def sql(self, rank: str) -> str:
        """Return it as SQL, over the column's ranks."""
        return f"{rank} {'DESC' if self.descending else 'ASC'} NULLS {'FIRST' if self.nulls_first else 'LAST'}"


@dataclass(frozen=True, slots=True)
class Question:
    """`items` over `table`, names in lower case; `tree` is DuckDB's.

    `order` and `limit` are those of a best-k; without them rows are a bag. `attributes` are what the subscriber says of
    itself, as SQL, and `audience` is that of the table, once it is known.
    """

    items: tuple[Item, ...]
    table: str
    tree: str
    params: tuple[Any, ...]
    policy: Policy = EVERY_CHANGE
    order: tuple[Order, ...] = ()
    limit: int | None = None
    attributes: tuple[tuple[str, str], ...] = ()
    audience: Audience = EVERYBODY

    @property
    def distinct(self) -> bool:
        """Whether the answer is a set of values."""
        return self.items[0].function == "distinct"

    @property
    def rows(self) -> bool:
        """Whether the answer is rows: a bag, or a list where there is a limit."""
        return self.items[0].function == "rows"

    @property
    def measures(self) -> set[str]:
        """The columns in the SELECT list and in ORDER BY, but for a `*`."""
        columns = {item.column for item in self.items if item.column is not None} | {o.column for o in self.order}
        return columns - {ALL}

    @property
    def starred(self) -> bool:
        """Whether all columns are shown, whatever they are."""
        return any(item.column == ALL for item in self.items)

    def over(self, columns: Sequence[str]) -> Question:
        """Return the question with these columns in place of each `*`."""
        items = [([Item("rows", c) for c in columns] if item.column == ALL else [item]) for item in self.items]
        return replace(self, items=tuple(item for some in items for item in some))

    def ranking(self, selection: str, ranks: Mapping[str, str]) -> str:
        """Return the SELECT that puts in order what `selection` selects; `ranks` by column, which it has."""
        order = ", ".join(one.sql(ranks[one.column]) for one in self.order)
        return f"SELECT *, row_number() OVER (ORDER BY {order}) AS __place FROM ({selection})"

    def selection(self, database: duckdb.DuckDBPyConnection, ranks: Sequence[str], types: dict[str, str]) -> str:
        """Return the SELECT of (from, to, ranks) of the versions that meet the condition; `types` by column name."""
        tree = json.loads(self.tree)
        node = tree["statements"][0]["node"]
        node["select_list"] = [_column(name) for name in ("__from", "__to", *ranks)]
        node["modifiers"] = []
        if self.audience.pairs:
            given = dict(self.attributes)
            node["from_table"] = visible(database, node["from_table"], self.audience, given, types, self.params)
        if node["where_clause"] is not None:
            where = RangeConditions(database, types, self.params).rewritten(node["where_clause"])
            node["where_clause"] = make_exact(where, types, self.params)
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


def parse(database: duckdb.DuckDBPyConnection, query: Query, names: set[str]) -> Question | JoinQuestion:
    """Read the query; `names` are those of columns, which may be keywords of DuckDB. Raises Unreadable."""
    statement, policy = cut_options(query.sql)
    try:
        statement, given = cut_attributes(statement)
    except (IndexError, ValueError):
        raise Unreadable("its attributes are no list") from None
    if "\0" in statement or any(isinstance(value, str) and "\0" in value for value in query.params):
        raise Unreadable("DuckDB reads a text only up to a NUL")
    try:
        made = database.execute("SELECT json_serialize_sql(?)", [quote_names(statement, names)]).fetchone()
    except duckdb.Error as error:
        raise Unreadable(str(error)) from None
    assert made is not None
    try:
        tree = with_bound_columns(json.loads(made[0]))
        if tree["error"]:
            raise Unreadable(tree["error_message"])
        policy = with_record(policy, query.notify, query.ttl, query.deliver)
        question = _question(tree, json.dumps(tree), query, policy)
        if isinstance(question, JoinQuestion):
            return question
        return replace(question, attributes=tuple({**dict(query.attributes), **given}.items()))
    except (KeyError, IndexError, TypeError, ValueError, RecursionError) as error:
        raise Unreadable(f"not a question of a range: {error}") from None


def _question(tree: dict[str, Any], text: str, query: Query, policy: Policy) -> Question | JoinQuestion:
    [statement] = tree["statements"]
    node = statement["node"]
    if node["group_expressions"] or node["having"]:
        raise ValueError("it groups")
    if node["from_table"]["type"] == "JOIN":
        return join_question(node, query.params, policy)
    modifiers = [modifier["type"] for modifier in node["modifiers"]]
    selected, limit = node["select_list"], None
    order: tuple[Order, ...] = ()
    if modifiers == ["DISTINCT_MODIFIER"]:
        [item] = selected
        if node["modifiers"][0]["distinct_on_targets"]:
            raise ValueError("DISTINCT ON")
        items = [Item("distinct", _name(item))]
    elif all(item["class"] in ("COLUMN_REF", "STAR") for item in selected):
        items = [Item("rows", ALL if item["class"] == "STAR" else _name(item)) for item in selected]
        if modifiers:
            order, limit = _best(modifiers, node["modifiers"], query.params)
    elif modifiers:
        raise ValueError(modifiers[0])
    else:
        items = [_item(item) for item in selected]
    table = node["from_table"]["table_name"].lower()
    return Question(tuple(items), table, text, query.params, policy, order, limit)


def _best(names: list[str], modifiers: list[Any], params: tuple[Any, ...]) -> tuple[tuple[Order, ...], int]:
    """Return order and limit of a best-k. NULL is the greatest of all where nothing is said of it, as in PostgreSQL."""
    if names != ["ORDER_MODIFIER", "LIMIT_MODIFIER"] or modifiers[1]["offset"] is not None:
        raise ValueError(", ".join(names))
    order = []
    for one in modifiers[0]["orders"]:
        descending, nulls = one["type"] == "DESCENDING", one["null_order"]
        first = descending if nulls == "ORDER_DEFAULT" else nulls.replace("_", " ") == "NULLS FIRST"
        order.append(Order(_name(one["expression"]), descending, first))
    limit = modifiers[1]["limit"]
    number = params[int(limit["identifier"]) - 1] if limit["class"] == "PARAMETER" else limit["literal"]["text"]
    return tuple(order), int(number)


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
