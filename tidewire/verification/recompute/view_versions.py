"""All versions that the rows of a view ever had, made of those of what it reads: each with the interval it held in.

    where, items    of each version, by itself
    join            of versions with equal columns that overlap (`view_joins`)
    group, ranking  of the versions that hold between two moments at which one of a group begins or ends
    UNION ALL       of all of its SELECTs

Nothing is followed from one change to the next. Not computed by DuckDB, which would overflow, would round numbers of
different types before it compares them, and would join each moment of a group with each version of it: 10^9 pairs for
one group of 40,000 versions.

*Cost*: 8 us a version of what is read, 13-17 us where rows are grouped, ranked or joined; pairs 5 us each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tidewire.verification.input.view_plan import Expression, From, Named, Select
from tidewire.verification.recompute.version import Version, settled
from tidewire.verification.recompute.view_expressions import evaluator, row_of
from tidewire.verification.recompute.view_groups import grouped
from tidewire.verification.recompute.view_joins import joined
from tidewire.verification.recompute.view_rankings import ranked

Relations = Mapping[str, Sequence[Version]]
"""Versions of tables and views, by lower-case name."""


def versions_of(selects: Sequence[Select], relations: Relations) -> list[Version]:
    """Return the versions of a view, in order. `relations` has what it reads."""
    if len(selects) == 1:
        return settled(_selected(selects[0], relations))
    branches = [_selected(select, relations) for select in selects]
    return settled(
        version._replace(key=(branch, version.key)) for branch, some in enumerate(branches) for version in some
    )


def _selected(select: Select, relations: Relations) -> Iterable[Version]:
    found = _where(_source(select.source, relations), select.where)
    if select.group is not None:
        found = _where(grouped(found, select.group), select.having)
    if select.ranking is not None:
        found = _where(ranked(found, select.ranking), select.qualify)
    items = row_of(select.items)
    return (version._replace(row=items(version.row)) for version in found)


def _source(source: From, relations: Relations) -> Iterable[Version]:
    if isinstance(source, Named):
        return (version._replace(row=version.row[: source.width]) for version in relations[source.name])
    return joined(_source(source.left, relations), _source(source.right, relations), source)


def _where(versions: Iterable[Version], condition: Expression | None) -> Iterable[Version]:
    """Return the versions whose row meets a condition: where it is neither true nor false, they do not."""
    if condition is None:
        return versions
    holds = evaluator(condition)
    return (version for version in versions if holds(version.row) is True)
