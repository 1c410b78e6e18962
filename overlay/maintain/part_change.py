"""What a message does to the part of its channel, worked out once for all whom it meets.

channel              rows, value, units                            the part afterwards
min, max             None, new                                     value
rows                 +1 or -1                                      (count + rows, total)
values               +1, -1 or 0, the sum's change in units        (count + rows, total + units)
distinct             +1 or -1, the member that comes or goes       one member more or less
                     units: the same, for NULL 0                   counted: (count + rows, total + units)

An image of a row that enters a filter's answer, leaves it or is in before and after, does the same to the parts of a
sum: `rows` counts the rows that have a value, `units` is what that changes the sum by.
"""

from __future__ import annotations

from typing import NamedTuple

from catalog.query.channel import Channel
from catalog.types.column_type import ColumnType
from operators.exact_units import unit_of
from operators.operator import Messages
from overlay.answers.answer import Value
from state.filter_index import ENTERED, LEFT


class PartChange(NamedTuple):
    """See the module's header. `at` is the causing row as deliveries write it: equal for the messages of one cause."""

    at: str
    channel: Channel
    rows: int | None
    value: Value
    units: int


def part_change(messages: Messages, i: int, at: str, type_: ColumnType | None) -> PartChange:
    """Return what message i does; `type_` is that of its channel's column (None: it has none). Cost: 2 us."""
    channel, rows = messages.channels[int(messages.channel[i])], int(messages.rows[i])
    if channel.kind == "rows" or type_ is None:
        return PartChange(at, channel, rows, None, 0)
    old = _value(messages, int(messages.old[i]), bool(messages.has_old[i]), type_.coded)
    new = _value(messages, int(messages.new[i]), bool(messages.has_new[i]), type_.coded)
    if channel.kind == "values":
        came = 0 if new is None else unit_of(type_, new)
        return PartChange(at, channel, rows, None, came - (0 if old is None else unit_of(type_, old)))
    if channel.kind == "distinct":
        member = new if rows > 0 else old
        return PartChange(at, channel, rows, member, 0 if member is None else rows)
    return PartChange(at, channel, None, new, 0)


def image_change(old: Value, new: Value, kind: int, channel: Channel, at: str, type_: ColumnType | None) -> PartChange:
    """Return what a row change does to the part of `channel`, which counts, in answers that the row enters or leaves.

    old, new: the channel's column in either image, None where it is NULL. `kind` as in
    `overlay/subscriptions/filter_book.py`; `type_` is that of the column. Cost: 1 us.
    """
    went, came = kind != ENTERED, kind != LEFT
    if channel.column is None or type_ is None:
        return PartChange(at, channel, came - went, None, 0)
    before, after = old if went else None, new if came else None
    units = 0
    if channel.kind == "values":
        units = (0 if after is None else unit_of(type_, after)) - (0 if before is None else unit_of(type_, before))
    return PartChange(at, channel, (after is not None) - (before is not None), None, units)


def _value(messages: Messages, code: int, known: bool, coded: bool) -> Value:
    if not known:
        return None
    return code if coded else messages.texts[code]
