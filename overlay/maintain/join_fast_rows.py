"""Which rows came to answers and went from them, made of the runs of those who are met by changes of a join.

    hit     quote 7: 10 -> 12, run of filings 3 9      was: (10, 3) (10, 9) went      is: (12, 3) (12, 9) came

What is told is the net of a cause, by what a SELECT list shows of rows: a row that goes and comes again, or is shown as
one that goes, is not told. Where a cause meets a slot once, its run says all: the rows that went and those that came
differ in what is shown of the changed row, or else nothing is told at all. So all who have the same run are told the
same, and its rows are spelled out once. Where it meets a slot more than once (the join key moves, or a cause is several
changes) rows are counted against each other.

What a list shows of each table's row is its *part*; two rows are shown alike if and only if both parts are.
Cost: 0.2 us a hit, 0.1 us a row that is spelled out; of a slot that a cause meets often 0.3 us a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from catalog.schema.join import place_of
from operators.timeline import SentRows, Timeline
from overlay.index.join_index import Hits, StepHits
from overlay.index.join_index_kernels import IS, WAS
from state.change_batch import I64, Bool
from state.distinct_numbers import distinct_numbers, numbered_rows
from state.run_places import run_places

SelectList = tuple[str, ...]
"""Columns of a join, as `catalog/schema/join.py` names them."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows that went or came: whose they are, the version of each table's row in them, and whether they came."""

    owner: I64
    versions: tuple[I64, I64]
    came: Bool

    def __len__(self) -> int:
        return len(self.owner)

    @classmethod
    def joined(cls, parts: Sequence[Rows]) -> Rows:
        """Return the rows of all parts."""
        first, second = (np.concatenate([part.versions[p] for part in parts]) for p in (0, 1))
        owner = np.concatenate([part.owner for part in parts])
        return cls(owner, (first, second), np.concatenate([part.came for part in parts]))

    def of(self, which: I64 | Bool) -> Rows:
        """Return some of them."""
        first, second = self.versions
        return Rows(self.owner[which], (first[which], second[which]), self.came[which])


@dataclass(frozen=True, slots=True)
class RowChanges:
    """What causes did to answers: ordered by cause and slot, a slot once a cause.

    change: the index of one of its changes.  slot.  told: the place of what is told, among those that are told.
    lists: the number of the SELECT list by which each is told.  rows: what each has, by owner; each has some.
    """

    change: I64
    slot: I64
    told: I64
    lists: I64
    rows: Rows


class Parts:
    """The parts of a timeline's rows by SELECT lists: numbers, one for each that is shown differently."""

    def __init__(self, timeline: Timeline) -> None:
        self._rows = timeline.rows
        self._numbers: dict[tuple[int, frozenset[str]], I64] = {}

    def of(self, shown: SelectList, position: int) -> I64:
        """Return the part that a list shows of each version of a table's row. Cost: 0.1 us a version and column."""
        names = frozenset(column for place, column in map(place_of, shown) if place == position)
        made = self._numbers.get((position, names))
        if made is None:
            made = self._numbers[position, names] = _numbered(self._rows[position], sorted(names))
        return made


def row_changes(
    timeline: Timeline, step: StepHits, lists: I64, shown: Sequence[SelectList], parts: Parts
) -> RowChanges:
    """Return what the changes of a step did to answers. `lists`: which list in `shown` each hit's slot has."""
    loud = _loud(timeline, step.hits, lists, shown, parts)
    order = loud[np.lexsort((step.hits.slot[loud], timeline.cause[step.hits.change[loud]]))]
    hits, lists = step.hits.of(order), lists[order]
    cause = timeline.cause[hits.change]
    first = np.append(True, (cause[1:] != cause[:-1]) | (hits.slot[1:] != hits.slot[:-1]))[: len(cause)]
    group = np.cumsum(first) - 1
    alone = (np.bincount(group) == 1)[group] if len(group) else first
    told, kinds, once = _once(timeline, hits, lists, step.partner, alone.nonzero()[0])
    netted = _netted(timeline, hits, lists, step.partner, group, ~alone, shown, parts)
    groups, owner = np.unique(netted.owner, return_inverse=True)
    rows = Rows.joined([once, Rows(owner + len(kinds), netted.versions, netted.came)])
    heads = first.nonzero()[0]
    where = np.concatenate([alone.nonzero()[0], heads[groups]])
    told = np.concatenate([told, len(kinds) + np.arange(len(groups))])
    place = np.argsort(where, kind="stable")
    at = where[place]
    return RowChanges(hits.change[at], hits.slot[at], told[place], np.concatenate([kinds, lists[heads[groups]]]), rows)


