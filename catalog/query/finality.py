"""When an answer becomes final: the end of the last window of event time that a question is about.

    SELECT MAX(high) FROM hourly WHERE symbol = 'A' AND hour = TIMESTAMP '2026-03-02 10:00:00'      11:00
    ...                          WHERE hour < TIMESTAMP '2026-03-02 12:30:00'                       13:00
    ...                          WHERE hour >= TIMESTAMP '2026-03-02 10:00:00'                      never

A row of a view of a stream is final when the view's horizon has reached the end of its window (`Relation.closing`). So
an answer is final when those of all rows are that can ever meet the condition: where it bounds the closing column from
above, in each of its boxes.
"""

from __future__ import annotations

import msgspec

from catalog.query.best_shape import BestShape
from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import decode_terms
from catalog.query.shape import Region, Shape
from catalog.query.value_set import ValueSet
from catalog.schema.stream import WINDOWS, Closing
from catalog.sql.errors import SubscriptionError
from catalog.sql.names import quoted
from catalog.types.column_type import ColumnType, Kind
from state.order_code import INT64_MAX

NEVER = INT64_MAX
"""Stands in columns of numbers for an answer that never becomes final."""
_LAST = ColumnType(Kind.TIMESTAMP).reach[1]


def final_at(closing: Closing | None, region: Region) -> int | None:
    """Return when an answer becomes final, in microseconds since 1970; None if it never does.

    `closing` is that of the region's relation. Nothing is said of a region that no row can ever meet. *Cost*: 0.1 us
    where there is no closing column, else 1 us and the size of a filter's terms.
    """
    shape = region.shape
    if closing is None or region.empty:
        return None
    if isinstance(shape, FilterShape):
        return end_of_terms(closing, shape, region.terms)
    if closing.column in shape.equal:
        return end_of_group(closing, shape, region.group)
    return end_of(closing, region.hi) if shape.range == closing.column else None


def end_of_group(closing: Closing, shape: Shape | BestShape, group: bytes) -> int | None:
    """Return when the window ends of which the rows of a group are, None where no row is of the group."""
    codes = msgspec.json.decode(group)
    return end_of(closing, codes[shape.equal.index(closing.column)]) if codes else None


def end_of_terms(closing: Closing, shape: FilterShape, terms: bytes) -> int | None:
    """Return when the last window ends that a filter is about, None where there is no last one, or none at all."""
    if closing.column not in shape.tested:
        return None
    place, last = shape.tested.index(closing.column), None
    for box in decode_terms(terms):
        if place not in box:
            return None
        end = _last_of(closing, box[place])
        if end == NEVER:
            return None
        last = end if last is None else max(last, end or last)
    return last


def end_of(closing: Closing, last: object) -> int | None:
    """Return when the window ends that `last` is in, None where no time is beyond that end.

    >>> end_of(Closing("hour", "hour"), 5_400_000_000), end_of(Closing("hour", "hour"), INT64_MAX)
    (7200000000, None)
    """
    assert isinstance(last, int), "windows are of a TIMESTAMP, which has order codes"
    size = WINDOWS[closing.unit]
    end = last - last % size + size
    return end if end <= _LAST else None


def _last_of(closing: Closing, values: ValueSet) -> int | None:
    """Return when the last window of a set ends; NEVER where there is none, None of NULL alone, which no row has."""
    if not values.intervals:
        return None
    end = end_of(closing, values.intervals[-1][1])
    return NEVER if end is None else end


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
        hint = "It takes questions about views that group a stream by DATE_TRUNC of its event time."
    elif region.empty:
        what, hint = "NOTIFY FINAL of an answer that never changes", "No row can meet this condition."
    else:
        name = quoted(closing.column)
        what = "NOTIFY FINAL of an answer that never becomes final"
        hint = f"Say which windows are the last: {name} = TIMESTAMP '...', or {name} <= TIMESTAMP '...'."
    raise SubscriptionError("unsupported", f"{what} is not supported", hint=hint)
