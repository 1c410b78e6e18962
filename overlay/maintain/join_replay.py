"""A timeline replayed, join by join: what each of its changes did to joined rows, as images of these.

    change 4    quote 7 is 10.50 no more, but 10.75       with it stand      filing 3       0     (10.50, 10.75)
                and joins filings 3 and 8 as before                          filing 8       0
    change 5    filing 8 goes                             quotes 7 and 9    -1, -1

A change takes away the joined rows with the version that it found, of rows that were there just before it, and adds
those with the version that it left, of rows that are there just after. Where both join alike, they are one image. A
table that stands twice in a join changes at all its positions at once; so that a joined row which has the version
twice is told once, it is told at the first of them: the rows at earlier positions are other ones.

All joined rows of one cause are one change to whoever is told, so that images of it may follow one another in any
order, and in several pieces: that bounds what is held, whatever one key has.

Cost: 0.5 ms, laying the rows out (`maintain/join_rows.py`), 3 ns a partner that is looked at, 20 ns a joined row and
column; O(piece) memory beside the timeline.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from catalog.query.channel import ImageChannel
from catalog.schema.join import Join, Place, place_of
from operators.packed import Header, PackedImages
from operators.row_images import ImageColumn
from operators.timeline import SentColumn, Timeline
from overlay.maintain.join_kernels import BOTH, NEW, OLD, POSITION, SIDE
from overlay.maintain.join_rows import JoinRows, classes_at, places
from state.change_batch import I64, Bool

PIECE = 65_536
"""Images at a time: what they hold in memory grows with them times the columns."""


@dataclass(frozen=True, slots=True)
class _Roots:
    """Sides of changes at the positions of a join, in causal order.

    table: int64[4, roots], as the kernels take them.  change: index of each's change.  after: the version that came
    beside the one that went, where a root has both.
    """

    table: I64
    change: I64
    after: I64


def lacking(join: Join, needed: Sequence[str], timeline: Timeline) -> list[str]:
    """Return what a timeline ought to tell of a join and does not: columns, or how rows join.

    One that says nothing of the join, whose rows may all be there for others, lacks nothing.
    """
    if not _says(join, timeline):
        return []
    place = places(join, timeline)
    by = [(group, position) for position in range(len(place)) for group in classes_at(join, position)]
    unsaid = [one for one in by if (join.name, *one) not in timeline.rows[place[one[1]]].keys]
    columns = [(name, place_of(name)) for name in needed]
    missing = [name for name, (position, column) in columns if column not in timeline.rows[place[position]].columns]
    return [*missing, *(f"class {group} of {position}" for group, position in unsaid)]


def images(
    join: Join, needed: Sequence[str], timeline: Timeline, header: Header, piece: int = PIECE
) -> Iterator[PackedImages]:
    """Yield what changes did to the columns `needed` of joined rows, no more than `piece` of them at a time.

    `header` is that of the records that the timeline came in, which lacks nothing (`lacking`).
    """
    if not _says(join, timeline):
        return
    rows = JoinRows.of(join, timeline)
    wanted = [(name, place_of(name)) for name in needed]
    roots = _roots(rows, timeline, [place for _, place in wanted])
    counts = rows.counts(roots.table)
    ends = np.cumsum(counts)
    several = _several(timeline.cause[roots.change], counts)
    header = msgspec.structs.replace(
        header, kind="images", channels=[ImageChannel(join.name)], needed=[list(needed)], topics=timeline.topics
    )
    total = int(ends[-1]) if len(ends) else 0
    for start in range(0, total, piece):
        first = int(np.searchsorted(ends, start, "right"))
        skip = start - int(ends[first] - counts[first])
        versions, root = rows.joined(roots.table, counts, first, skip, min(piece, total - start))
        columns = {name: _column(rows, roots, timeline, place, versions, root) for name, place in wanted}
        yield _packed(header, timeline, roots, root, several, columns)


def _says(join: Join, timeline: Timeline) -> bool:
    """Whether some row may be there for a join: each of its tables has rows, and of some it is said how they join."""
    if not {*join.tables} <= {rows.table for rows in timeline.rows}:
        return False
    mine = [timeline.rows[table] for table in places(join, timeline)]
    return all(map(len, mine)) and any(name == join.name for rows in mine for name, _, _ in rows.keys)


def _roots(rows: JoinRows, timeline: Timeline, needed: Sequence[Place]) -> _Roots:
    """Return the sides of changes that may have joined rows, at each position."""
    found = [_roots_at(rows, timeline, needed, position) for position in range(len(rows.join.tables))]
    table = np.concatenate([one.table for one in found], axis=1)
    change = np.concatenate([one.change for one in found])
    after = np.concatenate([one.after for one in found])
    order = np.argsort(change, kind="stable")
    return _Roots(np.take(table, order, axis=1), change[order], after[order])


def _roots_at(rows: JoinRows, timeline: Timeline, needed: Sequence[Place], position: int) -> _Roots:
    mine = (timeline.table == rows.place[position]).nonzero()[0]
    went, came = (_versions(rows, found[mine], position) for found in (timeline.before, timeline.after))
    both = (went >= 0) & (came >= 0)
    if rows.join.tables.count(rows.join.tables[position]) > 1:
        both[:] = False
    alike = both & _join_alike(rows, went, came, position)
    moved = alike & _differ(rows, timeline, needed, went, came, position)
    olds, news = ((there >= 0) & ~alike for there in (went, came))
    sides = ((OLD, went, olds), (NEW, came, news), (BOTH, went, moved))
    change = np.concatenate([mine[which] for _, _, which in sides])
    version = np.concatenate([there[which] for _, there, which in sides])
    side = np.repeat([side for side, _, _ in sides], [np.count_nonzero(which) for _, _, which in sides])
    after = np.full(len(change), -1, np.int64)
    after[side == BOTH] = came[moved]
    table = np.stack([np.full(len(change), position), version, timeline.number[change], side])
    return _Roots(table.astype(np.int64), change, after)


def _versions(rows: JoinRows, found: I64, position: int) -> I64:
    """Return versions of the table at a position by their numbers here, -1 for those that can join nothing."""
    there = np.where(found >= 0, found + rows.base[position], -1)
    valid = np.append(rows.valid[position], False)
    return np.where(valid[there], there, -1)


def _join_alike(rows: JoinRows, went: I64, came: I64, position: int) -> Bool:
    """Return whether pairs of versions join the same rows; means nothing where one is -1."""
    alike = np.ones(len(went), np.bool_)
    for group in classes_at(rows.join, position):
        key = rows.key_of(group, position)
        alike &= key[went] == key[came]
    return alike


def _differ(
    rows: JoinRows, timeline: Timeline, needed: Sequence[Place], went: I64, came: I64, position: int
) -> Bool:  # fmt: skip
    """Return whether pairs of versions differ in a needed column; means nothing where one is -1."""
    differ = np.zeros(len(went), np.bool_)
    if not len(went):
        return differ
    old, new = (np.maximum(versions - rows.base[position], 0) for versions in (went, came))
    sent = timeline.rows[rows.place[position]].columns
    for place, name in needed:
        if place == position:
            column = sent[name]
            differ |= (column.codes[old] != column.codes[new]) | (column.known[old] != column.known[new])
    return differ


def _several(cause: I64, counts: I64) -> Bool | None:
    """Return which roots are of a cause that has more than one joined row; None where there is none."""
    if not len(cause):
        return None
    starts = np.flatnonzero(np.append(True, cause[1:] != cause[:-1]))
    more = np.add.reduceat(counts, starts) > 1
    return np.repeat(more, np.diff(np.append(starts, len(cause)))) if more.any() else None


def _column(
    rows: JoinRows, roots: _Roots, timeline: Timeline, place: Place, versions: I64, root: I64
) -> ImageColumn:  # fmt: skip
    """Return one column of joined rows, before and after."""
    position, name = place
    column = timeline.rows[rows.place[position]].columns[name]
    side = roots.table[SIDE, root]
    there = versions[position] - rows.base[position]
    moved = ((side == BOTH) & (roots.table[POSITION, root] == position)).nonzero()[0]
    then = there
    if len(moved):
        then = there.copy()
        then[moved] = roots.after[root[moved]] - rows.base[position]
    made = ImageColumn(*_side(column, there, side != NEW), *_side(column, then, side != OLD), column.texts)
    return made.take(slice(None)) if column.texts is not None and len(column.texts) > len(root) else made


def _side(column: SentColumn, versions: I64, there: Bool) -> tuple[I64, Bool]:
    known = column.known[versions] & there
    return np.where(known, column.codes[versions], 0), known


def _packed(
    header: Header, timeline: Timeline, roots: _Roots, root: I64, several: Bool | None, columns: dict[str, ImageColumn]
) -> PackedImages:
    change, side = roots.change[root], roots.table[SIDE, root]
    mine = None if several is None else several[root]
    return PackedImages(
        header,
        timeline.seq[change],
        timeline.partition[change],
        timeline.offset[change],
        timeline.cause[change],
        mine if mine is not None and mine.any() else None,
        (side == NEW).astype(np.int64) - (side == OLD),
        columns,
        timeline.topic[change],
    )
