"""What is told of rows that the fast way of joins found: their texts and digests, and the ends of deliveries.

    told 0    went (10.50, 'ACME', 5) (10.50, 'ACME', 8)        "removed":[["10.50",5],["10.50",8]],"added":[],"at":…
                                                                count -2, digest - h(r1) - h(r2)

Rows are written and hashed once for each SELECT list, however many are told of them, in the columns that it shows.
Cost: 1.5 us a row of two columns, 1 us each that is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from catalog.schema.join import place_of
from operators.timeline import Timeline
from overlay.answers.shape_table import ShapeEntry
from overlay.delivery.row_text import RowColumn
from overlay.maintain.join_fast_rows import RowChanges, Rows
from overlay.table.slot_filters import U64
from state.change_batch import I64
from state.row_digest import hashes


class Moved(NamedTuple):
    """By how much each that is told changes a bag: its count, and the lanes of its digest."""

    count: I64
    low: U64
    high: U64


class Told(NamedTuple):
    """Each that is told: which rows went and came, as texts, sorted, and what it does to a bag."""

    removed: list[list[str]]
    added: list[list[str]]
    moved: Moved


def told(timeline: Timeline, changes: RowChanges, lists: Sequence[ShapeEntry], digest_key: bytes) -> Told:
    """Write what row changes tell; `lists`: a shape that shows each SELECT list."""
    rows, of_list = changes.rows, changes.lists[changes.rows.owner]
    names = np.empty(len(rows), np.int64)
    texts, low, high = list[str](), [np.zeros(0, np.uint64)], [np.zeros(0, np.uint64)]
    for number in np.unique(of_list).tolist():
        mine = (of_list == number).nonzero()[0]
        columns, place = _columns(timeline, rows.of(mine), lists[number])
        names[mine] = place + len(texts)
        texts += lists[number].rows.texts(columns)
        codes, known = [column.codes for column in columns], [column.known for column in columns]
        lanes = hashes(digest_key, codes, known, [column.texts for column in columns])
        low.append(lanes[0])
        high.append(lanes[1])
    moved = _moved(rows, len(changes.lists), np.concatenate(low)[names], np.concatenate(high)[names])
    return Told(*_sides(rows, len(changes.lists), names, texts), moved)


def _columns(timeline: Timeline, rows: Rows, entry: ShapeEntry) -> tuple[list[RowColumn], I64]:
    """Return the different ones of rows in the columns that a shape shows, and the place of each row among them."""
    width = len(timeline.rows[1].born)
    names, place = np.unique(rows.versions[0] * width + rows.versions[1], return_inverse=True)
    versions = np.divmod(names, width)
    columns = []
    for position, name in map(place_of, entry.shown_list):
        column, which = timeline.rows[position].columns[name], versions[position]
        columns.append(RowColumn(column.codes[which], column.known[which], column.texts))
    return columns, place


def _moved(rows: Rows, many: int, low: U64, high: U64) -> Moved:
    sign = np.where(rows.came, 1, -1)
    order = np.argsort(rows.owner, kind="stable")
    starts = np.searchsorted(rows.owner[order], np.arange(many))
    count, *lanes = (
        np.add.reduceat(column[order], starts) if many else column[:0]
        for column in (sign, low * sign.view(np.uint64), high * sign.view(np.uint64))
    )
    return Moved(count, lanes[0], lanes[1])


def _sides(rows: Rows, many: int, names: I64, texts: Sequence[str]) -> tuple[list[list[str]], list[list[str]]]:
    """Return which rows went and which came, of each that is told."""
    sides = 2 * rows.owner + rows.came
    order = np.argsort(sides, kind="stable")
    flat = [texts[name] for name in names[order].tolist()]
    ends = np.searchsorted(sides[order], np.arange(2 * many + 1)).tolist()
    runs = [sorted(flat[start:end]) if end - start > 1 else flat[start:end] for start, end in pairwise(ends)]
    return runs[::2], runs[1::2]
