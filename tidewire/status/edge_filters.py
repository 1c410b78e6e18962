"""What an edge's `/health` says of its filters, all virtual edges together.

An edge of an earlier version says nothing of them.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec


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


def largest_bag_in(health: dict[str, object] | None) -> int:
    """Return how many rows the largest answer of rows has, 0 if there is none."""
    return max((edge.largest_bag for edge in _virtual_edges(health)), default=0)


def _virtual_edges(health: dict[str, object] | None) -> Iterable[_VirtualEdge]:
    try:
        return msgspec.convert((health or {}).get("virtual_edges", {}), dict[str, _VirtualEdge]).values()
    except msgspec.ValidationError:
        return ()
