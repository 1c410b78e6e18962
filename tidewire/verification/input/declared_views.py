"""Which views there are, as the catalog topic says, and what each of them computes.

CREATE VIEW low AS SELECT symbol, MIN(price) AS price FROM quote GROUP BY symbol
CREATE VIEW IF NOT EXISTS low AS …      again and the same, too
CREATE VIEW low WITH ('topic'='t') AS … is written to a topic, which is no table's and no other view's; so its rows are
                                        known by what it shows
DROP VIEW low                           refused while another view reads it, as DROP TABLE quote is while this one is
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import duckdb

from tidewire.verification.input.column import Column
from tidewire.verification.input.declared_cells import NAME, unquoted
from tidewire.verification.input.view_audience import audience_of
from tidewire.verification.input.view_plan import Named, Select
from tidewire.verification.input.view_planner import planned
from tidewire.verification.input.view_source import NoView, Source
from tidewire.verification.records.attributes import EVERYBODY, Audience

_TOPIC = r"(?!\.{1,2}')[A-Za-z0-9._-]{1,249}"
_WITH = rf"""with\s*\(\s*(?:'topic'|"topic"|topic)\s*=\s*'({_TOPIC})'\s*\)\s*"""
_CREATE = re.compile(
    rf"create\s+view\s+(if\s+not\s+exists\s+)?({NAME})\s+(?:{_WITH})?as\b(.*)$", re.IGNORECASE | re.DOTALL
)
_DROP = re.compile(rf"drop\s+view\s+(if\s+exists\s+)?({NAME}(?:\s*,\s*{NAME})*)\s*$", re.IGNORECASE)
_KEPT = ("cell/", "stage/", '[["')
"""What names begin with that serve joins and views."""


@dataclass(frozen=True)
class View:
    """A declared view. `born` is the offset of the record that created it.

    `key` are the columns that tell its rows apart, () where it does not show them. `reads` are the tables and views
    that it names, `tables` those that it reads through all views, sorted; all in lower case. `tree` is its query as
    DuckDB reads it. `topic` is where it is written, '' if nowhere. `audience` says for whom its rows are.
    """

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    selects: tuple[Select, ...]
    reads: tuple[str, ...]
    tables: tuple[str, ...]
    tree: str
    born: int
    topic: str = ""
    audience: Audience = EVERYBODY


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
        placed = unquoted(create[2]), create[3] or ""
        return _create(views, placed, create[4], bool(create[1]), tables, scratch, version)
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
    placed: tuple[str, str],
    query: str,
    if_not_exists: bool,
    tables: Mapping[str, Source],
    scratch: duckdb.DuckDBPyConnection,
    version: int,
) -> View | bool:
    name, topic = placed
    existing = views.get(name.lower())
    if name.lower() in tables or name.startswith(_KEPT):
        raise NoView(f"{name} is a table, or no name for a view")
    if existing is not None and if_not_exists:
        return True
    of_views = {known: Source(one.columns, one.key, one.audience) for known, one in views.items()}
    plan = planned(scratch, query, {**tables, **of_views})
    audience = audience_of(plan.selects, plan.columns, {**tables, **of_views})
    if existing is not None:
        if plan.tree == existing.tree and topic == existing.topic:
            return True
        raise NoView(f"{name} is declared otherwise")
    below = {table for read in plan.reads for table in (views[read].tables if read in views else (read,))}
    made = View(
        name, plan.columns, plan.key, plan.selects, plan.reads, tuple(sorted(below)), plan.tree, version, topic,
        audience,
    )  # fmt: skip
    _check_topic(made, views)
    views[name.lower()] = made
    return made


def _check_topic(view: View, views: Views) -> None:
    """Raise NoView if another view is written to its topic, or its rows are not told apart in it."""
    others = [other.topic for name, other in views.items() if name != view.name.lower()]
    if view.topic and (view.topic in others or not (view.key or _is_one_row(view, views))):
        raise NoView(f"{view.name} cannot be written to {view.topic}")


def _is_one_row(view: View, views: Views) -> bool:
    """Whether it has one row at most: aggregates without GROUP BY, or what is made of the rows of such a view."""
    if len(view.selects) > 1:
        return False
    [select] = view.selects
    if select.group is not None:
        return not select.group.by
    below = views.get(select.source.name) if isinstance(select.source, Named) else None
    return below is not None and _is_one_row(below, views)
