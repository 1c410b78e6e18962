"""Semijoin closure: what a cell sends of a batch, timelines (`timeline.py`), each with the virtual edges that get it.

    changes that needed columns show     seen_changes.py       by table
    rows that some edge needs            join_closure.py       by join, united over the joins of a virtual edge
    who gets what, and has what of it    here                  equal sets share one timeline
    keys and columns of these rows       here
    rows that an edge had lately         row_window.py         are named to it by their stamps

A virtual edge that needs more than `MUCH` of all rows that are sent gets all of them, since a timeline of its own has
to be packed, and what it does not need it joins with nothing.

Cost: what the closures cost; 10 ns a row sent and column, 0.1 us a different text; and for each timeline of its own
O(its rows) again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from catalog.schema.join import Join
from operators.batch_view import BatchView
from operators.cell_view import CellView
from operators.join_closure import Closure, Found, gathered
from operators.join_interest import JoinInterests
from operators.join_keys import KeyColumn, agreeing, distinct, numbered
from operators.join_walk import columns_at
from operators.row_window import Known, RowWindow
from operators.seen_changes import SeenChanges
from operators.timeline import KeyName, SentColumn, SentRows, Timeline
from operators.wanted_versions import WantedVersions
from operators.wire.sent_rows import row_sizes
from state.change_batch import I64, Bool
from state.distinct_numbers import distinct_numbers, places_among
from state.stabbed_edges import U64, WORD

MUCH = 0.5
_Key = tuple[int, tuple[int, ...]]
"""Place of a table in the cell, and columns of it that are equal."""


def send(
    view: CellView, interests: JoinInterests, partitions: int, first_seq: int, window: RowWindow | None = None
) -> list[tuple[Timeline, list[int]]]:
    """Return what the virtual edges below `partitions` are sent of a batch: each timeline, and who gets it.

    Change i of the batch has seq `first_seq` + i, whoever gets it: the next batch begins behind `len(view)`.
    The views have the orderings that `JoinInterests.orderings` names. `window` has begun the batch, and follows it.
    """
    if not interests.joins():
        if window is not None:
            window.forget()
        return []
    seen = [_seen(view, interests, table) for table in range(len(view.tables))]
    joins, found = _closures(view, interests, seen, partitions)
    told: list[tuple[Timeline, list[int]]] = []
    if joins:
        sending = _Sending(view, interests, joins, [each.versions for each in found], seen, first_seq)
        told = _told(sending, found, partitions, window if window is not None and window.window else None)
    if window is not None:
        for table, of, changes in zip(view.tables, view.views, seen, strict=True):
            window.follow(table, of.replay, changes)
    return told


def _told(
    sending: _Sending, found: Sequence[Found], partitions: int, window: RowWindow | None
) -> list[tuple[Timeline, list[int]]]:
    """Return what each virtual edge needs of what is sent; what it has in the window it is only named."""
    edges = np.concatenate([each.edges for each in found])
    ends = np.cumsum([len(each) for each in found])[:-1]
    if window is None:
        whole, parts = sending.timeline(), _parts(edges, np.zeros_like(edges), partitions)
        return [(_only(whole, np.split(rows, ends)), who) for rows, _, who in parts]
    stored = [of.replay.rows for of in sending.view.views]
    known = [
        window.known(table, each.versions, count)
        for table, each, count in zip(sending.view.tables, found, stored, strict=True)
    ]
    shared = list(_parts(edges, np.concatenate([each.edges for each in known]), partitions))
    got, spelled = np.zeros_like(edges), np.zeros(len(edges), np.bool_)
    for rows, named, who in shared:
        got[rows] |= reduce(np.bitwise_or, (_bit(ve, edges.shape[1]) for ve in who))
        spelled |= rows & ~named
    whole = sending.timeline(np.split(spelled, ends))
    stamped = [
        _stamped(window, rows, each.versions, count, about, whose)
        for rows, each, count, about, whose in zip(whole.rows, found, stored, known, np.split(got, ends), strict=True)
    ]
    whole = replace(whole, rows=tuple(stamped))
    return [(named_timeline(whole, np.split(rows, ends), np.split(named, ends)), who) for rows, named, who in shared]


def _stamped(window: RowWindow, rows: SentRows, versions: I64, stored: int, known: Known, got: U64) -> SentRows:
    """Return rows with their stamps."""
    size = int(row_sizes(rows)[known.batch < 0].sum()) if (known.batch < 0).any() else 0
    stamps = window.spell(rows.table, tuple(rows.columns), versions, stored, known, got, size)
    return replace(rows, stamps=stamps)


def _bit(ve: int, words: int) -> U64:
    bit = np.zeros(words, np.uint64)
    bit[ve // WORD] = np.uint64(1) << np.uint64(ve % WORD)
    return bit


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


def _parts(edges: U64, have: U64, partitions: int) -> Iterator[tuple[Bool, Bool, list[int]]]:
    """Yield rows, which of them are only named, and the virtual edges that get just these.

    edges, have: uint64[rows of all tables, words], who needs each row, and who has it.
    """
    shared: dict[bytes, tuple[Bool, Bool, list[int]]] = {}
    had = _bits(have, partitions)
    for ve, rows in enumerate(_bits(edges, partitions)):
        count = np.count_nonzero(rows)
        if not count:
            continue
        if count > MUCH * len(rows):
            rows = np.ones(len(rows), np.bool_)
        named = rows & had[ve]
        name = np.packbits(rows).tobytes() + np.packbits(named).tobytes()
        shared.setdefault(name, (rows, named, []))[2].append(ve)
    yield from shared.values()


def _bits(masks: U64, partitions: int) -> Bool:
    """Return bool[partitions, rows]: of each virtual edge which rows have its bit."""
    octets = np.ascontiguousarray(masks.astype("<u8", copy=False)).view(np.uint8)
    bits = np.unpackbits(octets, axis=1, count=partitions, bitorder="little")
    return np.ascontiguousarray(bits.T).view(np.bool_)


@dataclass(frozen=True, slots=True)
class _Sending:
    """All rows that are sent of a batch, by the versions of each table."""

    view: CellView
    interests: JoinInterests
    joins: Sequence[Join]
    versions: Sequence[I64]
    seen: Sequence[SeenChanges]
    first_seq: int

    def timeline(self, spelled: Sequence[Bool] | None = None) -> Timeline:
        """Return the timeline of all of it; of each table columns have the values of those rows that are `spelled`."""
        names = self._key_names()
        keys = self._keys(set(names.values()), names)
        some = spelled or [np.ones(len(versions), np.bool_) for versions in self.versions]
        rows = tuple(self._rows(table, names, keys, some[table]) for table in range(len(self.versions)))
        parts = [self._changes(table) for table in range(len(self.versions))]
        number, table, before, after, cause = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.argsort(number)
        causes, cause = self.view.causes, cause[order]
        return Timeline(
            rows, number[order], table[order], before[order], after[order], cause, self.first_seq + number[order],
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

    def _rows(self, table: int, names: Mapping[KeyName, _Key], keys: Mapping[_Key, I64], spelled: Bool) -> SentRows:
        view, versions = self.view.views[table], self.versions[table]
        born, died = self.seen[table].lives.at(versions)
        columns = {name: _sent(view, name, versions, spelled) for name in self.interests.told(self.view.tables[table])}
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


def _sent(view: BatchView, name: str, versions: I64, spelled: Bool) -> SentColumn:
    """Return one column of versions, with the values of those that are spelled out to somebody."""
    number = view.relation.index(name)
    known = view.replay.valid[number][versions] & spelled
    codes = np.where(known, view.replay.codes[number][versions], 0)
    if view.relation.columns[number].type.coded:
        return SentColumn(codes, known)
    used, place = distinct(codes[known])
    codes[known] = place
    return SentColumn(codes, known, strings=view.rows.strings_of(number).take(used))


def _only(whole: Timeline, rows: Sequence[Bool]) -> Timeline:
    """Return the timeline of the rows that are said of each table."""
    if all(each.all() for each in rows):
        return whole
    order = [np.flatnonzero(each) for each in rows]
    taken = tuple(table.take(mine) for table, mine in zip(whole.rows, order, strict=True))
    return replace(_placed(whole, order), rows=taken)


def named_timeline(whole: Timeline, rows: Sequence[Bool], named: Sequence[Bool]) -> Timeline:
    """Return the same with some of the rows only named: behind the others, in the order of their stamps."""
    if not any(each.any() for each in named):
        return _only(whole, rows)
    spelled = [np.flatnonzero(each & ~had) for each, had in zip(rows, named, strict=True)]
    known = [_by_stamp(table, np.flatnonzero(had)) for table, had in zip(whole.rows, named, strict=True)]
    placed = _placed(whole, [np.concatenate(pair) for pair in zip(spelled, known, strict=True)])
    return replace(
        placed,
        rows=tuple(table.take(mine) for table, mine in zip(whole.rows, spelled, strict=True)),
        named=tuple(table.named(mine) for table, mine in zip(whole.rows, known, strict=True)),
    )


def _by_stamp(table: SentRows, rows: I64) -> I64:
    assert table.stamps is not None
    return rows[np.lexsort((table.stamps.number[rows], table.stamps.batch[rows]))]


def _placed(whole: Timeline, order: Sequence[I64]) -> Timeline:
    """Return the changes of some rows, those at `order` of each table, which come to stand in this order."""
    start = np.cumsum([0, *(len(table) + 1 for table in whole.rows)])  # behind each table's places that of none, -1
    place = np.full(start[-1], -1)
    for first, mine in zip(start[:-1].tolist(), order, strict=True):
        place[first + mine] = np.arange(len(mine))
    last = start[1:] - 1
    before, after = (
        place[np.where(each < 0, last[whole.table], start[whole.table] + each)] for each in (whole.before, whole.after)
    )
    some = np.flatnonzero((before >= 0) | (after >= 0))
    return replace(whole.only(some), before=before[some], after=after[some])
