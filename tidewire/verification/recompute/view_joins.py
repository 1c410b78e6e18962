"""Joins of versions: those with equal columns, as long as both hold; beside NULLs, what is left of the left one.

    left   A 10 [3, 9)        right   A x [1, 4)   A y [6, 7)
    inner  A 10 x [3, 4)   A 10 y [6, 7)
    left   the same, and   A 10 NULL [4, 6)   A 10 NULL [7, 9)

Numbers are equal where they are the same number, whatever their types; NULL is equal to nothing. *Cost*: a look at each
pair with equal columns, overlap or not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from tidewire.verification.input.view_plan import Join
from tidewire.verification.recompute.version import Version
from tidewire.verification.recompute.view_expressions import evaluator


def joined(left: Iterable[Version], right: Iterable[Version], join: Join) -> Iterator[Version]:
    """Yield the versions of the pairs."""
    partners: dict[tuple[Any, ...], list[Version]] = defaultdict(list)
    for version in right:
        partners[_values(version, [place for _, place in join.equal])].append(version)
    also = None if join.also is None else evaluator(join.also)
    for version in left:
        values = _values(version, [place for place, _ in join.equal])
        pairs = [] if None in values else list(_pairs(version, partners.get(values, ()), join.lookup))
        pairs = pairs if also is None else [pair for pair in pairs if also(pair.row) is True]
        yield from pairs
        if join.outer:
            yield from _alone(version, pairs, join)


def _values(version: Version, places: list[int]) -> tuple[Any, ...]:
    return tuple([version.row[place] for place in places])


def _pairs(version: Version, partners: Iterable[Version], lookup: bool) -> Iterator[Version]:
    for partner in partners:
        start, end = max(version.start, partner.start), min(version.end, partner.end)
        if start < end:
            key = version.key if lookup else (version.key, partner.key)
            yield Version(start, end, key, version.row + partner.row)


def _alone(version: Version, pairs: list[Version], join: Join) -> Iterator[Version]:
    """Yield what is left of a left row's interval between its pairs."""
    row = version.row + (None,) * join.right.width
    key = version.key if join.lookup else (version.key, None)
    since = version.start
    for start, end in [*sorted(pair[:2] for pair in pairs), (version.end, version.end)]:
        if since < start:
            yield Version(since, start, key, row)
        since = max(since, end)
