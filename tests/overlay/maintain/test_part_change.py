"""What messages do to parts."""

from __future__ import annotations

import numpy as np
import pytest

from catalog.query.channel import channel_of
from catalog.types.column_type import ColumnType, Kind
from operators.operator import Messages
from overlay.maintain.part_change import part_change

BIGINT, WIDE, TEXT = ColumnType(Kind.BIGINT), ColumnType(Kind.DECIMAL, 30, 2), ColumnType(Kind.VARCHAR)


def one(kind: str, rows: int, old: int | None, new: int | None, type_: ColumnType | None) -> tuple:
    channel = channel_of("t", kind, None if type_ is None else "v", (), None)
    ints, zero = lambda value: np.array([value or 0], np.int64), np.zeros(1, np.int32)
    flag, nothing = lambda value: np.array([value is not None]), np.zeros(1, np.int64)
    messages = Messages(
        [channel], [b"[]"], zero, zero, zero, ints(rows), ints(old), flag(old), ints(new), flag(new),
        nothing, nothing, nothing, nothing, texts=["-1.50", "2.00"],
    )  # fmt: skip
    made = part_change(messages, 0, "at", type_)
    assert (made.at, made.channel) == ("at", channel)
    return made[2:]


@pytest.mark.parametrize(
    ("kind", "rows", "old", "new", "type_", "does"),
    [
        ("min", 0, None, 7, BIGINT, (None, 7, 0)),
        ("max", 0, None, None, BIGINT, (None, None, 0)),
        ("max", 0, None, 1, TEXT, (None, "2.00", 0)),
        ("rows", -1, None, None, None, (-1, None, 0)),
        ("rows", 1, None, None, TEXT, (1, None, 0)),
        ("values", 1, None, 5, BIGINT, (1, None, 5)),
        ("values", -1, 5, None, BIGINT, (-1, None, -5)),
        ("values", 0, 0, 1, WIDE, (0, None, 350)),
        ("values", 0, -(2**63), 2**63 - 1, BIGINT, (0, None, 2**64 - 1)),
        ("distinct", 1, None, 0, TEXT, (1, "-1.50", 1)),
        ("distinct", -1, 5, None, BIGINT, (-1, 5, -1)),
        ("distinct", -1, None, None, BIGINT, (-1, None, 0)),
    ],
)
def test_instructions(
    kind: str, rows: int, old: int | None, new: int | None, type_: ColumnType | None, does: tuple
) -> None:
    assert one(kind, rows, old, new, type_) == does
