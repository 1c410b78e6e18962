"""Range DISTINCT: which values there are in a range, and which ranges a value has come into or gone from.

A value v is in a range exactly if the least of a constant over the rows that hold v is there: *presence* is a range MIN
whose y is 0 everywhere, of the shape that has v for one more equality column. Its Mar is the gap between the nearest
rows with the same v (design of range DISTINCT), and the A2B-tree finds it as it is:

    ordering (equal.., v; x)   rows of one v are a group      a message that says ABSENT: v has gone; that says 0: come
    ordering (equal..; x)      the same for the rows whose v is NULL, which belongs to the set as any value does

A change that moves x and v at once is a deletion in one group and an insertion in another, so a subscription hears at
most that one value went and another came. Where v is compared with a constant, or is the range attribute itself, its
rows are together already and never NULL.

COUNT(DISTINCT v) hears the same messages; of its snapshot only the numbers are told.

Cost: as MIN. A snapshot looks at the run of every value of the group: O(d log n) a region, d distinct values in the
group, 80 ns each.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from operators.answer import Members, Part, Tally
from operators.batch_view import BatchView, Places
from operators.channel_binding import ChannelBinding, OrderingKey
from operators.channel_kind import RangeKind, of_a_column
from operators.delta import Delta
from operators.range_extremum import run_tree
from state.change_batch import I64, Bool
from state.minima import ABSENT


def find(view: BatchView, bound: ChannelBinding) -> Iterator[Delta]:
    """Yield the messages of the view's changes: those about values, then those about NULL."""
    replay = view.replay
    values_by = bound.orderings[0]
    layout = view.layout(values_by)
    found = run_tree(layout, np.where(layout.slot >= 0, 0, ABSENT), replay)
    values = replay.codes[bound.column][layout.version[layout.starts[found[1]]]]
    yield _found(values_by, found, values, np.ones(len(values), np.bool_))
    if _has_nulls(bound):
        layout = view.layout(bound.order)
        null = (layout.slot >= 0) & ~replay.valid[bound.column]
        found = run_tree(layout, np.where(null, 0, ABSENT), replay)
        yield _found(bound.order, found, np.zeros(found.shape[1], np.int64), np.zeros(found.shape[1], np.bool_))


def parts(view: BatchView, bound: ChannelBinding, places: Places) -> list[Part]:
    """Return the values in each place. `view` must be still. Cost: see the module's header."""
    values = _values(view, bound, places)
    null = _nulls(view, bound, places).tolist()
    return [Members((None, *held) if nulls else held) for held, nulls in zip(values, null, strict=True)]


def tallies(view: BatchView, bound: ChannelBinding, places: Places) -> list[Part]:
    """Return how many values there are in each place, and as total how many of them are not NULL.

    `view` must be still. Cost: see the module's header; no value is looked at.
    """
    layout = view.layout(bound.orderings[0])
    firsts, stops = view.bundles(bound.orderings[0], len(bound.order[0]), places.groups)
    known = layout.count_present(firsts[places.group], stops[places.group], places.lo, places.hi)
    counts = known + _nulls(view, bound, places)
    return [Tally.of(count, total) for count, total in zip(counts.tolist(), known.tolist(), strict=True)]


def _orderings(column: int | None, order: OrderingKey) -> tuple[OrderingKey, ...]:
    """Return the ordering in which every value is a group of its own, and behind it that of the rows without one.

    The latter only where such rows can meet a subscription: not where a condition is about the column.
    """
    equal, range_ = order
    if column is None or column in equal:
        return (order,)
    values_by = ((*equal, column), range_)
    return (values_by,) if column == range_ else (values_by, order)


def _has_nulls(bound: ChannelBinding) -> bool:
    """Whether a row of a subscription can have NULL in the column."""
    return len(bound.orderings) > 1


def _found(order: OrderingKey, found: I64, values: I64, known: Bool) -> Delta:
    come = found[2] != ABSENT
    old, new = np.where(come, 0, values), np.where(come, values, 0)
    return Delta(order, found[0], found[1], np.where(come, 1, -1), old, ~come & known, new, come & known, found[3:])


def _values(view: BatchView, bound: ChannelBinding, places: Places) -> list[tuple[int | str, ...]]:
    """Return the values that are not NULL in each place, in the order of their codes (numbers of texts)."""
    assert bound.column is not None
    layout = view.layout(bound.orderings[0])
    firsts, stops = view.bundles(bound.orderings[0], len(bound.order[0]), places.groups)
    first, stop = firsts[places.group], stops[places.group]
    count, present = layout.present(first, stop, places.lo, places.hi)
    codes = view.replay.codes[bound.column][layout.version[layout.starts[present]]]
    if bound.text:
        numbers, which = np.unique(codes, return_inverse=True)
        texts = view.rows.texts_of(bound.column, numbers)
        flat: list[int | str] = [texts[i] for i in which.tolist()]
    else:
        flat = codes.tolist()
    ends = np.cumsum(count).tolist()
    return [tuple(flat[begin:end]) for begin, end in zip([0, *ends], ends, strict=False)]


def _nulls(view: BatchView, bound: ChannelBinding, places: Places) -> Bool:
    """Return whether a row of each place has NULL in the column."""
    if not _has_nulls(bound):
        return np.zeros(len(places), np.bool_)
    layout = view.layout(bound.order)
    sums = np.append(0, np.cumsum(~view.replay.valid[bound.column][layout.version]))
    first, stop = layout.spans(view.seek(bound.order, places.groups)[places.group], places.lo, places.hi)
    return sums[stop] > sums[first]


KIND = RangeKind(lacks=of_a_column, orderings=_orderings, find=find, nothing=Members(), parts=parts, unbounded=True)
COUNTED = RangeKind(lacks=of_a_column, orderings=_orderings, find=find, nothing=Tally(), parts=tallies)
"""The same channel, where a shape asks how many values there are."""
