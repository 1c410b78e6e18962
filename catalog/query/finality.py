"""When an answer becomes final: the end of the last window of event time that a question is about.

    SELECT MAX(high) FROM hourly WHERE symbol = 'A' AND hour = TIMESTAMP '2026-03-02 10:00:00'      11:00
    ...                          WHERE hour < TIMESTAMP '2026-03-02 12:30:00'                       13:00
    ...                          WHERE hour >= TIMESTAMP '2026-03-02 10:00:00'                      never

A row of a view of a stream is final when the view's horizon has reached the end of its window (`Relation.closing`). So
an answer is final when those of all rows are that can ever meet the condition: where it bounds the closing column from
above, in each of its boxes.

Where rows go some time after their window has begun (`Closing.held`), that is so only if those of the first window are
there still when the last one ends: else the answer is about what is there, and never final. A final answer is thus made
of whole windows, and the same for all who were there in time. Who comes when rows of the first window may have gone
(`gone_at`) is told so, and gets none.
"""

from __future__ import annotations

from typing import Any

import msgspec

from catalog.query.best_shape import BestShape
from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import decode_terms
from catalog.query.shape import Region, Shape
from catalog.schema.stream import WINDOWS, Closing
from catalog.sql.errors import SubscriptionError
from catalog.sql.names import quoted
from catalog.types.column_type import ColumnType, Kind
from state.order_code import INT64_MAX

NEVER = INT64_MAX
"""Stands in columns of numbers for an answer that never becomes final."""
_LAST = ColumnType(Kind.TIMESTAMP).reach[1]
Windows = tuple[int, int]
"""When the first of several windows begins, and when the last one ends, in microseconds since 1970."""


def final_at(closing: Closing | None, region: Region) -> int | None:
    """Return when an answer becomes final, in microseconds since 1970; None if it never does.

    `closing` is that of the region's relation. Nothing is said of a region that no row can ever meet. *Cost*: 0.1 us
    where there is no closing column, else 1 us and the size of a filter's terms.
    """
    windows = None if closing is None else windows_of(closing, region)
    return None if windows is None else windows[1]


def gone_at(closing: Closing | None, region: Region) -> int | None:
    """Return the horizon from which on rows that a final answer is made of may have gone; None where none ever goes.

    *Cost*: as `final_at`.
    """
    if closing is None or closing.held is None:
        return None
    windows = windows_of(closing, region)
    return None if windows is None else windows[0] + closing.held


def windows_of(closing: Closing, region: Region) -> Windows | None:
    """Return the windows that an answer is about, None where it never becomes final. *Cost*: as `final_at`."""
    shape = region.shape
    if region.empty:
        return None
    if isinstance(shape, FilterShape):
        return windows_of_terms(closing, shape, region.terms)
    if closing.column in shape.equal:
        return windows_of_group(closing, shape, region.group)
    return windows_between(closing, region.lo, region.hi) if shape.range == closing.column else None


def windows_of_group(closing: Closing, shape: Shape | BestShape, group: bytes) -> Windows | None:
    """Return the window of which the rows of a group are, None where no row is of the group."""
    codes = msgspec.json.decode(group)
    if not codes:
        return None
    code = codes[shape.equal.index(closing.column)]
    return windows_between(closing, code, code)


def windows_of_terms(closing: Closing, shape: FilterShape, terms: bytes) -> Windows | None:
    """Return the windows that a filter is about, None where there is no last one, none at all, or some go too early."""
    if closing.column not in shape.tested:
        return None
    place, met = shape.tested.index(closing.column), list[tuple[Any, Any]]()
    for box in decode_terms(terms):
        if place not in box:
            return None
        met += box[place].intervals  # NULL is met by no row
    if not met:
        return None
    return windows_between(closing, min(lo for lo, _ in met), max(hi for _, hi in met))


def windows_between(closing: Closing, first: object, last: object) -> Windows | None:
    """Return the windows from the one that `first` is in to that of `last`.

    None where no time is beyond the end, or where rows of the first one go before the last one ends.

    >>> windows_between(Closing("hour", "hour"), 0, 5_400_000_000)
    (0, 7200000000)
    >>> windows_between(Closing("hour", "hour", 7_199_999_999), 0, 5_400_000_000)
    """
    assert isinstance(first, int), "windows are of a TIMESTAMP, which has order codes"
    start, end = first - first % WINDOWS[closing.unit], end_of(closing, last)
    if end is None or (closing.held is not None and start + closing.held < end):
        return None
    return start, end


def end_of(closing: Closing, last: object) -> int | None:
    """Return when the window ends that `last` is in, None where no time is beyond that end.

    >>> end_of(Closing("hour", "hour"), 5_400_000_000), end_of(Closing("hour", "hour"), INT64_MAX)
    (7200000000, None)
    """
    assert isinstance(last, int), "windows are of a TIMESTAMP, which has order codes"
    size = WINDOWS[closing.unit]
    end = last - last % size + size
    return end if end <= _LAST else None


def check_final(closing: Closing | None, region: Region, end: int | None, snapshot: bool) -> None:
    """Raise SubscriptionError, `unsupported`, where NOTIFY FINAL is asked of an answer that never becomes final.

    Likewise without `snapshot`, which leaves out rows that the final answer has. `end` is when it becomes final.
    """
    if not snapshot:
        hint = "Leave SNAPSHOT NONE out: the final answer has all rows."
        raise SubscriptionError("unsupported", "NOTIFY FINAL with SNAPSHOT NONE is not supported", hint=hint)
    if end is not None:
        return
    if closing is None:
        what = "NOTIFY FINAL of a question about rows that never become final"
        views = "views that group streams by DATE_TRUNC of their event time"
        hint = f"It takes questions about {views}: of no table beside them, and of several streams only without 'keep'."
    elif region.empty:
        what, hint = "NOTIFY FINAL of an answer that never changes", "No row can meet this condition."
    else:
        name = quoted(closing.column)
        what = "NOTIFY FINAL of an answer that never becomes final"
        hint = f"Say which windows are the last: {name} = TIMESTAMP '...', or {name} <= TIMESTAMP '...'."
        if closing.held is not None:
            hint = (
                f"Say which windows it is about, of which the first one is kept until the last one ends: {name} = "
                f"TIMESTAMP '...', or {name} BETWEEN TIMESTAMP '...' AND TIMESTAMP '...'."
            )
    raise SubscriptionError("unsupported", f"{what} is not supported", hint=hint)
