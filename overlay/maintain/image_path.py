"""Images of rows applied to filters: each change to those whose answers it concerns, in the mode of each.

    images ──► FilterBook ──► hits ──┬─► bags      (`overlay/maintain/bag_path.py`)
                                     ├─► a COUNT   as messages of rows, or values, that came or went
                                     └─► other sums, and those told by MIN CHANGE: as changes of their parts

A sum under any WHERE is followed as one over a range: what enters is added, what leaves is taken off, and of what is
within the new value takes the place of the old. So whoever follows sums over ranges follows these too, with all their
policies.
Cost: that of the index (`overlay/subscriptions/filter_book.py`) and of the paths.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from catalog.query.channel import Channel, channel_of
from operators.operator import Messages
from operators.packed import PackedImages, PackedMessages
from overlay.answers.answer import Value
from overlay.answers.answer_layout import AnswerLayout
from overlay.delivery.causing_rows import CausingRows
from overlay.delivery.delivery import Position
from overlay.maintain.bag_path import BagPath
from overlay.maintain.mode import Mode, Modes
from overlay.maintain.object_path import SingleAnswers
from overlay.maintain.part_change import PartChange, image_change
from overlay.subscriptions.edge_counters import EdgeCounters
from overlay.subscriptions.filter_book import Hits
from overlay.subscriptions.subscription_store import SubscriptionStore
from state.change_batch import I64, Bool
from state.distinct_numbers import distinct_numbers
from state.filter_index import ENTERED, LEFT

Counted = Callable[[PackedMessages, I64, I64, Position], None]
"""Applies pairs (index of a message, slot) on counts."""


class ImagePath:
    """Applies records of images; `counted` takes what concerns counts."""

    def __init__(
        self, store: SubscriptionStore, counters: EdgeCounters, modes: Modes, bags: BagPath, singles: SingleAnswers,
        counted: Counted,
    ) -> None:  # fmt: skip
        self._store = store
        self._counters = counters
        self._modes = modes
        self._bags = bags
        self._singles = singles
        self._counted = counted

    def apply(self, packed: PackedImages, position: Position) -> None:
        """Apply one record."""
        self._counters.messages += len(packed)
        wanted = np.zeros(len(packed), np.bool_)
        moves = None
        for hits in self._store.filters.hits(packed):
            wanted[hits.change] = True
            modes = self._modes.of(hits.slot)
            bags = (modes & Mode.BAG) != 0
            if bags.any():
                self._bags.hits(packed, hits.of(bags), modes[bags], position)
            singles = modes == Mode.SINGLE
            if singles.any():
                self._sums(packed, hits.of(singles), position)
            others = ~(bags | singles)
            if others.any():
                moves = _comings_and_goings(packed) if moves is None else moves
                self._count(packed, moves, hits.of(others), position)
        self._counters.unwanted += len(packed) - int(np.count_nonzero(wanted))

    def _count(self, packed: PackedImages, moves: PackedMessages, hits: Hits, position: Position) -> None:
        """Pass on those hits that change a count, as messages that are numbered as in `_comings_and_goings`."""
        by = self._changes(packed, hits)
        hits, by = hits.of(by != 0), by[by != 0]
        self._counted(moves, 2 * hits.change + (by > 0), hits.slot, position)

    def _changes(self, packed: PackedImages, hits: Hits) -> I64:
        """Return by how much each hit changes a count, of rows or of those that have a value in a column."""
        shapes = self._store.slots.shape[hits.slot]
        went, came = hits.kind != ENTERED, hits.kind != LEFT
        by = came.astype(np.int64) - went
        for number in np.unique(shapes).tolist():
            (channel,) = self._store.shapes[number].plan.channels
            if channel.column is not None:
                column, mine = packed.columns[channel.column], shapes == number
                change = hits.change[mine]
                by[mine] = (came[mine] & column.new_known[change]).astype(np.int64)
                by[mine] -= went[mine] & column.old_known[change]
        return by

    def _sums(self, packed: PackedImages, hits: Hits, position: Position) -> None:
        """Apply hits on sums that are kept one by one.

        What a change does to an answer is made once for all of a shape that it enters, leaves or stays within.
        """
        topic = self._store.shape_of(int(hits.slot[0])).topic_text
        read = _ReadChanges(packed, hits.change, CausingRows(packed, position, topic))
        made: dict[tuple[int, int, int], list[PartChange]] = {}
        slots, changes = list[int](), list[PartChange]()
        columns = (read.place, hits.slot, hits.kind, self._store.slots.shape[hits.slot])
        for change, slot, kind, shape in zip(*(column.tolist() for column in columns), strict=True):
            parts = made.get((change, kind, shape))
            if parts is None:
                parts = made[change, kind, shape] = read.parts(change, kind, self._store.shapes[shape].plan)
            slots += [slot] * len(parts)
            changes += parts
        if changes:
            self._singles.take(np.array(slots, np.int64), changes)


class _ReadChanges:
    """Row changes that are about to change sums; `place`: of each that was given among the different ones, by number.

    causing: their causing rows.
    """

    def __init__(self, packed: PackedImages, change: I64, causing: CausingRows) -> None:
        self._packed = packed
        self._change, self.place = distinct_numbers(change)
        self._ats = causing.of(self._change)
        self._values: dict[str, tuple[list[Value], list[Value]]] = {}

    def parts(self, change: int, kind: int, plan: AnswerLayout[Any]) -> list[PartChange]:
        """Return what a change does to the parts of an answer."""
        parts = []
        for channel, type_ in zip(plan.channels, plan.types, strict=True):
            old, new = self._images(channel.column, change)
            one = image_change(old, new, kind, channel, self._ats[change], type_)
            if one.rows or one.units:
                parts.append(one)
        return parts

    def _images(self, name: str | None, change: int) -> tuple[Value, Value]:
        """Return a column before and after a change; None for NULL, and where no column is asked for."""
        if name is None:
            return None, None
        if name not in self._values:
            column, which = self._packed.columns[name], self._change
            sides = (column.old, column.old_known), (column.new, column.new_known)
            old, new = (_values(codes[which], known[which], column.listed) for codes, known in sides)
            self._values[name] = old, new
        before, after = self._values[name]
        return before[change], after[change]


def _values(codes: I64, known: Bool, texts: list[str] | None) -> list[Value]:
    """Return order codes, or what is said by places among texts; None where it is not known."""
    numbers = zip(codes.tolist(), known.tolist(), strict=True)
    if texts is None:
        return [code if there else None for code, there in numbers]
    return [texts[place] if there else None for place, there in numbers]


def _comings_and_goings(packed: PackedImages) -> PackedMessages:
    """Return row changes as messages of a COUNT(*), about no group and no range: whom they concern is known.

    Number 2 i says that the row of change i went, number 2 i + 1 that it came.
    """
    (images,) = packed.header.channels
    channel: Channel = channel_of(images.relation, "rows", None, (), None)
    twice = np.repeat(np.arange(len(packed)), 2)
    nothing = np.zeros(len(twice), np.int64)
    places, unknown = nothing.astype(np.int32), nothing > 0
    rows = np.tile(np.array([-1, 1], np.int64), len(packed))
    messages = Messages(
        [channel], [b"[]"], packed.cause[twice].astype(np.int32), places, places, rows,
        nothing, unknown, nothing, unknown, nothing, nothing, nothing, nothing,
    )  # fmt: skip
    several = None if packed.several is None else packed.several[twice]
    columns = (packed.seq[twice], packed.partition[twice], packed.offset[twice])
    topic = None if packed.topic is None else packed.topic[twice]
    return PackedMessages(packed.header, *columns, messages, several, topic)
