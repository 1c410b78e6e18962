"""What a subscriber says of itself, read a second time, and the rows of a table that are there for it.

    SELECT id FROM offer WHERE price > 5 ATTRIBUTES (age = 31, region = 'north')
    SELECT id FROM (SELECT * FROM offer WHERE <those whose audience has 31 and north in it>) AS offer WHERE price > 5

A question is asked of what its subscriber may know of: rows that are not for it are taken out of the table first, and
whatever the question is, it is run over those that are left. A subscriber that leaves an attribute out has no rows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import duckdb

from tidewire.verification.records.lexer import is_word, lexemes, quoted, string
from tidewire.verification.records.literals import make_exact
from tidewire.verification.records.range_conditions import RangeConditions
from tidewire.verification.records.ranges import is_range

Pairs = tuple[tuple[str, str], ...]
"""Attributes and the columns, in lower case, that say for which of them a row is."""


@dataclass(frozen=True, slots=True)
class Audience:
    """`pairs` of a table or view; `everything`: NULL in a column leaves nobody out."""

    pairs: Pairs = ()
    everything: bool = False


EVERYBODY = Audience()


def cut_attributes(statement: str) -> tuple[str, dict[str, str]]:
    """Return a statement without its attributes, and these as SQL; the parameters in them are numbered as in the whole.

    >>> cut_attributes("SELECT a FROM t WHERE b = ? ATTRIBUTES (age = ?, Region = 'a,b') ")
    ('SELECT a FROM t WHERE b = ? ', {'age': '$2', 'region': "'a,b'"})
    """
    found = [match for match in lexemes(statement) if not match[0].isspace()]
    while found and found[-1][0] == ";":
        found.pop()
    begins = [i for i, match in enumerate(found) if match[0].upper() == "ATTRIBUTES"]
    if not begins or not _is_list(list_ := [match[0] for match in found[begins[-1] + 1 :]]):
        return statement, {}
    start = found[begins[-1]].start()
    number = sum(match[0] == "?" for match in lexemes(statement[:start]))
    given: dict[str, str] = {}
    pieces: list[str] = []
    for lexeme in [*list_[1:-1], ","]:
        if lexeme == ",":
            name, value = pieces[0].lower() if is_word(pieces[0]) else pieces[0][1:-1], _joined(pieces[2:])
            given[name], pieces = value, []
        else:
            number += lexeme == "?"
            pieces.append(f"${number}" if lexeme == "?" else lexeme)
    return statement[:start], given


def as_sql(value: object) -> str:
    """Return a JSON scalar of a subscription's record as a constant."""
    if value is None or isinstance(value, bool):
        return "NULL" if value is None else str(value).upper()
    return str(value) if isinstance(value, int | Decimal) else string(str(value))


def visible(
    database: duckdb.DuckDBPyConnection,
    table: dict[str, Any],
    audience: Audience,
    given: Mapping[str, str],
    types: dict[str, str],
    params: Sequence[Any],
) -> dict[str, Any]:
    """Return what stands in place of `table`, a node of FROM in DuckDB's tree: those of its rows that are visible."""
    sides = [
        _holds(column, types[column], given.get(attribute), audience.everything, params)
        for attribute, column in audience.pairs
    ]
    name = table["table_name"]
    called = table["alias"] or name
    sql = f"SELECT * FROM (SELECT * FROM {quoted(name)} WHERE {' AND '.join(sides)}) AS {quoted(called)}"
    made = database.execute("SELECT json_serialize_sql(?)", [sql]).fetchone()
    assert made is not None
    node: dict[str, Any] = json.loads(made[0])["statements"][0]["node"]["from_table"]
    inner = node["subquery"]["node"]
    where = RangeConditions(database, types, params).rewritten(inner["where_clause"])
    inner["where_clause"] = make_exact(where, types, params)
    return node


def _holds(column: str, type: str, value: str | None, everything: bool, params: Sequence[Any]) -> str:
    if value is None:
        return "1 = 0"
    name = quoted(column)
    said = f"{name} @> {_point(value, params)}" if is_range(type) else f"{name} = {value}"
    return f"({said} OR {name} IS NULL)" if everything else f"({said})"


def _point(value: str, params: Sequence[Any]) -> str:
    """Return a value as it stands behind `@>`: a text as the range from it to itself."""
    if value.startswith("$") and isinstance(params[int(value[1:]) - 1], str):
        value = string(params[int(value[1:]) - 1])
    if not value.startswith("'"):
        return value
    bound = value[1:-1].replace("''", "'").replace("\\", "\\\\").replace('"', '""')
    return string(f'["{bound}","{bound}"]')


def _is_list(texts: Sequence[str]) -> bool:
    """Whether lexemes are names with values, in one pair of parentheses."""
    return len(texts) > 4 and texts[0] == "(" and texts[-1] == ")" and "(" not in texts[1:] and texts[2] == "="


def _joined(pieces: Sequence[str]) -> str:
    """Return lexemes of a constant, in which blanks part only words and strings."""
    text = ""
    for piece in pieces:
        text += f" {piece}" if text and (is_word(text[-1]) and (piece[0] == "'" or is_word(piece))) else piece
    return text
