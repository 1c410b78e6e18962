"""Deliveries of bags and lists, one of each kind; their bytes are kept in `row_deliveries.jsonl`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from overlay.delivery import ack
from overlay.delivery.bag_delivery import (
    BAG_ENDED,
    BAG_SAME,
    bag_change,
    bag_change_tail,
    bag_snapshot,
    bag_snapshot_none,
    bag_whole,
    bag_whole_look,
    rows_text,
)
from overlay.delivery.delivery import Position, change_head, changed, delivery, json_text, row_at, row_start
from overlay.delivery.list_delivery import LIST_SAME, list_change, list_ended, list_snapshot, list_whole
from overlay.delivery.long_delivery import added_in_parts

GOLDEN = Path(__file__).with_name("row_deliveries.jsonl")
PACKED = Path(__file__).with_name("row_deliveries.packed.bin")
_NAME, _SQL = '"a"', json_text("SELECT symbol, price FROM stock")
_AT = Position(1, 7).text
_ROW = row_at(row_start(Position(1, 8), '"stock"'), 3, 41)
_ROWS = ['["B","9.50"]', '["A","10.25"]', '["A","10.25"]']


def deliveries() -> list[bytes]:
    """Return the deliveries as they are made now."""
    head = change_head(_NAME, 5)

    def first(rows: Sequence[str]) -> bytes:
        return delivery(_NAME, "snapshot", 5, 1, bag_snapshot(rows), _AT, _SQL)

    bags = [
        first(_ROWS),
        delivery(_NAME, "snapshot", 5, 1, bag_snapshot([], (0,)), _AT, _SQL),
        delivery(_NAME, "snapshot", 5, 1, bag_snapshot_none(), _AT, _SQL),
        *added_in_parts(first, sorted(_ROWS), 1),
        changed(head, 2, bag_change(['["B","9.50"]'], ['["B","é"]', '["A",null]']), _ROW),
        f'{head},"n":2{bag_change_tail(rows_text([]), rows_text(_ROWS[:1]), _ROW, (0,))}'.encode(),
        changed(head, 3, bag_change(_ROWS, []), _AT, 4),
        delivery(_NAME, "resync", 5, 3, BAG_SAME, _AT),
        delivery(_NAME, "resync", 5, 4, bag_whole(_ROWS), _AT),
        delivery(_NAME, "resync", 5, 4, bag_whole_look(), _AT),
        delivery(_NAME, "ended", 5, 5, BAG_ENDED, _AT, reason="expired"),
    ]
    lists = [
        delivery(_NAME, "snapshot", 5, 1, list_snapshot(_ROWS), _AT, _SQL),
        changed(head, 2, list_change([(0, _ROWS[0]), (2, _ROWS[1])], [(1, _ROWS[0]), (0, "[null]")]), _ROW),
        delivery(_NAME, "resync", 5, 2, LIST_SAME, _AT),
        delivery(_NAME, "resync", 5, 3, list_whole(_ROWS), _AT),
        delivery(_NAME, "ended", 5, 4, list_ended(_ROWS), _AT, reason="expired"),
    ]
    acks = [ack.live(_NAME, 5, _AT, _SQL, ack.ending("[]", "O(1)", form)) for form in ("bag", "list")]
    return bags + lists + acks
