"""A view's query, parsed by DuckDB and read from its tree: its SELECTs (`view_select`), and the columns of them all.

    LATEST(x BY t)   is no SQL, so it is read as LATEST(x, t), and MAX_BY(x, t) is the same; of equal t the greatest
                     key counts, or the greatest x where what is read has no key of columns
    UNION ALL        columns are named as in the first SELECT, and of the type that holds the values of all of them

What no view may say is not looked for here: it never gets into the catalog.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb

from tidewire.verification.input.column import Column
from tidewire.verification.input.query_tree import Node, meant
from tidewire.verification.input.view_plan import Call, Select
from tidewire.verification.input.view_select import SelectReader
from tidewire.verification.input.view_source import NoView, Source
from tidewire.verification.input.view_types import common_type
from tidewire.verification.records.lexer import ends_value, is_blank, is_word, lexemes, quote_names


@dataclass(frozen=True, slots=True)
class Plan:
    """What a view's query says. `reads` are in lower case, in the order of the text; `tree` is DuckDB's, as JSON."""

    columns: tuple[Column, ...]
    key: tuple[str, ...]
    selects: tuple[Select, ...]
    reads: tuple[str, ...]
    tree: str


def planned(scratch: duckdb.DuckDBPyConnection, query: str, sources: Mapping[str, Source]) -> Plan:
    """Read a query over `sources`, which are by lower-case name. Raises NoView."""
    names = {column.name.lower() for source in sources.values() for column in source.columns}
    try:
        text = quote_names(_with_commas(query), names)
        [(made,)] = scratch.execute("SELECT json_serialize_sql(?)", [text]).fetchall()
        tree = json.loads(made)
        [statement] = tree["statements"]
        return _planned(statement["node"], sources)
    except (duckdb.Error, KeyError, IndexError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise NoView(f"no view: {error!r}") from None


def _with_commas(query: str) -> str:
    """Return the query with a comma for BY in LATEST(x BY t); a column may be called so, too."""
    parts, within, word, ended = list[str](), list[bool](), "", False
    for lexeme in (match[0] for match in lexemes(query)):
        if lexeme == "(":
            within.append(word == "latest")
        elif lexeme == ")" and within:
            within.pop()
        by = bool(within) and within[-1] and ended and lexeme.lower() == "by"
        parts.append("," if by else lexeme)
        if not is_blank(lexeme):
            word = lexeme.lower() if is_word(lexeme) else ""
            ended = not by and (word == "by" or ends_value(lexeme, ended))
    return "".join(parts)


def _planned(node: Node, sources: Mapping[str, Source]) -> Plan:
    nodes = node["children"] if node["type"] == "SET_OPERATION_NODE" else [node]
    if node["type"] == "SET_OPERATION_NODE" and (node["setop_type"] != "UNION" or not node["setop_all"]):
        raise NoView("a UNION of different rows")
    reads: dict[str, None] = {}
    several = [SelectReader(one, sources, reads) for one in nodes]
    selects = [one.select() for one in several]
    columns, selects = _in_common([one.columns(made) for one, made in zip(several, selects, strict=True)], selects)
    if len({column.name.lower() for column in columns}) < len(columns):
        raise NoView("two columns of one name")
    key = several[0].key(selects[0], columns) if len(selects) == 1 else ()
    return Plan(columns, key, tuple(selects), tuple(reads), json.dumps(meant(node)))


def _in_common(
    columns: Sequence[Sequence[Column]], selects: Sequence[Select]
) -> tuple[tuple[Column, ...], list[Select]]:
    """Return the columns that several SELECTs have together, named as the first one's, and these with such values."""
    if len({len(some) for some in columns}) != 1:
        raise NoView("SELECTs of different widths")
    types = [common_type([column.type for column in some]) for some in zip(*columns, strict=True)]
    made = [Column(column.name, type, True) for column, type in zip(columns[0], types, strict=True)]
    return tuple(made), [_with_types(select, types) for select in selects]


def _with_types(select: Select, types: Sequence[str]) -> Select:
    items = tuple(
        item if item.type == type else Call("coalesce", (item,), type)
        for item, type in zip(select.items, types, strict=True)
    )
    return Select(
        select.source, select.where, select.group, select.having, select.ranking, select.qualify, items
    )  # fmt: skip
