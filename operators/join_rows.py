"""The rows that a join makes of stored rows: how many there are, without making any, and all of them, a part at a time.

    filing f JOIN quote q ON f.symbol = q.symbol JOIN venue v ON q.venue = v.id

    walk     f (root) - q by symbol - v by venue           each table is found from one before it
    reduce   rows that lack a partner in a class go        semijoins, class after class
    count    v: 1 each    q: sum of its v's    f: sum of its q's, and of these all: the joined rows
    pairs    rows of f, each with its q's, each with its v's

Counts are exact where each table hangs on one before it, as in any join without a cycle; else a table's further
conditions only thin out what is found, and the count is the most that there can be.

A self-joined row pairs with itself once, as any two rows do: positions are looked at, not tables.
Cost: keys O(n log n) once; reduce and count O(rows + keys), 10 ns each; pairs 50 ns a row
that is made, of which at most `at_once` for each table are in memory.
Source: Yannakakis (1981), for reduction and counts along a tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from catalog.schema.join import Join
from operators.batch_view import BatchView
from operators.join_keys import KeyColumn, agreeing, numbered
from operators.join_walk import columns_at, walk
from state.change_batch import I64

AT_ONCE = 500_000
"""Joined rows in memory at once: some 50 MB with what is read of them."""


@dataclass(frozen=True, slots=True)
class Link:
    """A step of the walk: the table at `child` is found from that at `parent`, by the `classes` that they share.

    others: further classes, each with an earlier position whose row must agree, too.
    """

    child: int
    parent: int
    classes: tuple[int, ...]
    others: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class _Keys:
    """Numbers of a link's keys below `count`, of all rows of both tables; -1 where there is none."""

    child: I64
    parent: I64
    count: int


def links_of(join: Join) -> tuple[Link, ...]:
    """Return the walk from position 0 (`join_walk.py`), by the numbers of classes, with what cycles demand besides."""
    at = [{i for i, columns in enumerate(columns_at(join, p)) if columns} for p in range(len(join.tables))]
    there, links = [0], []
    for step in walk(join, 0):
        classes = at[step.child] & at[step.parent]
        reached = set().union(*(at[q] for q in there))
        others = [(i, min(q for q in there if i in at[q])) for i in sorted(at[step.child] & reached - classes)]
        links.append(Link(step.child, step.parent, tuple(sorted(classes)), tuple(others)))
        there.append(step.child)
    return tuple(links)


def numbers_of(join: Join, views: Mapping[str, BatchView]) -> list[dict[int, I64]]:
    """Return for each class of `join`, by position, the numbers of the values of all stored rows (`JoinRows`).

    `views` has the tables by name, as they are. Cost: what join_keys.py says of all rows.
    """
    found = []
    for each in join.classes:
        rows, columns = dict[int, I64](), dict[int, KeyColumn]()
        for position in sorted({position for position, _ in each}):
            view = views[join.tables[position]]
            mine = [KeyColumn(view, view.relation.index(name)) for place, name in each if place == position]
            columns[position] = mine[0]
            rows[position] = np.flatnonzero(agreeing(mine, np.arange(view.replay.rows)))
        coded = [(column, column.view.replay.codes[column.number][rows[p]]) for p, column in columns.items()]
        numbers = {}
        for (position, column), its in zip(columns.items(), numbered(coded), strict=True):
            numbers[position] = np.full(column.view.replay.rows, -1)
            numbers[position][rows[position]] = its
        found.append(numbers)
    return found


