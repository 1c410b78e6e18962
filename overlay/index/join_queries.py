"""What the changes of a timeline ask an index of one form: each once, with its own values and those of its partners.

    change     quote 7: price 10 -> 12, symbol stays       partners alive then: filings 3 (size 5), 9 (size 8)
    lists      own 10 12      partners 5 8                 one query: who holds 10 or 12, and 5 or 8
    after it   symbol moves                                two queries: the old row with its partners, the new with its

A row of the other table is a partner where its join key is the row's, and it is there before the change (for the old
row) or after it (for the new one). Partners are split by the values that subscriptions fix, as a subscription is met
within one set of these. Rows with NULL where the form compares, or with values that nobody has fixed, are left out.

Cost: O(n log n) for n rows, 0.5 us each, and O(1) a change and a version of its partners, 5 ns. Where a change has many
partners its lists are long, so changes go through in *steps*; a step never cuts a cause, whatever room that takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from operators.timeline import SentRows, Timeline
from overlay.index import join_index_kernels as kernels
from overlay.index.join_form import Form
from overlay.index.join_values import EqualValues
from state.change_batch import I64
from state.distinct_numbers import numbered_rows
from state.order_code import INT64_MAX
from state.read_only import read_only

STEP = 1_000_000
"""Partners that the changes of a step have between them, at most."""
Two = tuple[I64, I64]


@dataclass(frozen=True, slots=True)
class Step:
    """The queries of the changes [first, last), in any order: see `join_index_kernels.py`."""

    first: int
    last: int
    values: I64
    partner: I64
    queries: I64
    runs: I64


def has_both(timeline: Timeline, join: str) -> bool:
    """Whether a timeline has rows of both tables of a join: one of which nothing is sent has no keys and no columns."""
    return all(any(name[0] == join for name in rows.keys) for rows in timeline.rows)


class KeyedRows:
    """The rows of a timeline of a join of two tables, numbered by join key: the same for all forms of the join.

    kids: int64[v] by position, -1 where a row can have no partner. The keys are 0 to `keys` - 1. Of both tables
    there must be rows (`has_both`).
    """

    def __init__(self, timeline: Timeline, join: str) -> None:
        self.timeline = timeline
        first, second = timeline.rows
        both = _numbered(_keys(first, join, 0), _keys(second, join, 1))
        self.kids: Two = both[: len(first.born)], both[len(first.born) :]
        self.keys = int(both.max(initial=-1)) + 1

    def steps(self, step: int = STEP) -> Iterator[tuple[int, int]]:
        """Yield from where to where the changes of each step go: the same for all forms."""
        cause = self.timeline.cause
        if not len(cause):
            return
        starts = np.flatnonzero(np.append(True, cause[1:] != cause[:-1]))
        needs = np.add.reduceat(self._partners(), starts)
        number = (np.cumsum(needs) - needs) // step
        cuts = starts[np.flatnonzero(np.append(True, number[1:] != number[:-1]))].tolist()
        yield from zip(cuts, [*cuts[1:], len(cause)], strict=True)

    def _partners(self) -> I64:
        """Return at most how many partners each change has."""
        t = self.timeline
        needs = np.ones(len(t), np.int64)
        for side in (0, 1):
            sizes = np.append(np.bincount(self.kids[1 - side] + 1, minlength=self.keys + 1)[1:], 0)
            mine = (t.table == side).nonzero()[0]
            old, new = (_at(self.kids[side], versions[mine]) for versions in (t.before, t.after))
            needs[mine] += sizes[old] + sizes[new]
        return needs


class FormRows:
    """The rows as one form sees them, laid out to be asked for."""

    def __init__(self, rows: KeyedRows, form: Form, values: tuple[EqualValues, EqualValues]) -> None:
        self.timeline = t = rows.timeline
        sides = [_Side(t.rows[p], rows.kids[p], form, p, values[p], rows.keys) for p in (0, 1)]
        self._sides = sides
        self._first = next((a for a in form.attributes if a > 1), 0)
        self.xs: Two = sides[0].x, sides[1].x
        self._layout = tuple(
            (getattr(sides[0], name), getattr(sides[1], name))
            for name in ("kid", "equal", "x", "born", "died", "order", "start")
        )
        self.changes = tuple(read_only(column) for column in (t.number, t.table, t.before, t.after))

    def step(self, first: int, last: int) -> Step:
        """Return the queries of the changes [first, last).

        They are sorted by what they ask first: neighbours go the same way down a tree, which saves a third.
        """
        queries, room = self._room(first, last)
        values, partner = np.empty(room, np.int64), np.full(room, -1, np.int64)
        asked, runs = np.empty((queries, 4), np.int64), np.empty((queries, 4, 2), np.int64)
        count = kernels.lists(first, last, *self.changes, *self._layout, values, partner, asked, runs)
        near = np.argsort(values[runs[:count, self._first, 0]])
        return Step(first, last, values, partner, asked[near], runs[near])

    def _room(self, first: int, last: int) -> tuple[int, int]:
        """Return at most how many queries the changes have, and how many values."""
        t, partners = self.timeline, 0
        for side in (0, 1):
            other, mine = self._sides[1 - side], first + (t.table[first:last] == side).nonzero()[0]
            sizes = np.append(np.diff(other.start), 0)
            for versions in (t.before, t.after):
                partners += int(sizes[_at(self._sides[side].kid, versions[mine])].sum())
        queries = 2 * (last - first)
        if any(side.split for side in self._sides):
            queries = partners
        return queries, partners + queries + 6 * (last - first)


class _Side:
    """One table's rows as a form sees them; `split`: whether partners are told apart by values that are fixed."""

    def __init__(self, rows: SentRows, kids: I64, form: Form, position: int, values: EqualValues, keys: int) -> None:
        n = len(rows.born)
        equal = values.find([rows.columns[name] for name in form.equal[position]], n)
        kid, x = np.where(equal < 0, -1, kids), np.zeros(n, np.int64)
        if (name := form.range[position]) is not None:
            kid, x = np.where(rows.columns[name].known, kid, -1), rows.columns[name].codes
        self.split = bool(form.equal[position])
        there = (kid >= 0).nonzero()[0]
        order = there[_sorted([kid[there], *([equal[there]] if self.split else []), x[there]])]
        self.start = read_only(np.searchsorted(kid[order], np.arange(keys + 1)))
        self.kid, self.equal, self.x, self.order = (read_only(column) for column in (kid, equal, x, order))
        self.born, self.died = read_only(rows.born), read_only(rows.died)


