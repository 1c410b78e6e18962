"""What the fast way of joins found is applied to bags: their counts and digests follow, and it is told.

    timeline ──► whom changes meet (`overlay/index/join_index.py`) ──► which rows went and came (`join_fast_rows.py`)
                 ──► texts and digests (`join_fast_told.py`) ──► told (`bag_teller.py`); LATEST waits

A cause is one change of a slot here, whatever it did; so all of it is told at once, and only NOTIFY LATEST collects
rows until the batch ends, where the other ways collect them (`bag_path.py`).
Cost: that of telling, and 0.2 us a delivery; 5 us one of LATEST.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from catalog.schema.join import join_of_name
from operators.timeline import Timeline
from overlay.answers.shape_table import ShapeEntry
from overlay.delivery.delivery import Position, json_text, row_at, row_start
from overlay.index.join_index import StepHits
from overlay.maintain.bag_path import BagPath
from overlay.maintain.bag_teller import BagTeller, Said
from overlay.maintain.batch_buffer import SentTimeline
from overlay.maintain.join_fast_rows import Parts, RowChanges, row_changes
from overlay.maintain.join_fast_told import Told, told
from overlay.maintain.mode import Mode, Modes
from overlay.maintain.projections import Projector
from overlay.subscriptions.edge_counters import EdgeCounters
from overlay.subscriptions.subscription_store import SubscriptionStore
from state.change_batch import I64


class _Made(NamedTuple):
    """What was made of changes: the rows of each, what it is told of, as `at`, and the SELECT list of each."""

    told: Told
    at: list[str]
    shown: list[tuple[str, ...]]


class JoinFastPath:
    """Applies timelines to the subscriptions that a virtual edge has in the index of joins."""

    def __init__(
        self, store: SubscriptionStore, counters: EdgeCounters, modes: Modes, bags: BagPath, teller: BagTeller,
        projector: Projector,
    ) -> None:  # fmt: skip
        self._joins = store.filters.joins
        self._store = store
        self._counters = counters
        self._modes = modes
        self._bags = bags
        self._teller = teller
        self._projector = projector

    def apply(self, sent: SentTimeline, join: str, position: Position) -> None:
        """Apply a timeline to the subscriptions of one join; a change counts as one message."""
        timeline = of_join(sent.timeline, join)
        if timeline is None:
            return
        parts = Parts(timeline)
        unwanted = np.ones(len(timeline), np.bool_)
        for step in self._joins.hits(timeline, join, sent.name):
            if len(step.hits.slot):
                unwanted[step.hits.change] = False
                self._apply(timeline, step, parts, position)
        self._counters.messages += len(timeline)
        self._counters.unwanted += int(np.count_nonzero(unwanted))

    def _apply(self, timeline: Timeline, step: StepHits, parts: Parts, position: Position) -> None:
        entries, lists = self._lists(step.hits.slot)
        changes = row_changes(timeline, step, lists, [entry.shown_list for entry in entries], parts)
        if not len(changes.slot):
            return
        made = told(timeline, changes, entries, self._projector)
        moved, which = made.moved, changes.told
        filters = self._store.slots.filters
        self._store.moved(filters.add(changes.slot, moved.rows[which], moved.low[which], moved.high[which]))
        at, shown = _causes(timeline, changes, position), [entries[i].shown_list for i in changes.lists.tolist()]
        self._tell(changes.slot, changes.told, _Made(made, at, shown))

    def _lists(self, slots: I64) -> tuple[list[ShapeEntry], I64]:
        """Return a shape of each different SELECT list, and the place of each slot's among them."""
        used, place = np.unique(self._store.slots.shape[slots], return_inverse=True)
        entries: dict[tuple[str, ...], tuple[int, ShapeEntry]] = {}
        number_of = np.zeros(len(used), np.int64)
        for i, number in enumerate(used.tolist()):
            entry = self._store.shapes[number]
            number_of[i], _ = entries.setdefault(entry.shown_list, (len(entries), entry))
        return [entry for _, entry in entries.values()], number_of[place]

    def _tell(self, slots: I64, which: I64, made: _Made) -> None:
        """Tell each of `slots` its own of what is said, in its form."""
        modes = self._modes.of(slots)
        latest = (modes & Mode.LATEST) != 0
        if latest.any():
            self._later(slots[latest], which[latest], made)
        if not latest.all():
            now = ~latest
            texts = Said(*made.told.sides(), made.at, [()] * len(made.at))
            self._teller.tell(slots[now], modes[now], which[now], texts)

    def _later(self, slots: I64, which: I64, made: _Made) -> None:
        """Let what is told by the end of a batch be collected."""
        used, place = np.unique(which, return_inverse=True)
        rows = [
            [((made.shown[i], text), text, came) for came in (False, True) for text in made.told.rows(i, came)]
            for i in used.tolist()
        ]
        self._bags.later(slots, place, rows, [made.at[i] for i in used.tolist()])


def of_join(timeline: Timeline, name: str) -> Timeline | None:
    """Return what a timeline says of the two tables of a join, as the fast way takes it; None where it lacks one.

    Cost: nothing where it is of these alone, as it is unless questions join views in their cell.
    """
    join, there = join_of_name(name), [rows.table for rows in timeline.rows]
    if join is None or not {*join.tables} <= {*there}:
        return None
    if there == [*join.tables]:
        return timeline
    place = np.array([join.tables.index(table) if table in join.tables else -1 for table in there])
    mine = timeline.only(np.flatnonzero(place[timeline.table] >= 0))
    rows = tuple(timeline.rows[there.index(table)] for table in join.tables)
    return replace(mine, rows=rows, table=place[mine.table])


def _causes(timeline: Timeline, changes: RowChanges, position: Position) -> list[str]:
    """Return the causing row of each that is told, as deliveries write it."""
    change = np.empty(len(changes.lists), np.int64)
    change[changes.told] = changes.change
    starts = [row_start(position, json_text(name)) for name in timeline.topics]
    columns = (column[change].tolist() for column in (timeline.topic, timeline.partition, timeline.offset))
    return [row_at(starts[topic], partition, offset) for topic, partition, offset in zip(*columns, strict=True)]