class JoinRows:
    """The joined rows of stored ones.

    `numbers[i][p]`, int64[rows of the table at p], are those of the values in class i; two rows are equal there if and
    only if they have one number, and -1 joins nothing. Rows are named by position, as int64 arrays of row numbers.
    """

    def __init__(self, join: Join, numbers: Sequence[Mapping[int, I64]]) -> None:
        self._links = links_of(join)
        self._numbers = [_dense(each) for each in numbers]
        self._sizes = [1 + max((int(of.max(initial=-1)) for of in each.values()), default=-1) for each in self._numbers]
        self._keys = [self._keys_of(link) for link in self._links]
        self.positions = len(join.tables)
        self.made = 0

    @property
    def exact(self) -> bool:
        """Whether `count` is exact."""
        return not any(link.others for link in self._links)

    def reduced(self, rows: Sequence[I64]) -> list[I64]:
        """Return those of `rows` that have a partner in each class; there may be some that join nothing all the same.

        Where no table is in two classes, there are none.
        """
        left = list(rows)
        for _ in range(2 if len(self._numbers) > 1 else 1):
            for numbers, size in zip(self._numbers, self._sizes, strict=True):
                shared = np.ones(size, np.bool_)
                for position, of in numbers.items():
                    here = np.zeros(size + 1, np.bool_)
                    here[of[left[position]]] = True  # those without a number mark what lies behind
                    shared &= here[:size]
                shared = np.append(shared, False)
                for position, of in numbers.items():
                    left[position] = left[position][shared[of[left[position]]]]
        return left

    def count(self, rows: Sequence[I64]) -> int:
        """Return how many joined rows there are of `rows`, at most where not `exact`. Above 2**53 it is rounded."""
        weight = [np.ones(len(each)) for each in rows]
        for link, keys in zip(reversed(self._links), reversed(self._keys), strict=True):
            mine = keys.child[rows[link.child]]
            sums = np.bincount(mine[mine >= 0], weight[link.child][mine >= 0], keys.count + 1)
            weight[link.parent] *= sums[keys.parent[rows[link.parent]]]
        return int(weight[0].sum())

    def pairs(self, rows: Sequence[I64], at_once: int = AT_ONCE) -> Iterator[list[I64]]:
        """Yield the joined rows of `rows` in parts, by position the row of each: at most `at_once` in a part.

        A part is yielded at least for every `at_once` rows that are made on the way, be it an empty one.
        """
        partners = [_Partners.of(keys, rows[link.child]) for link, keys in zip(self._links, self._keys, strict=True)]
        none = np.zeros(0, np.int64)
        for start in range(0, len(rows[0]), at_once):
            root = rows[0][start : start + at_once]
            yield from self._extended([root, *[none] * (self.positions - 1)], 0, partners, at_once)

    def _extended(self, made: list[I64], step: int, partners: Sequence[_Partners], at_once: int) -> Iterator[list[I64]]:
        if step == len(self._links):
            yield made
            return
        link, keys, none = self._links[step], self._keys[step], True
        for owner, child in partners[step].of_keys(keys.parent[made[link.parent]], at_once):
            self.made, none = self.made + len(owner), False
            both = [each[owner] if len(each) else each for each in made]
            both[link.child] = child
            for number, position in link.others:
                numbers = self._numbers[number]
                found = numbers[link.child][both[link.child]]
                agree = (found >= 0) & (found == numbers[position][both[position]])
                both = [each[agree] if len(each) else each for each in both]
            yield from self._extended(both, step + 1, partners, at_once)
        if none:
            yield [np.zeros(0, np.int64)] * self.positions

    def _keys_of(self, link: Link) -> _Keys:
        child, parent = (self._numbers[link.classes[0]][p] for p in (link.child, link.parent))
        count = self._sizes[link.classes[0]]
        for number in link.classes[1:]:
            size, numbers = self._sizes[number], self._numbers[number]
            both = [
                np.where((key >= 0) & (numbers[p] >= 0), key * size + numbers[p], -1)
                for key, p in ((child, link.child), (parent, link.parent))
            ]
            dense = _dense(dict(enumerate(both)))  # so that the next product is small enough
            child, parent = dense[0], dense[1]
            count = 1 + max(int(child.max(initial=-1)), int(parent.max(initial=-1)))
        return _Keys(child, parent, count)


@dataclass(frozen=True, slots=True)
class _Partners:
    """Rows by key: those of key k are rows[starts[k]:starts[k + 1]]; none are of the last, which -1 names."""

    rows: I64
    starts: I64

    @classmethod
    def of(cls, keys: _Keys, rows: I64) -> _Partners:
        mine = keys.child[rows]
        rows, mine = rows[mine >= 0], mine[mine >= 0]
        starts = np.zeros(keys.count + 2, np.int64)
        np.cumsum(np.bincount(mine, minlength=keys.count + 1), out=starts[1:])
        return cls(rows[np.argsort(mine, kind="stable")], starts)

    def of_keys(self, keys: I64, at_once: int) -> Iterator[tuple[I64, I64]]:
        """Yield pairs of a place among `keys` and a row of its key, in order, at most `at_once` of them at a time."""
        first, counts = self.starts[keys], self.starts[keys + 1] - self.starts[keys]
        counts[keys < 0] = 0
        ends = np.cumsum(counts)
        for start in range(0, int(ends[-1]) if len(ends) else 0, at_once):
            stop = min(start + at_once, int(ends[-1]))
            lo, hi = np.searchsorted(ends, (start, stop - 1), side="right").tolist()
            mine = slice(lo, hi + 1)
            begins = np.maximum(ends[mine] - counts[mine], start)
            owner = np.repeat(np.arange(lo, hi + 1), np.minimum(ends[mine], stop) - begins)
            place = np.arange(start, stop) - (ends[owner] - counts[owner])
            yield owner, self.rows[first[owner] + place]


def _dense(numbers: Mapping[int, I64]) -> dict[int, I64]:
    """Return the same numbers from 0 on without gaps, -1 as it is. Cost: O(n log n)."""
    used = np.unique(np.concatenate([np.zeros(0, np.int64), *numbers.values()]))
    used = used[used >= 0]
    return {p: np.where(of >= 0, np.searchsorted(used, of), -1) for p, of in numbers.items()}
