"""The closure of one join: the rows of each table that a batch makes some virtual edge need, to rebuild it itself.

From each position p of a table that changed:

    down    the changed versions that are wanted at p; then, along the walk (`join_walk.py`), the versions of the next
            table that have their keys and are wanted there
    up      what has no partner below it falls out, from the last table to p
    down    and what has lost its partners above it

What is left are changed rows with a partner in each table, and these partners: the semijoins of the join (Joins paper,
3.1, Enum-SJ; its section 4 for several tables, but along the whole walk in place of one filtering table, as in the
paper's appendix F). Rows are shipped and never pairs of them, so its result representation redundancy does not arise,
whatever the fan-out is. Unlike there nobody keeps what was sent: all that a batch needs comes with it. Which virtual
edges want a version is a set of bits (`wanted_versions.py`), so that a walk is made once for all of them.

A superset by design: partners are those of any time in the batch, boxes hold more than is asked for, and a cycle's last
condition is left out. Exact all the same: each row of a joined row that is asked for is wanted where it stands, so a
walk from the one that changed finds it; and whatever is sent besides has its true lifetime and keys.

    changes of one batch, fan-out 5      quote 7 (key a)  filing 3, 5 (key a)  filing 9 (key b)
    from quote: 7 -> 3, 5                shipped: quote 7, filing 3, 5; not filing 9, though it is wanted

Cost: O(changes + versions found) and O(log rows) a key (`state/key_runs.py`), for each join that they may touch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from catalog.schema.join import Join
from operators.batch_view import BatchView
from operators.cell_view import CellView
from operators.join_keys import KeyColumn, agreeing, distinct, translated
from operators.join_walk import Step, columns_at, walk
from operators.seen_changes import SeenChanges
from operators.wanted_versions import WantedVersions
from state.change_batch import I64
from state.key_runs import key_runs
from state.stabbed_edges import U64


@dataclass(slots=True)
class Found:
    """Versions of one table, and which virtual edges want each: uint64[versions, words]."""

    versions: I64
    edges: U64

    def __len__(self) -> int:
        return len(self.versions)

    def kept(self) -> Found:
        """Return those that somebody wants."""
        some = self.edges.any(axis=1)
        return self if some.all() else Found(self.versions[some], self.edges[some])


@dataclass(frozen=True, slots=True)
class _Link:
    """Two neighbours of a walk: the number of the key of each of their versions, -1 for one that the child has not."""

    step: Step
    parent_key: I64
    child_key: I64
    keys: int


class Closure:
    """The closures of one join in one batch; `seen` has what changed in each table of the cell.

    The views have the orderings that `JoinInterests.orderings` names.
    """

    def __init__(self, view: CellView, join: Join, wanted: WantedVersions, seen: Sequence[SeenChanges]) -> None:
        self._join = join
        self._wanted = wanted
        self._tables = [view.tables.index(table) for table in join.tables]
        self._views = [view.views[table] for table in self._tables]
        self._seen = [seen[table] for table in self._tables]

    def find(self) -> Iterator[tuple[int, Found]]:
        """Yield place in the cell of a table, and versions that are to be sent of it: some of them several times."""
        for root, seen in enumerate(self._seen):
            if len(seen):
                for position, found in self._walked(root).items():
                    yield self._tables[position], found

    def _walked(self, root: int) -> dict[int, Found]:
        """Return what a walk from `root` finds at each position; nothing where it ends early."""
        reached = {root: self._select(root, self._seen[root].lives.versions).kept()}
        links: list[_Link] = []
        for step in walk(self._join, root):
            if not len(reached[step.parent]):
                return {}
            link, reached[step.child] = self._partners(step, reached[step.parent])
            links.append(link)
        for link in reversed(links):
            parent, child = reached[link.step.parent], reached[link.step.child]
            parent.edges &= gathered(child.edges, link.child_key, link.keys)[link.parent_key]
        for link in links:
            parent, child = reached[link.step.parent], reached[link.step.child]
            child.edges &= gathered(parent.edges, link.parent_key, link.keys)[link.child_key]
        return {position: found.kept() for position, found in reached.items()}

    def _select(self, position: int, versions: I64) -> Found:
        """Return who wants versions at a position: nobody those that cannot be joined."""
        view, edges = self._views[position], self._wanted.at(position, versions)
        for names in filter(None, columns_at(self._join, position)):
            edges[~agreeing([_column(view, name) for name in names], versions)] = 0
        return Found(versions, edges)

    def _partners(self, step: Step, parent: Found) -> tuple[_Link, Found]:
        """Return the versions of the next table that have the keys of what was reached, wanted by who wants those."""
        view, fresh = self._views[step.child], self._seen[step.child].fresh
        come, known = self._sought(step, parent.versions)
        keys = np.concatenate([come[:, known], _codes(view, step.go, fresh)], axis=1)
        number, first = _numbered(keys)
        parent_key, child_key = np.full(len(parent), -1), number[len(known) :]
        parent_key[known] = number[: len(known)]
        edges = gathered(parent.edges, parent_key, len(first))
        asked = np.flatnonzero(edges.any(axis=1))
        stored, place = _stored(view, step.go, keys[:, first[asked]])
        found = self._select(step.child, np.concatenate([stored, fresh]))
        child_key = np.concatenate([asked[place], child_key])
        found.edges &= edges[child_key]
        some = found.edges.any(axis=1)
        return _Link(step, parent_key, child_key[some], len(first)), found.kept()

    def _sought(self, step: Step, versions: I64) -> tuple[I64, I64]:
        """Return the keys of versions in the codes of the next table, int64[columns, versions], and who has one."""
        source, view = self._views[step.parent], self._views[step.child]
        come, known = _codes(source, step.come, versions), np.ones(len(versions), np.bool_)
        for i, (name, other) in enumerate(zip(step.come, step.go, strict=True)):
            come[i], there = translated(_column(source, name), come[i], _column(view, other))
            known &= there
        return come, np.flatnonzero(known)


def _column(view: BatchView, name: str) -> KeyColumn:
    return KeyColumn(view, view.relation.index(name))


def _codes(view: BatchView, names: Sequence[str], versions: I64) -> I64:
    """Return int64[columns, versions], a copy."""
    return np.array([view.replay.codes[view.relation.index(name)][versions] for name in names])


def _numbered(keys: I64) -> tuple[I64, I64]:
    """Return the number of each key, equal for equal ones, and where each number comes first. keys: [columns, keys]."""
    number = np.zeros(keys.shape[1], np.int64)
    for codes in keys:
        used, place = distinct(codes)
        _, number = distinct(number * len(used) + place)
    first = np.empty(int(number.max(initial=-1)) + 1, np.int64)
    first[number[::-1]] = np.arange(len(number))[::-1]
    return number, first


def gathered(edges: U64, key: I64, count: int) -> U64:
    """Return who wants any version of each key; behind these nobody, which is what key -1 finds."""
    found = np.zeros((count + 1, edges.shape[1]), np.uint64)
    for word in range(edges.shape[1]):
        np.bitwise_or.at(found[:, word], key, edges[:, word])
    found[-1] = 0
    return found


def _stored(view: BatchView, names: Sequence[str], keys: I64) -> tuple[I64, I64]:
    """Return the stored rows that have some of `keys`, by key, and the place of the key of each."""
    columns = tuple(view.relation.index(name) for name in names)
    rows = view.orderings[columns, None].rows
    first, stop = key_runs(view.replay.codes, columns, rows, keys.T)
    counts = stop - first
    place = np.repeat(np.arange(len(counts)), counts)
    within = np.arange(len(place)) - np.repeat(np.cumsum(counts) - counts, counts)
    return rows[first[place] + within].astype(np.int64), place
