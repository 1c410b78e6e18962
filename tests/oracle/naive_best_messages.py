"""Messages about first rows by brute force: of each cell of the plane of ranges, all its rows are sorted.

All ranges of a cell hold the same rows. So a message for a cell needs no bounds: `base` is the row's place in it, and
its candidates are all rows that are worse (state/best_tree.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from catalog.query.best_shape import BestShape
from catalog.query.channel import BestChannel
from catalog.query.shape import Region
from operators.best_messages import HEADS, BestMessages, ImageValues
from operators.reply import Rows as Reply
from operators.reply import encode_row
from state.best_tree import IN, OUT, STAY
from tests.oracle.naive_answer import Naive, Row, Rows, Stored
from tests.oracle.naive_best import first_of

Bound = int | str | None
Cell = tuple[Region, tuple[Bound, ...]]


@dataclass(frozen=True)
class BestSaid:
    """One message, before it is packed: `bounds` of the cell are codes, or texts (None: no cut)."""

    channel: BestChannel
    group: bytes
    cause: int
    kind: int
    bounds: tuple[Bound, ...]
    base: int
    old: Row | None
    new: Row | None
    cands: tuple[Row, ...]


@dataclass(frozen=True)
class BestTeller:
    """Says what a change of a row means, with images of the columns that are `needed`."""

    naive: Naive
    needed: Iterable[str]

    def reply(self, region: Region, rows: Rows) -> Reply:
        """Return what a registration is answered with."""
        return Reply(tuple(encode_row(row) for row in first_of(self.naive.relation, region, rows.values())))

    def says(
        self, channel: BestChannel, group: bytes, cell: Cell, cause: int, key: str, before: Rows, after: Rows
    ) -> Iterator[BestSaid]:
        """Yield the message for one cell, if there is any."""
        region, bounds = cell
        olds, news = (self._ordered(channel, region, rows) for rows in (before, after))
        was, now = (next((i for i, row in enumerate(rows) if row["k"] == key), None) for rows in (olds, news))
        if was is None and now is None:
            return
        old, new = None if was is None else olds[was], None if now is None else news[now]
        if old is not None and new is not None and not self._differ(channel, old, new):
            return
        rest = [row for row in news if row["k"] != key]
        base = min(place for place in (was, now) if place is not None)
        if base < channel.most:
            kind = IN if old is None else OUT if new is None else STAY
            cands = () if was is None else tuple(rest[was:now])
            yield BestSaid(channel, group, cause, kind, bounds, base, old, new, cands)

    def _ordered(self, channel: BestChannel, region: Region, rows: Rows) -> list[Row]:
        relation = self.naive.relation
        every = tuple(column.name for column in relation.columns)
        shape = BestShape(relation.name, every, channel.equal, channel.range, channel.order, len(rows) + 1, ())
        cell = Region(shape, region.group, region.lo, region.hi)
        return [dict(zip(every, row, strict=True)) for row in first_of(relation, cell, rows.values())]

    def _differ(self, channel: BestChannel, old: Row, new: Row) -> bool:
        names = {*self.needed, *(each.column for each in channel.order)}
        return any(old[name] != new[name] for name in names)

    def messages(self, said: Sequence[BestSaid]) -> BestMessages:
        """Return messages as columns."""
        channels = list(dict.fromkeys(one.channel for one in said))
        groups = list(dict.fromkeys(one.group for one in said))
        texts: dict[str, int] = {}
        images: dict[tuple[Stored, ...], int] = {}
        names = [column.name for column in self.naive.relation.columns if column.name in self.needed]

        def place(value: Bound) -> int:
            if isinstance(value, str):
                return texts.setdefault(value, len(texts))
            return -1 if value is None else value

        def image(row: Row | None) -> int:
            return -1 if row is None else images.setdefault(tuple(row[name] for name in names), len(images))

        heads: dict[str, list[int]] = {
            "cause": [one.cause for one in said],
            "channel": [channels.index(one.channel) for one in said],
            "group": [groups.index(one.group) for one in said],
            "kind": [one.kind for one in said],
            "base": [one.base for one in said],
            "lefts": [0 for _ in said],
            "rights": [0 for _ in said],
            "cands": [len(one.cands) for one in said],
            "old": [image(one.old) for one in said],
            "new": [image(one.new) for one in said],
        }
        for i, name in enumerate(("lo_min", "lo_max", "hi_min", "hi_max")):
            heads[name] = [place(one.bounds[i]) for one in said]
        cands = [(one, row) for one in said for row in one.cands]
        ranged = [0 if one.channel.range is None else place(row[one.channel.range]) for one, row in cands]
        cand = [image(row) for _, row in cands]
        return BestMessages(
            channels=list(channels),
            groups=groups,
            bounds=np.zeros(0, np.int64),
            cand_x=np.array(ranged, np.int64),
            cand=np.array(cand, np.int64),
            texts=list(texts),
            images={name: self._values(name, [row[i] for row in images]) for i, name in enumerate(names)},
            **{name: np.array(heads[name], np.int32 if name in HEADS[:3] else np.int64) for name in HEADS},
        )

    def _values(self, name: str, values: Sequence[Stored]) -> ImageValues:
        known = np.array([value is not None for value in values], np.bool_)
        if self.naive.type_of(name).coded:
            return ImageValues(np.array([value or 0 for value in values], np.int64), known)
        texts: dict[Any, int] = {}
        places = [0 if value is None else texts.setdefault(value, len(texts)) for value in values]
        return ImageValues(np.array(places, np.int64), known, list(texts))