def _keys(rows: SentRows, join: str, position: int) -> list[I64]:
    """Return the numbers of the rows' values in each class of a join."""
    classes = sorted(name[1] for name in rows.keys if name[0] == join and name[2] == position)
    return [rows.keys[join, number, position] for number in classes]


def _numbered(first: list[I64], second: list[I64]) -> I64:
    """Return a number for each row of two tables, by its numbers in all classes; -1 where one of these is -1."""
    joined = [np.concatenate(pair) for pair in zip(first, second, strict=True)]
    there = np.logical_and.reduce([column >= 0 for column in joined]).nonzero()[0]
    numbers = np.full(len(joined[0]), -1, np.int64)
    numbers[there] = numbered_rows([column[there] for column in joined])
    return numbers


def _at(kids: I64, versions: I64) -> I64:
    """Return the keys of versions, -1 where there is none."""
    return np.where(versions >= 0, np.append(kids, -1)[versions], -1)


def _sorted(columns: Sequence[I64]) -> I64:
    """Return the places of rows by the first column, then the next; as one number a row, where it fits."""
    if not len(columns[0]):
        return np.zeros(0, np.int64)
    least, greatest = [int(column.min()) for column in columns], [int(column.max()) for column in columns]
    widths = [high - low + 1 for low, high in zip(least, greatest, strict=True)]
    if prod(widths) >= INT64_MAX:
        return np.lexsort(tuple(reversed(columns)))
    number = columns[0] - least[0]
    for column, low, width in zip(columns[1:], least[1:], widths[1:], strict=True):
        number = number * width + (column - low)
    return np.argsort(number)
