"""A shard by brute force: for every channel, the plane of ranges is cut at the domain's values and every cell is asked.

What a real shard finds with trees this one finds by looking at all rows of a cell before and after each publication.
Filters are answered, and images of rows told, by `naive_filter.py`; first rows by `naive_best_messages.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from catalog.query.best_shape import BestShape
from catalog.query.channel import BestChannel, Channel, ImageChannel
from catalog.query.filter_shape import FilterShape
from catalog.query.shape import BEYOND_KEYS, LOWEST_KEY, Output, Region, Shape, group_key
from catalog.schema.relation import Relation
from operators.answer import Extremum, Members, Part, Parts, Tally
from operators.channel_kinds import is_plain
from operators.exact_units import unit_of
from operators.operator import Answers, Messages
from operators.packed import Header, pack_best, pack_images, pack_messages, pack_snapshot
from operators.reply import Asked, Later, Reply
from operators.reply import Rows as RowsReply
from state.causes import Causes
from state.order_code import INT64_MAX, INT64_MIN, code_of_double
from tests.oracle.naive_answer import Naive, Row, Rows, Stored
from tests.oracle.naive_best_messages import BestSaid, BestTeller
from tests.oracle.naive_filter import FilterAnswers, Image, ImageTeller, needed_by

DOMAIN = range(3)
TEXTS = ("a", "ab", "b")
DOUBLES = (-1.7e308, 1.0, 1e16)
"""Sums of them absorb the one and lie beyond all doubles: exactly apart, and written the same."""
WIDE = ("-1.50", "0.00", "123456789012345678.25")
KEYS = ("p", "q", "r")
_CODES: dict[str, tuple[int | str, ...]] = {"s": TEXTS, "w": WIDE, "k": KEYS}


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
    """A row of `relation` set (or deleted) under `key`; `offset` in its topic. `more` are set with it.

    topic: of the table that changed, where the relation is a join.
    """

    relation: str
    key: str
    row: Row | None
    offset: int
    more: tuple[tuple[str, Row | None], ...] = ()
    topic: str = ""


@dataclass
class Taken:
    """What a batch did, for the twin of the edge: answers to registrations, and states around each publication.

    `replies` are those answers that are no value, by version.
    """

    naive: Naive
    snapshots: list[tuple[int, Region, Rows]] = field(default_factory=list)
    replies: dict[int, Reply] = field(default_factory=dict)
    steps: list[tuple[Publication, Rows, Rows]] = field(default_factory=list)


@dataclass(frozen=True)
class Said:
    """One message, before it is packed; bounds are codes, or texts (None: no cut)."""

    channel: Channel
    group: bytes
    cause: int
    rows: int
    old: Stored
    new: Stored
    has_old: bool
    has_new: bool
    bounds: tuple[int | str | None, ...]


Registered = tuple[int, Region, Asked]


class NaiveChannels:
    """One relation's rows and the channels that are listened to; `batch` returns chunks and what happened.

    most: rows that a filter's answer may have.  later: how many answers to filters are put off in each batch.
    """

    def __init__(self, relation: Relation, epoch: int, rows: Rows, most: int = 100) -> None:
        self.relation = relation
        self.epoch = epoch
        self.rows = rows
        self.channels: list[Channel] = []
        self.needed: set[str] = set()
        self.most = most
        self.later = 0
        self.seq = 0
        self._publications: list[Publication] = []

    @property
    def naive(self) -> Naive:
        return Naive(self.relation)

    def batch(
        self, number: int, registered: list[Registered], publications: list[Publication], rows_a_chunk: int
    ) -> tuple[list[bytes], Taken]:
        """Take registrations, the oldest versions first and looks last, then publications."""
        taken = Taken(self.naive)
        registered = sorted(registered, key=lambda one: (one[0] < 0, max(one[0], 0)))
        listening = [region for version, region, _ in registered if version >= 0]
        wanted = dict.fromkeys(channel for region in listening for channel in region.shape.channels)
        self.channels += [channel for channel in wanted if channel not in self.channels]
        self.needed |= needed_by(listening)
        self._publications = publications
        taken.snapshots = [(version, region, self.rows) for version, region, _ in registered]
        taken.replies = self._replies(registered)
        said: list[Said] = []
        images: list[Image] = []
        best: list[BestSaid] = []
        for cause, publication in enumerate(publications):
            first = self.rows
            for key, row in ((publication.key, publication.row), *publication.more):
                before, self.rows = self.rows, dict(self.rows)
                if row is None:
                    self.rows.pop(key, None)
                else:
                    self.rows[key] = row | {"k": key}
                said += self._say(cause, key, before, self.rows)
                images += self._images(cause, key, before, self.rows)
                best += self._best(cause, key, before, self.rows)
            taken.steps.append((publication, first, self.rows))
        return self._chunks(number, taken, [said, images, best], rows_a_chunk), taken

    def _replies(self, registered: list[Registered]) -> dict[int, Reply]:
        """Return the answers that are rows."""
        answers, best = FilterAnswers(self.naive, self.most), BestTeller(self.naive, self.needed)
        asked_rows = [one for one in registered if _is_of_rows(one[1])]
        replies: dict[int, Reply] = {}
        for version, region, asked in asked_rows:
            first = isinstance(region.shape, BestShape)
            replies[version] = best.reply(region, self.rows) if first else answers.reply(region, asked, self.rows)
        later = asked_rows[len(asked_rows) - self.later :] if self.later else []
        replies |= {version: Later() for version, _, _ in later}
        self.later = 0
        return replies

    # -- what is said ---------------------------------------------------------------------------------------------

    def _images(self, cause: int, key: str, before: Rows, after: Rows) -> Iterator[Image]:
        if any(isinstance(channel, ImageChannel) for channel in self.channels):
            old, new = (rows.get(key) for rows in (before, after))
            if ImageTeller(self.naive, self.needed).says(old, new):
                yield Image(cause, old, new)

    def _say(self, cause: int, touched_key: str, before: Rows, after: Rows) -> Iterator[Said]:
        touched = [rows[touched_key] for rows in (before, after) if touched_key in rows]
        for channel in self.channels:
            if isinstance(channel, ImageChannel | BestChannel):
                continue
            for group in _groups(channel, touched):
                for region, bounds in self._cells(channel, group):
                    for rows, old, new in self._effects(channel, region, touched_key, before, after):
                        yield Said(
                            channel, group, cause, rows,
                            old[0] if old else None, new[0] if new else None,
                            bool(old and old[0] is not None), bool(new and new[0] is not None), bounds,
                        )  # fmt: skip

    def _best(self, cause: int, touched_key: str, before: Rows, after: Rows) -> Iterator[BestSaid]:
        touched = [rows[touched_key] for rows in (before, after) if touched_key in rows]
        teller = BestTeller(self.naive, self.needed)
        for channel in self.channels:
            if isinstance(channel, BestChannel):
                for group in _groups(channel, touched):
                    for cell in self._cells(channel, group):
                        yield from teller.says(channel, group, cell, cause, touched_key, before, after)

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

    def _chunks(self, number: int, taken: Taken, told: Sequence[Sequence[Any]], size: int) -> list[bytes]:
        """Return chunks; rows are told apart, each by itself, where chunks are small."""
        answers = [one for snapshot in taken.snapshots for one in self._apart(*snapshot, taken.replies, size)]
        parts: list[tuple[str, Any]] = [("snapshot", answers[i : i + size]) for i in range(0, len(answers), size)]
        for kind, said in zip(("messages", "images", "best"), told, strict=True):
            parts += [(kind, said[i : i + size]) for i in range(0, len(said), size)]
        pack = {"snapshot": self._pack_snapshot, "messages": self._pack} | {
            "images": self._pack_images,
            "best": self._pack_best,
        }
        headers = [
            Header(kind, self.epoch, self.relation.shard, number, chunk=i, of=len(parts))
            for i, (kind, _) in enumerate(parts)
        ]
        return [pack[kind](header, part) for header, (kind, part) in zip(headers, parts, strict=True)]

    def _apart(
        self, version: int, region: Region, rows: Rows, replies: Mapping[int, Reply], size: int
    ) -> Iterator[tuple[int, Region, Rows, Reply | None]]:
        reply = replies.get(version)
        if not isinstance(reply, RowsReply) or size > len(reply.rows):
            yield version, region, rows, reply
            return
        for i in range(0, len(reply.rows), size):
            some = reply.rows[i : i + size]
            yield version, region, rows, RowsReply(some, i + size >= len(reply.rows))

    def _pack_snapshot(self, header: Header, part: list[tuple[int, Region, Rows, Reply | None]]) -> bytes:
        new, known, parts = [], [], {}
        for i, (_, region, rows, _) in enumerate(part):
            if isinstance(region.shape, FilterShape | BestShape):
                new.append(0)
                known.append(False)
                if region.shape.outputs:
                    parts[i] = FilterAnswers(self.naive).parts(region, rows)
                continue
            first = region.shape.outputs[0]
            plain = first.column is not None and is_plain(region.shape, self.naive.type_of(first.column).coded)
            value = self.naive.answer(region, rows)[0] if plain else None
            new.append(value or 0)
            known.append(value is not None)
            if not plain:
                parts[i] = self._parts(region, rows)
        versions = np.array([version for version, *_ in part], np.int64)
        replies = {i: reply for i, (*_, reply) in enumerate(part) if reply is not None}
        answers = Answers(np.array(new, np.int64), np.array(known, np.bool_), parts)
        return pack_snapshot(header, versions, answers, replies)

    def _pack_images(self, header: Header, part: Sequence[Image]) -> bytes:
        images = ImageTeller(self.naive, self.needed).images(part)
        seq = np.arange(self.seq, self.seq + len(part))
        self.seq += len(part)
        return pack_images(header, ImageChannel(self.relation.name), images, seq, *self._causes())

    def _pack_best(self, header: Header, part: Sequence[BestSaid]) -> bytes:
        messages = BestTeller(self.naive, self.needed).messages(part)
        seq = np.arange(self.seq, self.seq + len(part))
        self.seq += len(part)
        return pack_best(header, messages, seq, *self._causes())

    def _causes(self) -> tuple[Causes, np.ndarray]:
        """Return the causes of the batch, and which of them change several rows."""
        offsets = _ints(one.offset for one in self._publications)
        nothing = np.zeros(len(offsets), np.int32)
        several = np.array([bool(one.more) for one in self._publications], np.bool_)
        return Causes([self.relation.topic], nothing, nothing, offsets), several

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
        return pack_messages(header, messages, seq, *self._causes())


def _is_of_rows(region: Region) -> bool:
    return isinstance(region.shape, BestShape) or (isinstance(region.shape, FilterShape) and bool(region.shape.shown))


def _groups(channel: Channel, touched: Sequence[Row]) -> Iterable[bytes]:
    """Return the groups of a channel that have some of these rows."""
    keys = (tuple(row[column] for column in channel.equal) for row in touched)
    return dict.fromkeys(group_key(key) for key in keys if None not in key)  # type: ignore[arg-type]


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
        cause=np.array([said.cause for said in part], np.int32),
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