def _loud(timeline: Timeline, hits: Hits, lists: I64, shown: Sequence[SelectList], parts: Parts) -> I64:
    """Return the hits that say something: a row that stays within a range, and is shown as it was, does not."""
    silent = hits.kind == WAS | IS
    for number in np.unique(lists[silent]).tolist():
        for side in (0, 1):
            part = parts.of(shown[number], side)
            mine = (silent & (lists == number) & (timeline.table[hits.change] == side)).nonzero()[0]
            change = hits.change[mine]
            silent[mine] = part[timeline.before[change]] == part[timeline.after[change]]
    return (~silent).nonzero()[0]


def _once(timeline: Timeline, hits: Hits, lists: I64, partner: I64, which: I64) -> tuple[I64, I64, Rows]:
    """Return what is told of each of the hits `which`, the list of each that is told, and their rows.

    Runs of different queries stand apart, so who has the same run is told of the same change.
    """
    start, stop = hits.start[which], hits.stop[which]
    _, run = distinct_numbers(start * (len(partner) + 1) + stop)
    width = int(lists.max(initial=0)) + 1
    names, told = distinct_numbers((run * 4 + hits.kind[which]) * width + lists[which])
    sample = np.empty(len(names), np.int64)
    sample[told] = which
    rows = _spelled(timeline, hits, partner, sample, np.arange(len(names)))
    return told, names % width, rows


def _netted(
    timeline: Timeline,
    hits: Hits,
    lists: I64,
    partner: I64,
    group: I64,
    several: Bool,
    shown: Sequence[SelectList],
    parts: Parts,
) -> Rows:
    """Return what is left of the rows of groups of hits; their owners are groups."""
    left = [_none()]
    for number in np.unique(lists[several]).tolist():
        which = (several & (lists == number)).nonzero()[0]
        rows = _spelled(timeline, hits, partner, which, group[which])
        left.append(_net(rows, parts.of(shown[number], 0), parts.of(shown[number], 1)))
    return Rows.joined(left)


def _spelled(timeline: Timeline, hits: Hits, partner: I64, which: I64, owner: I64) -> Rows:
    """Return all rows that the hits `which` say went or came."""
    made = [_none()]
    for bit, versions in ((WAS, timeline.before), (IS, timeline.after)):
        mine = (hits.kind[which] & bit) != 0
        hit = which[mine]
        sizes = hits.stop[hit] - hits.start[hit]
        of = np.repeat(np.arange(len(hit)), sizes)
        change = hits.change[hit][of]
        own, other = versions[change], partner[run_places(hits.start[hit], sizes)]
        first = timeline.table[change] == 0
        both = np.where(first, own, other), np.where(first, other, own)
        made.append(Rows(owner[mine][of], both, np.full(len(of), bit == IS)))
    return Rows.joined(made)


def _net(rows: Rows, first: I64, second: I64) -> Rows:
    """Count rows of each owner against each other: those alike have the same parts, `first` and `second`."""
    if not len(rows):
        return rows
    keys = rows.owner, first[rows.versions[0]], second[rows.versions[1]]
    order = np.lexsort(keys)
    differs = np.logical_or.reduce([key[order][1:] != key[order][:-1] for key in keys])
    starts = np.flatnonzero(np.append(True, differs))
    times = np.add.reduceat(np.where(rows.came[order], 1, -1), starts)
    kept = rows.of(np.repeat(order[starts], np.abs(times)))
    return Rows(kept.owner, kept.versions, np.repeat(times > 0, np.abs(times)))


def _none() -> Rows:
    nothing = np.zeros(0, np.int64)
    return Rows(nothing, (nothing, nothing), nothing > 0)


def _numbered(rows: SentRows, names: Sequence[str]) -> I64:
    """Return a number for each row, one for each that has other values in the columns `names`."""
    columns = []
    for name in names:
        column = rows.columns[name]
        _, place = np.unique(column.codes, return_inverse=True)
        columns.append(np.where(column.known, place + 1, 0))
    return numbered_rows(columns) if columns else np.zeros(len(rows.born), np.int64)
