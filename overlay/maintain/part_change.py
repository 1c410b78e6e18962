"""What a message does to the part of its channel, worked out once for all whom it meets.

channel              rows, value, units                            the part afterwards
min, max             None, new                                     value
rows                 +1 or -1                                      (count + rows, total)
values               +1, -1 or 0, the sum's change in units        (count + rows, total + units)
distinct             +1 or -1, the member that comes or goes       one member more or less
                     units: the same, for NULL 0                   counted: (count + rows, total + units)
"""

from __future__ import annotations

from typing import NamedTuple

from catalog.query.channel import Channel
from catalog.types.column_type import ColumnType
from operators.exact_units import unit_of
from operators.operator import Messages
from overlay.answers.answer import Value


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


def _value(messages: Messages, code: int, known: bool, coded: bool) -> Value:
    if not known:
        return None
    return code if coded else messages.texts[code]
