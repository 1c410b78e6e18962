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

from collections.abc import Mapping
from typing import NamedTuple

from catalog.query.channel import Channel
from catalog.types.column_type import ColumnType
from operators.exact_units import unit_of
from operators.operator import Messages
from operators.row_images import ImageColumn
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


def image_change(
    columns: Mapping[str, ImageColumn], i: int, kind: int, channel: Channel, at: str, type_: ColumnType | None
) -> PartChange:
    """Return what row change i does to the part of `channel`, which counts, in answers that the row enters or leaves.

    `kind` as in `overlay/subscriptions/filter_book.py`; `type_` is that of the channel's column. Cost: 2 us.
    """
    went, came = kind != ENTERED, kind != LEFT
    if channel.column is None or type_ is None:
        return PartChange(at, channel, came - went, None, 0)
    column = columns[channel.column]
    old = _image(column, i, False) if went else None
    new = _image(column, i, True) if came else None
    units = 0
    if channel.kind == "values":
        units = sum(sign * unit_of(type_, value) for sign, value in ((-1, old), (1, new)) if value is not None)
    return PartChange(at, channel, (new is not None) - (old is not None), None, units)


def _image(column: ImageColumn, i: int, new: bool) -> Value:
    values, known = (column.new, column.new_known) if new else (column.old, column.old_known)
    if not known[i]:
        return None
    texts = column.listed
    return int(values[i]) if texts is None else texts[int(values[i])]


def _value(messages: Messages, code: int, known: bool, coded: bool) -> Value:
    if not known:
        return None
    return code if coded else messages.texts[code]
