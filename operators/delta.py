"""Messages of one channel as columns, before they get the names that the wire has for groups, texts and bounds."""

from __future__ import annotations

from dataclasses import dataclass

from operators.channel_binding import OrderingKey
from state.change_batch import I64, Bool


@dataclass(frozen=True, slots=True)
class Delta:
    """k messages, those of one cause in order. Columns as in `operators.operator.Messages`, but

    group: int64[k], numbers of groups in the layout of the ordering `order`.
    old, new: order codes, or dictionary numbers where the column has texts.
    box: int64[4, k], lo_min, lo_max, hi_min, hi_max; ranks where the range attribute has texts.
    """

    order: OrderingKey
    cause: I64
    group: I64
    rows: I64
    old: I64
    has_old: Bool
    new: I64
    has_new: Bool
    box: I64

    def __len__(self) -> int:
        return len(self.cause)
