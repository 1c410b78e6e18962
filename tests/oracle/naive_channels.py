"""A shard by brute force: for every channel, the plane of ranges is cut at the domain's values and every cell is asked.

What a real shard finds with trees this one finds by looking at all rows of a cell before and after each publication.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from catalog.query.channel import Channel
from catalog.query.shape import BEYOND_KEYS, LOWEST_KEY, Output, Region, Shape, group_key
from catalog.schema.relation import Relation
from operators.answer import Extremum, Members, Part, Parts, Tally
from operators.channel_kinds import is_plain
from operators.exact_units import unit_of
from operators.operator import Answers, Messages
from operators.packed import Header, pack_snapshot
from state.order_code import INT64_MAX, INT64_MIN, code_of_double
from tests.operators.packing import pack_apart
from tests.oracle.naive_answer import Naive, Row, Rows, Stored

DOMAIN = range(3)
TEXTS = ("a", "ab", "b")
DOUBLES = (-1.7e308, 1.0, 1e16)
"""Sums of them absorb the one and lie beyond all doubles: exactly apart, and written the same."""
WIDE = ("-1.50", "0.00", "123456789012345678.25")
_CODES: dict[str, tuple[int | str, ...]] = {"s": TEXTS, "w": WIDE}


def full_row(g: int | None, x: int | None, m: int | None) -> Row:
    """Return a row of the test's tables: `s` says what x says, `d` and `w` what m says, in other types."""
    return {
        "g": g,
        "x": x,
        "m": m,
        "s": None if x is None else TEXTS[x],
        "d": None if m is None else code_of_double(DOUBLES[m]),
        "w": None if m is None else WIDE[m],
        "e": None,
    }


@dataclass(frozen=True)
class Publication:
    """A row of `relation` set (or deleted) under `key`; `offset` in the relation's topic."""

    relation: str
    key: str
    row: Row | None
    offset: int


@dataclass
class Taken:
    """What a batch did, for the twin of the edge: answers to registrations, and states around each publication."""

    naive: Naive
    snapshots: list[tuple[int, Region, Rows]] = field(default_factory=list)
    steps: list[tuple[Publication, Rows, Rows]] = field(default_factory=list)


@dataclass(frozen=True)
class Said:
    """One message, before it is packed; bounds are codes, or texts (None: no cut)."""

    channel: Channel
    group: bytes
    offset: int
    rows: int
    old: Stored
    new: Stored
    has_old: bool
    has_new: bool
    bounds: tuple[int | str | None, ...]


