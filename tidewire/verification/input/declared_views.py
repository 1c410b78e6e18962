"""Which views there are, as the catalog topic says, and what each of them computes.

CREATE VIEW low AS SELECT symbol, MIN(price) AS price FROM quote GROUP BY symbol
CREATE VIEW IF NOT EXISTS low AS …      again and the same, too
DROP VIEW low                           refused while another view reads it, as DROP TABLE quote is while this one is
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import duckdb

from tidewire.verification.input.column import Column
from tidewire.verification.input.declared_cells import NAME, unquoted
from tidewire.verification.input.view_plan import Select
from tidewire.verification.input.view_planner import NoView, Source, planned

_CREATE = re.compile(rf"create\s+view\s+(if\s+not\s+exists\s+)?({NAME})\s+as\b(.*)$", re.IGNORECASE | re.DOTALL)
_DROP = re.compile(rf"drop\s+view\s+(if\s+exists\s+)?({NAME}(?:\s*,\s*{NAME})*)\s*$", re.IGNORECASE)
_KEPT = ("cell/", "stage/", '[["')
"""What names begin with that serve joins and views."""


@dataclass(frozen=True)
class View:
    """A declared view. `born` is the offset of the record that created it.

    `key` are the columns that tell its rows apart, () where it does not show them. `reads` are the tables and views
    that it names, `tables` those that it reads through all views, sorted; all in lower case. `tree` is its query as
    DuckDB reads it.
    """

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    selects: tuple[Select, ...]
    reads: tuple[str, ...]
    tables: tuple[str, ...]
    tree: str
    born: int


Views = dict[str, View]
"""By lower-case name, each behind those that it reads."""


def apply_to_views(
    views: Views, statement: str, tables: Mapping[str, Source], scratch: duckdb.DuckDBPyConnection, version: int
) -> View | bool:
    """Apply a statement about views to `views`; False if it is none. Returns the view that it created.

    `tables` are those that are read, by lower-case name; names in `statement` that are not quoted are in lower case.
    Raises NoView if it does not apply.
    """
    create, drop = _CREATE.match(statement), _DROP.match(statement)
    if create is not None:
        return _create(views, unquoted(create[2]), create[3], bool(create[1]), tables, scratch, version)
    if drop is None:
        return False
    named = [unquoted(quoted).lower() for quoted in re.findall(NAME, drop[2])]
    missing = [name for name in named if name not in views]
    if (missing and not drop[1]) or readers_of(views, named):
        raise NoView(statement)
    for name in named:
        views.pop(name, None)
    return True


def readers_of(views: Views, names: Collection[str]) -> list[str]:
    """Return the views that read any of some tables and views, by lower-case name, and are none of these."""
    return [name for name, view in views.items() if name not in names and any(read in names for read in view.reads)]


def _create(
    views: Views,
    name: str,
    query: str,
    if_not_exists: bool,
    tables: Mapping[str, Source],
    scratch: duckdb.DuckDBPyConnection,
    version: int,
) -> View | bool:
    existing = views.get(name.lower())
    if name.lower() in tables or name.startswith(_KEPT):
        raise NoView(f"{name} is a table, or no name for a view")
    if existing is not None and if_not_exists:
        return True
    plan = planned(scratch, query, {**tables, **{known: Source(one.columns, one.key) for known, one in views.items()}})
    if existing is not None:
        if plan.tree == existing.tree:
            return True
        raise NoView(f"{name} is declared otherwise")
    below = {table for read in plan.reads for table in (views[read].tables if read in views else (read,))}
    made = View(
        name, plan.columns, plan.key, plan.selects, plan.reads, tuple(sorted(below)), plan.tree, version
    )  # fmt: skip
    views[name.lower()] = made
    return made
