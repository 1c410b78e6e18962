"""Cells: groups that hold silent copies of several tables, for questions that read them together.

    CREATE JOIN filing, quote;        cell/filing+quote/0      copies of `filing` and `quote`, whole

One set of tables has one cell, whose name says them. The tables' own shards know nothing of it: a record of a table
goes to its shard and to each cell of the table.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote, unquote

PREFIX = "cell/"
"""What names of cells begin with, and of tables may not."""
_SUFFIX = "/0"


@dataclass(frozen=True, slots=True)
class Cell:
    """The cell of some tables, sorted by name. `born` is the catalog version whose CREATE JOIN made it."""

    tables: tuple[str, ...]
    born: int

    @property
    def name(self) -> str:
        """The name of the group, and of what registrations for its joins are addressed to."""
        return cell_name(self.tables)

    def member(self, table: str) -> str:
        """Return the name of the copy of `table`."""
        return f"{self.name}/{quote(table, safe='')}"


def cell_name(tables: Iterable[str]) -> str:
    """Return the name of the cell of a set of tables, in any order and named any number of times."""
    return PREFIX + "+".join(quote(table, safe="") for table in sorted(set(tables))) + _SUFFIX


def tables_of_cell(name: str) -> tuple[str, ...] | None:
    """Return the tables whose cell has this name, sorted; None if no cell can have it."""
    if not (name.startswith(PREFIX) and name.endswith(_SUFFIX)):
        return None
    tables = tuple(unquote(part) for part in name[len(PREFIX) : -len(_SUFFIX)].split("+"))
    return tables if cell_name(tables) == name else None
