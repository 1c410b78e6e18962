"""Walks of a join: in which order its tables are visited from one of them, and by which columns each is found.

    (filing, quote, trade)  classes (0.symbol, 1.symbol), (1.id, 2.quote)

    from filing     filing -> quote  by symbol       quote -> trade   by id = quote
    from quote      quote  -> filing by symbol       quote -> trade   by id = quote

A walk is a spanning tree of the join graph (Joins paper, 2.2): each table hangs on one that was visited before, by all
classes that both have columns in. What a cycle demands besides is left out, so a walk never finds too little.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from catalog.schema.join import Join

_WALKS = 4_096


@dataclass(frozen=True, slots=True)
class Step:
    """From a visited position to the next one: rows that belong together are equal in `come` and `go`, name by name."""

    parent: int
    child: int
    come: tuple[str, ...]
    go: tuple[str, ...]


@lru_cache(_WALKS)
def walk(join: Join, root: int) -> tuple[Step, ...]:
    """Return the steps from position `root` to all others; of several parents, one with the most classes."""
    visited, steps = [root], list[Step]()
    while len(visited) < len(join.tables):
        others = [q for q in range(len(join.tables)) if q not in visited]
        found = max(
            (_step(join, p, q) for q in others for p in visited),
            key=lambda step: (len(step.come), -step.child, -step.parent),
        )
        steps.append(found)
        visited.append(found.child)
    return tuple(steps)


@lru_cache(_WALKS)
def columns_at(join: Join, position: int) -> tuple[tuple[str, ...], ...]:
    """Return of each class the columns that the table at a position has in it; () for a class without it."""
    return tuple(tuple(column for at, column in each if at == position) for each in join.classes)


def sought(join: Join) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each table of a join with columns by which some walk looks its rows up."""
    for root in range(len(join.tables)):
        for step in walk(join, root):
            yield join.tables[step.child], step.go


def _step(join: Join, parent: int, child: int) -> Step:
    pairs = zip(columns_at(join, parent), columns_at(join, child), strict=True)
    shared = [(come[0], go[0]) for come, go in pairs if come and go]
    return Step(parent, child, tuple(come for come, _ in shared), tuple(go for _, go in shared))
