"""A cell by brute force: copies of tables as plain dicts, joins by nested loops, and timelines that leave nothing out.

What a real cell finds to be needed by closure this one does not ask: it sends each version of each row that is there in
a batch, or as many of them as a test says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np

from catalog.query.channel import Channel
from catalog.schema.catalog import Catalog
from catalog.schema.cell import Cell
from catalog.schema.join import Join, column_name, join_of_name, place_of
from catalog.schema.relation import Relation
from operators.operator import Answers
from operators.packed import Header, pack_snapshot
from operators.reply import Later, Reply
from operators.reply import Rows as RowsReply
from operators.timeline import SentColumn, SentRows, Timeline
from operators.wire.timeline import ChangesPart, RowsPart, pack
from state.lifetimes import NEVER, STORED
from tests.oracle.naive_answer import Naive, Row, Rows, Stored
from tests.oracle.naive_channels import Publication, Registered, Taken
from tests.oracle.naive_filter import FilterAnswers, needed_by

Part = tuple[str, str, Row | None]
"""A row of a table set, or deleted, under a key."""
Tables = dict[str, Rows]


@dataclass(frozen=True)
class Caused:
    """One record: all that it does happens at once."""

    parts: tuple[Part, ...]
    topic: str
    partition: int
    offset: int


def joined(join: Join, tables: Mapping[str, Rows]) -> Rows:
    """Return the rows of a join, by the keys of the rows that made each."""
    found: Rows = {}
    for made in product(*(tables.get(table, {}).items() for table in join.tables)):
        rows = [row for _, row in made]
        if all(_equal([rows[position].get(column) for position, column in each]) for each in join.classes):
            names = " ".join(f"{len(key)} {key}" for key, _ in made)
            found[names] = {
                column_name((position, column)): value
                for position, row in enumerate(rows)
                for column, value in row.items()
            }
    return found


def _equal(values: Sequence[Stored]) -> bool:
    return None not in values and len(set(values)) == 1


def applied(tables: Mapping[str, Rows], parts: Iterable[Part]) -> Tables:
    """Return tables after what a record does."""
    after = {table: dict(rows) for table, rows in tables.items()}
    for table, key, row in parts:
        rows = after.setdefault(table, {})
        if row is None:
            rows.pop(key, None)
        else:
            rows[key] = row
    return after


@dataclass
class _Version:
    table: str
    row: Row
    born: int = STORED
    died: int = NEVER


@dataclass
class NaiveTimeline:
    """Makes the timeline of a batch. `sent` says of a table's row whether it is sent.

    told: the columns of each table that are.  joins: those whose keys are.
    """

    relations: Sequence[Relation]
    joins: Sequence[Join]
    told: Mapping[str, Sequence[str]]
    sent: Callable[[str, Row], bool] = lambda table, row: True
    _versions: list[_Version] = field(default_factory=list)
    _now: dict[tuple[str, str], int] = field(default_factory=dict)
    _changes: list[tuple[int, str, int, int, int]] = field(default_factory=list)

    def of(self, tables: Mapping[str, Rows], causes: Sequence[Caused], first_seq: int = 0) -> Timeline:
        """Return what happens to `tables`, in the order of the causes."""
        for table, rows in tables.items():
            for key, row in rows.items():
                self._put(table, key, _Version(table, row))
        number = 0
        for cause, one in enumerate(causes):
            for part in one.parts:
                number += self._change(number, cause, part)
        return self._timeline(causes, first_seq)

    def _put(self, table: str, key: str, version: _Version) -> int:
        self._now[table, key] = len(self._versions)
        self._versions.append(version)
        return len(self._versions) - 1

    def _change(self, number: int, cause: int, part: Part) -> bool:
        table, key, row = part
        before, after = self._now.get((table, key), -1), -1
        needed = {*self.told.get(table, ()), *self._joined_by(table)}
        if before >= 0 and row is not None:
            old = self._versions[before].row
            if all(old.get(name) == row.get(name) for name in needed):
                return False
        if before < 0 and row is None:
            return False
        if before >= 0:
            self._versions[before].died = number
            del self._now[table, key]
        if row is not None:
            after = self._put(table, key, _Version(table, row, number))
        self._changes.append((number, table, before, after, cause))
        return True

    def _joined_by(self, table: str) -> set[str]:
        places = {place for join in self.joins for each in join.classes for place in _named(join, each)}
        return {column for name, column in places if name == table}

    def _timeline(self, causes: Sequence[Caused], first_seq: int) -> Timeline:
        place, rows = {-1: -1}, []
        for relation in self.relations:
            mine = [i for i, v in enumerate(self._versions) if self._is_sent(v, relation.name)]
            place |= {version: i for i, version in enumerate(mine)}
            rows.append(self._rows(relation, [self._versions[i] for i in mine]))
        names = [relation.name for relation in self.relations]
        told = [
            (number, names.index(table), place.get(before, -1), place.get(after, -1), cause)
            for number, table, before, after, cause in self._changes
        ]
        told = [one for one in told if one[2] >= 0 or one[3] >= 0]
        columns = [np.array([one[i] for one in told], np.int64) for i in range(5)]
        topics = sorted({one.topic for one in causes})
        mine_of = [causes[one[4]] for one in told]
        return Timeline(
            tuple(rows), columns[0], columns[1], columns[2], columns[3], columns[4], columns[0] + first_seq, topics,
            np.array([topics.index(one.topic) for one in mine_of], np.int64),
            np.array([one.partition for one in mine_of], np.int64),
            np.array([one.offset for one in mine_of], np.int64),
        )  # fmt: skip

    def _is_sent(self, version: _Version, table: str) -> bool:
        return version.table == table and self.sent(table, version.row)

    def _rows(self, relation: Relation, versions: Sequence[_Version]) -> SentRows:
        keys = {
            (join.name, group, position): _keys(join, group, position, versions)
            for join in self.joins
            for group, each in enumerate(join.classes)
            for position in {at for at, _ in each if join.tables[at] == relation.name}
        }
        columns = {name: _column(relation, name, versions) for name in sorted(self.told.get(relation.name, ()))}
        born, died = ([getattr(version, name) for version in versions] for name in ("born", "died"))
        return SentRows(relation.name, np.array(born, np.int64), np.array(died, np.int64), keys, columns)


def _named(join: Join, places: Iterable[tuple[int, str]]) -> list[tuple[str, str]]:
    return [(join.tables[position], column) for position, column in places]


_NUMBERS: dict[Stored, int] = {}


def _keys(join: Join, group: int, position: int, versions: Sequence[_Version]) -> np.ndarray:
    """Return numbers that are equal where values are."""
    found: list[int] = []
    for version in versions:
        values = [version.row.get(column) for at, column in join.classes[group] if at == position]
        found.append(_NUMBERS.setdefault(values[0], len(_NUMBERS)) if _equal(values) else -1)
    return np.array(found, np.int64)


def _column(relation: Relation, name: str, versions: Sequence[_Version]) -> SentColumn:
    values = [version.row.get(name) for version in versions]
    known = np.array([value is not None for value in values], np.bool_)
    if relation.column(name).type.coded:
        return SentColumn(np.array([value or 0 for value in values], np.int64), known)
    texts: dict[str, int] = {}
    places = [0 if value is None else texts.setdefault(str(value), len(texts)) for value in values]
    return SentColumn(np.array(places, np.int64), known, list(texts))


class NaiveCell:
    """A cell whose copies are what the tables' own shards have; `catalog` is that of the batch.

    most, later: as `NaiveChannels` has them.
    """

    def __init__(self, cell: Cell, epoch: int) -> None:
        self.cell = cell
        self.epoch = epoch
        self.catalog = Catalog()
        self.followed: dict[str, set[str]] = {}
        self.most, self.later = 100, 0
        self.seq = 0

    def withdraw(self, channels: Iterable[Channel]) -> None:
        """Forget joins, and the columns of theirs that were needed."""
        for channel in channels:
            self.followed.pop(channel.relation, None)

    def batch(
        self, number: int, registered: list[Registered], tables: Tables, publications: Sequence[Publication], size: int
    ) -> tuple[list[bytes], list[Taken]]:
        """Take registrations, then publications, from what the tables were before them; return chunks and the truth."""
        registered = sorted(registered, key=lambda one: (one[0] < 0, max(one[0], 0)))
        for version, region, _ in registered:
            if version >= 0:
                self.followed.setdefault(region.shape.relation, set()).update(needed_by([region]))
        tables = {table: tables[table] for table in self.cell.tables}
        truth = [self._taken(name, registered, tables, publications) for name in self._asked(registered)]
        self._postpone(truth)
        chunks = [*self._snapshots(truth, size), *self._timeline(tables, publications, size)]
        packed = [
            pack_one(Header(kind, self.epoch, self.cell.name, number, chunk=i, of=len(chunks)))
            for i, (kind, pack_one) in enumerate(chunks)
        ]
        return packed, truth

    def _asked(self, registered: Sequence[Registered]) -> list[str]:
        return sorted({*self.followed, *(region.shape.relation for _, region, _ in registered)})

    def _relation(self, name: str) -> Relation:
        relation = self.catalog.relation(name)
        assert relation is not None
        return relation

    def _taken(
        self, name: str, registered: Sequence[Registered], tables: Tables, publications: Sequence[Publication]
    ) -> Taken:
        """Return what happens to the rows of a join."""
        join, naive = join_of_name(name), Naive(self._relation(name))
        assert join is not None
        rows, taken, answers = joined(join, tables), Taken(naive), FilterAnswers(naive, self.most)
        for version, region, asked in registered:
            if region.shape.relation == name:
                taken.snapshots.append((version, region, rows))
                taken.replies[version] = answers.reply(region, asked, rows)
        for one in publications:
            tables = applied(tables, _parts(one))
            before, rows = rows, joined(join, tables)
            taken.steps.append((Publication(name, one.key, None, one.offset, topic=one.relation), before, rows))
        return taken

    def _postpone(self, truth: Sequence[Taken]) -> None:
        """Answer some of the last registrations with `Later`."""
        late = [(version, taken) for taken in truth for version, _, _ in taken.snapshots]
        for version, taken in late[len(late) - self.later :] if self.later else []:
            taken.replies[version] = Later()
        self.later = 0

    def _snapshots(self, truth: Sequence[Taken], size: int) -> Iterator[tuple[str, _Pack]]:
        replies = [item for taken in truth for item in taken.replies.items()]
        apart = [(version, piece) for version, reply in replies for piece in _apart(reply, size)]
        for start in range(0, len(apart), size):
            yield "snapshot", _snapshot(apart[start : start + size])

    def _timeline(
        self, tables: Tables, publications: Sequence[Publication], size: int
    ) -> Iterator[tuple[str, _Pack]]:  # fmt: skip
        joins = [join for name in sorted(self.followed) if (join := join_of_name(name)) is not None]
        told: dict[str, set[str]] = {table: set() for table in self.cell.tables}
        for join in joins:
            for position, column in map(place_of, self.followed[join.name]):
                told[join.tables[position]].add(column)
        relations = [self._relation(table) for table in self.cell.tables]
        causes = [Caused(_parts(one), one.relation, 0, one.offset) for one in publications]
        timeline = NaiveTimeline(relations, joins, {table: sorted(names) for table, names in told.items()})
        made = timeline.of(tables, causes, self.seq)
        self.seq += 1_000
        if joins and len(made):
            yield from ((kind, _part(part)) for kind, part in _small(made, size))


_Pack = Callable[[Header], bytes]


def _parts(one: Publication) -> tuple[Part, ...]:
    rows = ((one.key, one.row), *one.more)
    return tuple((one.relation, key, None if row is None else row | {"k": key}) for key, row in rows)


def _apart(reply: Reply, size: int) -> list[Reply]:
    if not isinstance(reply, RowsReply) or size > len(reply.rows):
        return [reply]
    starts = range(0, len(reply.rows), size)
    return [RowsReply(reply.rows[i : i + size], i + size >= len(reply.rows)) for i in starts]


def _snapshot(replies: Sequence[tuple[int, Reply]]) -> _Pack:
    nothing = np.zeros(len(replies), np.int64)
    versions = np.array([version for version, _ in replies], np.int64)
    answers = Answers(nothing, nothing > 0, {})
    return lambda header: pack_snapshot(header, versions, answers, {i: reply for i, (_, reply) in enumerate(replies)})


def _small(timeline: Timeline, size: int) -> Iterator[tuple[str, RowsPart | ChangesPart]]:
    """Cut what is sent into chunks of so many rows, and of so many changes."""
    for rows in timeline.rows:
        for start in range(0, len(rows), size):
            yield "rows", RowsPart(rows.take(np.arange(start, min(start + size, len(rows)))), start)
    for start in range(0, len(timeline), size):
        names = [field for field in Timeline.__slots__ if field not in ("rows", "topics")]
        columns = {name: getattr(timeline, name)[start : start + size] for name in names}
        yield "changes", ChangesPart(replace(timeline, rows=(), **columns), start)


def _part(part: RowsPart | ChangesPart) -> _Pack:
    return lambda header: pack(header, part)
