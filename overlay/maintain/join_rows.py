"""The rows of a timeline as one join sees them: each version known by a number, laid out by the keys of the join.

    versions   tables one after the other        filing 0..k-1, quote k..k+l-1
    links      of each pair of tables that a walk goes along (`operators/join_walk.py`): the versions of the one by
               key, and which run of them each version of the other joins

A link is by all the classes that both tables have; what a table has in common with others that are walked before it is
compared row by row. So no class is left out, in cycles neither.
A table that stands twice in a join is there once, with keys for each of its positions.
Cost: O(n log n) for n versions and each link, 0.1 us.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from catalog.schema.join import Join
from operators.join_walk import columns_at, walk
from operators.timeline import Timeline
from overlay.maintain.join_kernels import (
    AT,
    COMPARES,
    COMPARES_TO,
    EARLIER,
    LINK,
    OWN,
    PARENT,
    PLACE,
    THEIRS,
    count,
    write,
)
from state.change_batch import I64, Bool
from state.distinct_numbers import numbered_rows

Link = tuple[int, int, tuple[int, ...]]
"""Position of the parent, position of the table that is found by it, and the classes that they have in common."""


@dataclass(frozen=True, slots=True)
class JoinRows:
    """What the kernels take, and where each table begins.

    base: of each position, the number of its table's first version.  place: of each, its table in the timeline.
    keys: int64[classes * positions, versions], -1 where a version joins nothing there.
    valid: bool[positions, versions], whether a version may stand at a position at all.
    """

    join: Join
    place: tuple[int, ...]
    base: tuple[int, ...]
    keys: I64
    valid: Bool
    _shared: tuple[I64, ...]

    @classmethod
    def of(cls, join: Join, timeline: Timeline) -> JoinRows:
        """Lay out the rows of a timeline for a join of tables that it has. Raises KeyError where it lacks keys."""
        place = places(join, timeline)
        used = sorted(set(place))
        sizes = [len(timeline.rows[i].born) for i in used]
        starts = dict(zip(used, np.cumsum([0, *sizes]).tolist(), strict=False))
        base = tuple(starts[i] for i in place)
        lives = np.array([np.concatenate([getattr(timeline.rows[i], name) for i in used]) for name in ("born", "died")])
        keys, valid = _keys(join, timeline, place, base, sum(sizes))
        steps, compared, links = _steps(join)
        runs, order = _linked(join, links, keys, valid)
        return cls(join, place, base, keys, valid, (steps, compared, runs, order, keys, lives))

    def key_of(self, group: int, position: int) -> I64:
        """Return the key of each version in a class, at a position."""
        row: I64 = self.keys[group * len(self.join.tables) + position]
        return row

    def counts(self, roots: I64) -> I64:
        """Return how many joined rows each root has (`join_kernels.py`). Cost: 3 ns a row that is looked at."""
        counts = np.zeros(roots.shape[1], np.int64)
        count(roots, *self._shared, counts)
        return counts

    def joined(self, roots: I64, counts: I64, root: int, skip: int, many: int) -> tuple[I64, I64]:
        """Return `many` joined rows from number `skip` of a root on: their versions by position, and their roots."""
        out = np.empty((len(self.join.tables) + 1, many), np.int64)
        write(roots, *self._shared, counts, root, skip, out)
        return out[:-1], out[-1]


def places(join: Join, timeline: Timeline) -> tuple[int, ...]:
    """Return where the table at each position of a join stands in a timeline of its cell."""
    numbers = {rows.table: i for i, rows in enumerate(timeline.rows)}
    return tuple(numbers[table] for table in join.tables)


def classes_at(join: Join, position: int) -> tuple[int, ...]:
    """Return the classes that have a column of the table at a position: none of them may be NULL there."""
    return tuple(i for i, columns in enumerate(columns_at(join, position)) if columns)


def _keys(join: Join, timeline: Timeline, place: Sequence[int], base: Sequence[int], size: int) -> tuple[I64, Bool]:
    width = len(join.tables)
    keys = np.full((len(join.classes) * width, size), -1, np.int64)
    valid = np.zeros((width, size), np.bool_)
    for position, (table, start) in enumerate(zip(place, base, strict=True)):
        rows = timeline.rows[table]
        mine = slice(start, start + len(rows.born))
        valid[position, mine] = True
        for group in classes_at(join, position):
            key = rows.keys[join.name, group, position]
            keys[group * width + position, mine] = key
            valid[position, mine] &= key >= 0
    return keys, valid


def _steps(join: Join) -> tuple[I64, I64, list[Link]]:
    """Return the walks from each position as the kernels take them, and the links that they go along."""
    width = len(join.tables)
    steps = np.zeros((COMPARES_TO + 1, width, width - 1), np.int64)
    compared: list[tuple[int, int, int]] = []
    links: dict[Link, int] = {}
    for root in range(width):
        seen = [root]
        for depth, step in enumerate(walk(join, root)):
            own, mine = classes_at(join, step.child), steps[:, root, depth]
            by = tuple(group for group in own if group in classes_at(join, step.parent))
            mine[PLACE], mine[PARENT] = step.child, step.parent
            mine[LINK] = links.setdefault((step.parent, step.child, by), len(links))
            mine[EARLIER] = step.child < root and join.tables[step.child] == join.tables[root]
            mine[COMPARES] = len(compared)
            others = [(group, at) for group in own if group not in by for at in seen if group in classes_at(join, at)]
            compared += [(group * width + step.child, group * width + at, at) for group, at in others]
            mine[COMPARES_TO] = len(compared)
            seen.append(step.child)
    table = np.zeros((3, len(compared)), np.int64)
    table[[OWN, THEIRS, AT]] = np.array(compared, np.int64).reshape(-1, 3).T
    return steps, table, list(links)


def _linked(join: Join, links: Sequence[Link], keys: I64, valid: Bool) -> tuple[I64, I64]:
    """Return of each link the run that joins each version of its parent, and the versions by key."""
    width = len(join.tables)
    runs = np.zeros((2, len(links), keys.shape[1]), np.int64)
    order = np.zeros((len(links), keys.shape[1]), np.int64)
    for i, (parent, child, classes) in enumerate(links):
        own, theirs = (valid[position].nonzero()[0] for position in (child, parent))
        columns = [(keys[group * width + child, own], keys[group * width + parent, theirs]) for group in classes]
        mine, others = _as_one(columns)
        by_key = np.argsort(mine, kind="stable")
        order[i, : len(own)] = own[by_key]
        runs[0, i, theirs] = np.searchsorted(mine[by_key], others, "left")
        runs[1, i, theirs] = np.searchsorted(mine[by_key], others, "right")
    return runs, order


def _as_one(columns: Sequence[tuple[I64, I64]]) -> tuple[I64, I64]:
    """Return keys of classes, from -1 on, of some rows and of others, as one number: equal where all of them are."""
    if len(columns) == 1:
        return columns[0]
    whole, some = numbered_rows([np.concatenate(pair) + 1 for pair in columns]), len(columns[0][0])
    return whole[:some], whole[some:]