class NaiveChannels:
    """One relation's rows and the channels that are listened to; `batch` returns chunks and what happened."""

    def __init__(self, relation: Relation, epoch: int, rows: Rows) -> None:
        self.relation = relation
        self.epoch = epoch
        self.rows = rows
        self.channels: list[Channel] = []
        self.seq = 0

    @property
    def naive(self) -> Naive:
        return Naive(self.relation)

    def batch(
        self, number: int, registered: list[tuple[int, Region]], publications: list[Publication], rows_a_chunk: int
    ) -> tuple[list[bytes], Taken]:
        """Take registrations, then publications."""
        taken = Taken(self.naive)
        wanted = dict.fromkeys(channel for _, region in registered for channel in region.shape.channels)
        self.channels += [channel for channel in wanted if channel not in self.channels]
        taken.snapshots = [(version, region, self.rows) for version, region in registered]
        said: list[Said] = []
        for publication in publications:
            before, self.rows = self.rows, dict(self.rows)
            if publication.row is None:
                self.rows.pop(publication.key, None)
            else:
                self.rows[publication.key] = publication.row
            taken.steps.append((publication, before, self.rows))
            said += self._say(publication, before, self.rows)
        return self._chunks(number, taken.snapshots, said, rows_a_chunk), taken

    # -- what is said ---------------------------------------------------------------------------------------------

    def _say(self, publication: Publication, before: Rows, after: Rows) -> Iterator[Said]:
        touched = [rows[publication.key] for rows in (before, after) if publication.key in rows]
        for channel in self.channels:
            keys = (tuple(row[column] for column in channel.equal) for row in touched)
            groups = dict.fromkeys(group_key(key) for key in keys if None not in key)  # type: ignore[arg-type]
            for group in groups:
                for region, bounds in self._cells(channel, group):
                    for rows, old, new in self._effects(channel, region, publication.key, before, after):
                        yield Said(
                            channel, group, publication.offset, rows,
                            old[0] if old else None, new[0] if new else None,
                            bool(old and old[0] is not None), bool(new and new[0] is not None), bounds,
                        )  # fmt: skip

    def _cells(self, channel: Channel, group: bytes) -> Iterator[tuple[Region, tuple[int | str | None, ...]]]:
        """Yield a region for each cell of the plane, and the cell's bounds."""
        shape = Shape(channel.relation, (Output("count", None),), channel.equal, channel.range)
        if channel.range is None:
            yield Region(shape, group), (INT64_MIN, INT64_MAX, INT64_MIN, INT64_MAX)
            return
        texts = _CODES.get(channel.range)
        for first in range(4):
            for end in range(4):
                if texts is None:
                    bounds = (*_gap(first, 1, 0), *_gap(end, 0, -1))
                    yield Region(shape, group, first, end - 1), bounds
                else:
                    keys = [self.naive.sort_key(channel.range, text) for text in texts]
                    ends = [LOWEST_KEY, *keys[1:], BEYOND_KEYS]
                    cut = [None, *texts, None]
                    region = Region(shape, group, ends[first], ends[end] if end else LOWEST_KEY)  # type: ignore[arg-type]
                    yield region, (cut[first], cut[first + 1], cut[end], cut[end + 1])

    def _effects(
        self, channel: Channel, region: Region, key: str, before: Rows, after: Rows
    ) -> Iterator[tuple[int, tuple[Stored] | None, tuple[Stored] | None]]:
        """Yield (rows, old, new) of what the channel must say to the region."""
        naive, column = self.naive, channel.column
        if channel.kind in ("min", "max", "distinct"):
            output = Output(channel.kind, column)
            one = replace(region, shape=Shape(channel.relation, (output,), channel.equal, channel.range))
            (old,), (new,) = naive.answer(one, before), naive.answer(one, after)
            if isinstance(old, frozenset) and isinstance(new, frozenset):
                yield from ((-1, (value,), None) for value in old - new)
                yield from ((1, None, (value,)) for value in new - old)
            elif old != new:
                yield 0, None, (new,)  # type: ignore[misc]
            return
        rows = [state[key] if key in state and naive.inside(region, state[key]) else None for state in (before, after)]
        if column is not None:
            rows = [row if row is not None and row.get(column) is not None else None for row in rows]
        old_row, new_row = rows
        change = (new_row is not None) - (old_row is not None)
        values = channel.kind == "values"
        if change or (values and old_row is not None and new_row is not None and old_row[column] != new_row[column]):  # type: ignore[index]
            old_value = (old_row[column],) if values and old_row is not None else None  # type: ignore[index]
            yield change, old_value, (new_row[column],) if values and new_row is not None else None  # type: ignore[index]

    # -- chunks ---------------------------------------------------------------------------------------------------

    def _chunks(self, number: int, snapshots: list, said: list[Said], size: int) -> list[bytes]:
        parts = [("snapshot", snapshots[i : i + size]) for i in range(0, len(snapshots), size)]
        parts += [("messages", said[i : i + size]) for i in range(0, len(said), size)]
        chunks = []
        for i, (kind, part) in enumerate(parts):
            header = Header(kind, self.epoch, self.relation.shard, number, chunk=i, of=len(parts))
            chunks.append(self._pack_snapshot(header, part) if kind == "snapshot" else self._pack(header, part))
        return chunks

    def _pack_snapshot(self, header: Header, part: list[tuple[int, Region, Rows]]) -> bytes:
        new, known, parts = [], [], {}
        for i, (_, region, rows) in enumerate(part):
            first = region.shape.outputs[0]
            plain = first.column is not None and is_plain(region.shape, self.naive.type_of(first.column).coded)
            value = self.naive.answer(region, rows)[0] if plain else None
            new.append(value or 0)
            known.append(value is not None)
            if not plain:
                parts[i] = self._parts(region, rows)
        versions = np.array([version for version, _, _ in part], np.int64)
        return pack_snapshot(header, versions, Answers(np.array(new, np.int64), np.array(known, np.bool_), parts))

    def _parts(self, region: Region, rows: Rows) -> Parts:
        return tuple(self._part(channel, region, rows) for channel in region.shape.channels)

    def _part(self, channel: Channel, region: Region, rows: Rows) -> Part:
        naive, column = self.naive, channel.column
        mine = [row for row in rows.values() if naive.inside(region, row)]
        if channel.kind in ("min", "max"):
            return Extremum(naive.output(Output(channel.kind, column), mine))  # type: ignore[arg-type]
        if channel.kind == "distinct":
            members = {row.get(column or "") for row in mine}
            if region.shape.outputs[0].function != "distinct":
                return Tally.of(len(members), len(members - {None}))
            return Members(tuple(members))
        if column is None:
            return Tally.of(len(mine), 0)
        values = [row[column] for row in mine if row.get(column) is not None]
        if channel.kind == "rows":
            return Tally.of(len(values), 0)
        return Tally.of(len(values), sum(unit_of(naive.type_of(column), value) for value in values))  # type: ignore[arg-type]

    def _pack(self, header: Header, part: Sequence[Said]) -> bytes:
        messages = messages_of(part)
        header.channels = messages.channels
        seq = np.arange(self.seq, self.seq + len(part))
        self.seq += len(part)
        offsets = np.array([said.offset for said in part], np.int64)
        return pack_apart(header, messages, seq, np.zeros(len(part), np.int64), offsets)


def messages_of(part: Sequence[Said]) -> Messages:
    """Return messages as columns."""
    channels = list(dict.fromkeys(said.channel for said in part))
    groups = list(dict.fromkeys(said.group for said in part))
    texts: dict[str, int] = {}

    def place(value: Stored, absent: int) -> int:
        if isinstance(value, str):
            return texts.setdefault(value, len(texts))
        return absent if value is None else value

    bounds = [[place(said.bounds[i], -1) for said in part] for i in range(4)]
    return Messages(
        channels=channels,
        groups=groups,
        cause=np.zeros(len(part), np.int32),
        channel=np.array([channels.index(said.channel) for said in part], np.int32),
        group=np.array([groups.index(said.group) for said in part], np.int32),
        rows=_ints(said.rows for said in part),
        old=_ints(place(said.old, 0) for said in part),
        has_old=np.array([said.has_old for said in part], np.bool_),
        new=_ints(place(said.new, 0) for said in part),
        has_new=np.array([said.has_new for said in part], np.bool_),
        lo_min=_ints(bounds[0]),
        lo_max=_ints(bounds[1]),
        hi_min=_ints(bounds[2]),
        hi_max=_ints(bounds[3]),
        texts=list(texts),
    )


def _ints(values: Iterable[int]) -> np.ndarray:
    return np.array(list(values), np.int64)


def _gap(number: int, above: int, below: int) -> tuple[int, int]:
    """Return the codes from DOMAIN's value before place `number` (+ above) to the one at it (+ below)."""
    return (
        INT64_MIN if number == 0 else DOMAIN[number - 1] + above,
        INT64_MAX if number == len(DOMAIN) else DOMAIN[number] + below,
    )
