"""Semijoin closure: what a cell sends of a batch, timelines (`timeline.py`), each with the virtual edges that get it.

    changes that needed columns show     seen_changes.py       by table
    rows that some edge needs            join_closure.py       by join, united over the joins of a virtual edge
    who gets what                        here                  equal sets share one timeline
    keys and columns of these rows       here

A virtual edge that needs more than `MUCH` of all rows that are sent gets all of them, since a timeline of its own has
to be packed, and what it does not need it joins with nothing.

Cost: what the closures cost; 10 ns a row sent and column, 0.1 us a different text; and for each timeline of its own
O(its rows) again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from catalog.schema.join import Join
from operators.batch_view import BatchView
from operators.cell_view import CellView
from operators.join_closure import Closure, Found, gathered
from operators.join_interest import JoinInterests
from operators.join_keys import KeyColumn, agreeing, distinct, numbered
from operators.join_walk import columns_at
from operators.seen_changes import SeenChanges
from operators.timeline import KeyName, SentColumn, SentRows, Timeline
from operators.wanted_versions import WantedVersions
from state.change_batch import I64, Bool
from state.distinct_numbers import distinct_numbers, places_among
from state.stabbed_edges import U64, WORD

MUCH = 0.5
_Key = tuple[int, tuple[int, ...]]
"""Place of a table in the cell, and columns of it that are equal."""


def send(view: CellView, interests: JoinInterests, partitions: int, first_seq: int) -> list[tuple[Timeline, list[int]]]:
    """Return what the virtual edges below `partitions` are sent of a batch: each timeline, and who gets it.

    Change i of the batch has seq `first_seq` + i, whoever gets it: the next batch begins behind `len(view)`.
    The views have the orderings that `JoinInterests.orderings` names.
    """
    if not interests.joins():
        return []
    seen = [_seen(view, interests, table) for table in range(len(view.tables))]
    joins, found = _closures(view, interests, seen, partitions)
    if not joins:
        return []
    whole = _Sending(view, interests, joins, [each.versions for each in found], seen).timeline(first_seq)
    edges = np.concatenate([each.edges for each in found])
    ends = np.cumsum([len(each) for each in found])[:-1]
    return [(_only(whole, np.split(rows, ends)), who) for rows, who in _parts(edges, partitions)]


def _seen(view: CellView, interests: JoinInterests, table: int) -> SeenChanges:
    of = view.views[table]
    needed = [of.relation.index(name) for name in interests.needed(view.tables[table])]
    return SeenChanges.of(of.replay, needed, view.number[table])


def _closures(
    view: CellView, interests: JoinInterests, seen: Sequence[SeenChanges], partitions: int
) -> tuple[list[Join], list[Found]]:
    """Return the joins that need rows, and of each table the versions that are sent, ascending, with who needs them."""
    joins: list[Join] = []
    found: list[list[Found]] = [[] for _ in view.tables]
    for join in interests.joins():
        if any(len(seen[view.tables.index(table)]) for table in set(join.tables)):
            wanted = WantedVersions(view, join, interests, partitions)
            some = [(table, part) for table, part in Closure(view, join, wanted, seen).find() if len(part)]
            joins += [join] if some else []
            for table, part in some:
                found[table].append(part)
    words = -(-partitions // WORD)
    return joins, [_united(parts, of, words) for parts, of in zip(found, view.views, strict=True)]


def _united(parts: Sequence[Found], view: BatchView, words: int) -> Found:
    """Return what is in any of the parts, each version once."""
    versions = np.concatenate([np.zeros(0, np.int64), *(part.versions for part in parts)])
    used, place = distinct_numbers(versions, view.replay.codes.shape[1])
    edges = np.concatenate([np.zeros((0, words), np.uint64), *(part.edges for part in parts)])
    return Found(used, gathered(edges, place, len(used))[:-1])


def _parts(edges: U64, partitions: int) -> Iterator[tuple[Bool, list[int]]]:
    """Yield rows, and the virtual edges that get just these; edges: uint64[rows of all tables, words]."""
    shared: dict[bytes, tuple[Bool, list[int]]] = {}
    for ve in range(partitions):
        rows = (edges[:, ve // WORD] >> np.uint64(ve % WORD)) & np.uint64(1) != 0
        count = np.count_nonzero(rows)
        if count > MUCH * len(rows):
            rows = np.ones(len(rows), np.bool_)
        if count:
            shared.setdefault(np.packbits(rows).tobytes(), (rows, []))[1].append(ve)
    yield from shared.values()


@dataclass(frozen=True, slots=True)
class _Sending:
    """All rows that are sent of a batch, by the versions of each table."""

    view: CellView
    interests: JoinInterests
    joins: Sequence[Join]
    versions: Sequence[I64]
    seen: Sequence[SeenChanges]

    def timeline(self, first_seq: int) -> Timeline:
        """Return the timeline of all of it."""
        names = self._key_names()
        keys = self._keys(set(names.values()), names)
        rows = tuple(self._rows(table, names, keys) for table in range(len(self.versions)))
        parts = [self._changes(table) for table in range(len(self.versions))]
        number, table, before, after, cause = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.argsort(number)
        causes, cause = self.view.causes, cause[order]
        return Timeline(
            rows, number[order], table[order], before[order], after[order], cause, first_seq + number[order],
            causes.topics, causes.topic[cause].astype(np.int64), causes.partition[cause].astype(np.int64),
            causes.offset[cause],
        )  # fmt: skip

    def _key_names(self) -> dict[KeyName, _Key]:
        """Return of each key that joins name the table and the columns that it is about."""
        found: dict[KeyName, _Key] = {}
        for join in self.joins:
            for position, table in enumerate(map(self.view.tables.index, join.tables)):
                index = self.view.views[table].relation.index
                for class_, columns in enumerate(columns_at(join, position)):
                    if columns:
                        found[join.name, class_, position] = table, tuple(map(index, columns))
        return found

    def _keys(self, every: set[_Key], names: Mapping[KeyName, _Key]) -> dict[_Key, I64]:
        """Return the numbers of keys: those that are compared somewhere are numbered together."""
        keys: dict[_Key, I64] = {}
        for group in _compared(every, names):
            agree = {key: agreeing(self._columns(key), self.versions[key[0]]) for key in group}
            numbers = numbered([self._values(key, agree[key]) for key in group])
            for key, number in zip(group, numbers, strict=True):
                keys[key] = np.full(len(agree[key]), -1)
                keys[key][agree[key]] = number
        return keys

    def _columns(self, key: _Key) -> list[KeyColumn]:
        table, columns = key
        return [KeyColumn(self.view.views[table], column) for column in columns]

    def _values(self, key: _Key, agree: Bool) -> tuple[KeyColumn, I64]:
        column = self._columns(key)[0]
        return column, column.view.replay.codes[column.number][self.versions[key[0]][agree]]

    def _rows(self, table: int, names: Mapping[KeyName, _Key], keys: Mapping[_Key, I64]) -> SentRows:
        view, versions = self.view.views[table], self.versions[table]
        born, died = self.seen[table].lives.at(versions)
        columns = {name: _sent(view, name, versions) for name in self.interests.told(self.view.tables[table])}
        mine = {name: keys[key] for name, key in names.items() if key[0] == table}
        return SentRows(self.view.tables[table], born.astype(np.int64), died.astype(np.int64), mine, columns)

    def _changes(self, table: int) -> tuple[I64, I64, I64, I64, I64]:
        """Return number, table, before, after and cause of a table's seen changes that have some row."""
        seen, versions = self.seen[table], self.versions[table]
        before, after = (places_among(versions, each) for each in (seen.before, seen.after))
        some = np.flatnonzero((before >= 0) | (after >= 0))
        index = seen.index[some]
        number, cause = self.view.number[table][index], self.view.cause[table][index].astype(np.int64)
        return number, np.full(len(some), table), before[some], after[some], cause


