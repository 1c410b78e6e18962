"""The catalog topic, read without our parser: DuckDB parses `CREATE TABLE`; only the WITH clause is ours.

A record's text is split into statements at the semicolons outside quotes and comments; of each `CREATE TABLE`, the
`WITH (...)` after the columns is cut off and read as `'name' = 'value'` pairs, the rest is run by DuckDB in a
scratch database, whose own catalog then says columns, types, nullability and primary key. What DuckDB does not
accept does not apply, as everywhere: the whole record is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import duckdb

from tidewire.verification.journal import Record

_LEXEME = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/|[A-Za-z_]\w*|.", re.DOTALL)
_OPTION = re.compile(r"\s*'([^']*)'\s*=\s*'((?:[^']|'')*)'\s*")
_DROP = re.compile(r"drop\s+table\s+(if\s+exists\s+)?(\"(?:[^\"]|\"\")*\"|\w+)\s*$", re.IGNORECASE)
_CREATE = re.compile(r"create\s+table\b", re.IGNORECASE)


class NotApplied(Exception):
    """A statement that does not apply to the catalog as it stands."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column as DuckDB understood it; `type` is DuckDB's name of the type, e.g. `DECIMAL(12,2)`."""

    name: str
    type: str
    nullable: bool


@dataclass(frozen=True, slots=True)
class Table:
    """A declared table. `born` is the offset of the record that created it: dropped and created again is another."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    topic: str
    absent: str
    born: int

    def extends(self, other: Table) -> bool:
        """Whether this is `other` with nullable columns appended, and nothing else changed."""
        width = len(other.columns)
        appended = all(column.nullable for column in self.columns[width:])
        same = (self.key, self.topic, self.absent) == (other.key, other.topic, other.absent)
        return same and appended and self.columns[:width] == other.columns


Tables = dict[str, Table]


class Declared:
    """The tables of every catalog version. Names are compared without regard to case."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._versions: list[tuple[int, Tables]] = [(-1, {})]
        for record in records:
            if record.value is None:
                continue
            try:
                tables = _apply(dict(self._versions[-1][1]), record.value.decode(), record.offset)
            except (NotApplied, UnicodeDecodeError):
                continue
            self._versions.append((record.offset, tables))

    def at(self, version: int) -> Tables:
        """Return the tables in force at `version`, by lower-case name."""
        found: Tables = {}
        for offset, tables in self._versions:
            if offset > version:
                break
            found = tables
        return found

    def topics(self) -> set[str]:
        """Return the topics of all tables that were ever declared."""
        return {table.topic for _, tables in self._versions for table in tables.values()}

    def newest(self, name: str, born: int) -> Table:
        """Return the last declaration of the table that was created as `name` at `born`: it has all its columns."""
        found = [t for _, tables in self._versions for t in tables.values() if (t.name, t.born) == (name, born)]
        return found[-1]


def _apply(tables: Tables, text: str, version: int) -> Tables:
    for statement in _statements(text):
        bare = _without_comments(statement)
        drop = _DROP.match(bare)
        if drop:
            name = _unquoted(drop[2]).lower()
            if name not in tables and not drop[1]:
                raise NotApplied(f"no table {name}")
            tables.pop(name, None)
        elif _CREATE.match(bare):
            _declare(tables, _create(bare, version))
        else:
            raise NotApplied(bare)
    return tables


def _declare(tables: Tables, table: Table) -> None:
    name = table.name.lower()
    existing = tables.get(name)
    if existing is None:
        if any(table.topic == other.topic for other in tables.values()):
            raise NotApplied(f"topic {table.topic} feeds another table")
        tables[name] = table
    elif table.extends(existing):
        tables[name] = replace(table, born=existing.born)
    else:
        raise NotApplied(f"{name} is declared otherwise")


def _create(statement: str, version: int) -> Table:
    body, options = _split_options(statement)
    with duckdb.connect() as scratch:
        try:
            scratch.execute(body)
        except duckdb.Error as error:
            raise NotApplied(str(error)) from None
        columns = scratch.execute(
            "SELECT table_name, column_name, data_type, is_nullable FROM duckdb_columns() ORDER BY column_index"
        ).fetchall()
        keys = scratch.execute(
            "SELECT constraint_column_names FROM duckdb_constraints() WHERE constraint_type = 'PRIMARY KEY'"
        ).fetchall()
    if not keys:
        raise NotApplied("no primary key")
    key = tuple(keys[0][0])
    name = columns[0][0]
    declared = tuple(Column(c, type, nullable and c not in key) for _, c, type, nullable in columns)
    topic = options.get("topic", name)
    return Table(name, declared, key, topic, options.get("absent", "null"), version)


def _statements(text: str) -> Iterator[str]:
    start = 0
    for lexeme in _LEXEME.finditer(text):
        if lexeme[0] == ";":
            yield from _not_blank(text[start : lexeme.start()])
            start = lexeme.end()
    yield from _not_blank(text[start:])


def _not_blank(statement: str) -> Iterator[str]:
    if _without_comments(statement):
        yield statement


def _without_comments(statement: str) -> str:
    parts = (" " if m[0].startswith(("--", "/*")) else m[0] for m in _LEXEME.finditer(statement))
    return "".join(parts).strip()


def _split_options(statement: str) -> tuple[str, dict[str, str]]:
    """Cut `WITH ( ... )` off the end. Raises NotApplied if what follows WITH is no list of options."""
    depth = 0
    for lexeme in _LEXEME.finditer(statement):
        depth += {"(": 1, ")": -1}.get(lexeme[0], 0)
        if depth == 0 and lexeme[0].lower() == "with":
            return statement[: lexeme.start()], _options(statement[lexeme.end() :].strip())
    return statement, {}


def _options(text: str) -> dict[str, str]:
    if not (text.startswith("(") and text.endswith(")")):
        raise NotApplied(f"not a WITH clause: {text}")
    inner, options, place = text[1:-1], dict[str, str](), 0
    while place < len(inner):
        match = _OPTION.match(inner, place)
        if match is None or (match.end() < len(inner) and inner[match.end()] != ","):
            raise NotApplied(f"not a WITH clause: {text}")
        options[match[1].lower()] = match[2].replace("''", "'")
        place = match.end() + 1
    return options


def _unquoted(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name
