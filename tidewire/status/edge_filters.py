"""What an edge's `/health` says of its filters and of what waits for a cell, all virtual edges together.

An edge of an earlier version says nothing of them.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from catalog.schema.join import join_of_name


class TableFilters(msgspec.Struct):
    """Filters of a table at an edge: how many, bytes of their index, and how well it tells who is not concerned.

    Of `candidates_per_hit` there is the most of any virtual edge; `crowded`, if any of them is.
    """

    filters: int = 0
    bytes: int = 0
    candidates_per_hit: float = 0.0
    crowded: bool = False


class _VirtualEdge(msgspec.Struct):
    filters: dict[str, TableFilters] = {}
    largest_bag: int = 0
    cells_wanted: list[tuple[str, ...]] = []


def filters_in(health: dict[str, object] | None) -> dict[str, TableFilters]:
    """Return the filters of each table that has some, by its name."""
    found: dict[str, TableFilters] = {}
    for edge in _virtual_edges(health):
        for name, one in edge.filters.items():
            so_far = found.setdefault(name, TableFilters())
            so_far.filters += one.filters
            so_far.bytes += one.bytes
            so_far.candidates_per_hit = max(so_far.candidates_per_hit, one.candidates_per_hit)
            so_far.crowded |= one.crowded
    return dict(sorted(found.items()))


def called(relation: str) -> str:
    """Return what a relation is called for a person: a join by its tables.

    >>> called("quote"), called('[["filing","quote"],[[[0,"symbol"],[1,"symbol"]]]]')
    ('quote', 'filing JOIN quote')
    """
    join = join_of_name(relation)
    return relation if join is None else " JOIN ".join(join.tables)


def largest_bag_in(health: dict[str, object] | None) -> int:
    """Return how many rows the largest answer of rows has, 0 if there is none."""
    return max((edge.largest_bag for edge in _virtual_edges(health)), default=0)


def cells_wanted_in(health: dict[str, object] | None) -> list[tuple[str, ...]]:
    """Return the sets of tables for whose cells subscriptions are held back."""
    return sorted({tables for edge in _virtual_edges(health) for tables in edge.cells_wanted})


def _virtual_edges(health: dict[str, object] | None) -> Iterable[_VirtualEdge]:
    try:
        return msgspec.convert((health or {}).get("virtual_edges", {}), dict[str, _VirtualEdge]).values()
    except msgspec.ValidationError:
        return ()