def _compared(every: set[_Key], names: Mapping[KeyName, _Key]) -> list[list[_Key]]:
    """Return keys in groups: two that stand in one class of a join are in one."""
    leader = {key: key for key in sorted(every)}

    def first(key: _Key) -> _Key:
        while leader[key] != key:
            key = leader[key]
        return key

    heads: dict[tuple[str, int], _Key] = {}
    for (join, class_, _), key in sorted(names.items()):
        one, other = sorted((first(heads.setdefault((join, class_), key)), first(key)))
        leader[other] = one
    groups: dict[_Key, list[_Key]] = {}
    for key in leader:
        groups.setdefault(first(key), []).append(key)
    return list(groups.values())


def _sent(view: BatchView, name: str, versions: I64) -> SentColumn:
    """Return one column of versions."""
    number = view.relation.index(name)
    known = view.replay.valid[number][versions]
    codes = np.where(known, view.replay.codes[number][versions], 0)
    if view.relation.columns[number].type.coded:
        return SentColumn(codes, known)
    used, place = distinct(codes[known])
    codes[known] = place
    return SentColumn(codes, known, strings=view.rows.strings_of(number).take(used))


def _only(whole: Timeline, rows: Sequence[npt.NDArray[np.bool_]]) -> Timeline:
    """Return the timeline of the rows that are said of each table."""
    if all(each.all() for each in rows):
        return whole
    taken = tuple(table.take(np.flatnonzero(each)) for table, each in zip(whole.rows, rows, strict=True))
    start = np.cumsum([0, *(len(each) + 1 for each in rows)])  # behind each table's places that of none, -1
    place = np.concatenate([np.append(np.where(each, np.cumsum(each) - 1, -1), -1) for each in rows])
    last = start[1:] - 1
    before, after = (
        place[np.where(each < 0, last[whole.table], start[whole.table] + each)] for each in (whole.before, whole.after)
    )
    some = np.flatnonzero((before >= 0) | (after >= 0))
    return replace(whole.only(some), rows=taken, before=before[some], after=after[some])
