"""The constants of a filter as bytes: its WHERE as boxes, of which a row has to be in one.

    WHERE (volume > 5 OR volume IS NULL) AND symbol IN ('a', 'b')  OR  symbol = 'c'       tested: symbol, volume

    [ [[0, [["a", "a\\0"], ["b", "b\\0"]], false], [1, [[6, 2**63 - 1]], true]],          a box: all of its columns
      [[0, [["c", "c\\0"]], false]] ]                                                     or this one

MessagePack: a list of boxes; a box is a list of [place of the column in the shape's `tested`, intervals, NULL too];
bounds are order codes, or order keys as bytes (`value_set.py`). Places ascend, boxes ascend by their bytes, so that
equal boxes give equal bytes. A box without columns holds every row; no box holds none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import msgspec

from catalog.query.value_set import ValueSet
from state.order_code import INT64_MAX, INT64_MIN

Box = dict[int, ValueSet]
"""The value set of each column that a box constrains, by its place in `tested`."""

MAX_BOXES = 64
MAX_INTERVALS = 1_000
"""Of one value set."""
MAX_COLUMNS = 32
"""Of one box."""

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[list[tuple[int, list[tuple[int | bytes, int | bytes]], bool]]]).decode


def encode_terms(boxes: Sequence[Box]) -> bytes:
    """Return the canonical bytes of boxes. Cost: 1-2 us for one box."""
    written = [[(place, *_fields(box[place])) for place in sorted(box)] for box in boxes]
    if len(written) > 1:
        written.sort(key=_encode)
    return _encode(written)


def box_of_intervals(columns: Iterable[tuple[int, int, int]]) -> bytes:
    """Return `encode_terms` of one box: of each column, whose places ascend, from one code to another. Cost: 1 us."""
    return _encode([[(place, ((lo, hi),), False) for place, lo, hi in columns]])


def decode_terms(terms: bytes) -> list[Box]:
    """Read what `encode_terms` wrote. Raises ValueError for anything that it does not write."""
    try:
        boxes = _decode(terms)
    except msgspec.MsgspecError as error:
        raise ValueError(f"terms of a filter cannot be read: {error}") from None
    if len(boxes) > MAX_BOXES:
        raise ValueError(f"a filter has {len(boxes)} boxes; at most {MAX_BOXES} are taken")
    return [_box(columns) for columns in boxes]


def _fields(values: ValueSet) -> tuple[Any, bool]:
    return values.intervals, values.null


def _box(columns: Sequence[tuple[int, list[Any], bool]]) -> Box:
    places = [place for place, _, _ in columns]
    if len(columns) > MAX_COLUMNS or any(place < 0 for place in places) or any(a >= b for a, b in pairwise(places)):
        raise ValueError(f"a box of a filter has the columns {places[:40]}: at most {MAX_COLUMNS}, in ascending order")
    return {place: _values(intervals, null) for place, intervals, null in columns}


def _values(intervals: list[Any], null: bool) -> ValueSet:
    if len(intervals) > MAX_INTERVALS or not (intervals or null):
        raise ValueError(f"a value set of a filter has {len(intervals)} intervals, not 1 to {MAX_INTERVALS}")
    if len({type(bound) for interval in intervals for bound in interval}) > 1:
        raise ValueError("a value set of a filter has order codes beside order keys")
    step = int(bool(intervals) and isinstance(intervals[0][0], int))
    if step and not (intervals[0][0] >= INT64_MIN and intervals[-1][1] <= INT64_MAX):
        raise ValueError("a value set of a filter reaches beyond the order codes")
    ascending = all(lo <= hi if step else lo < hi for lo, hi in intervals)
    apart = all(hi + step < lo if step else hi < lo for (_, hi), (lo, _) in pairwise(intervals))
    if not (ascending and apart):
        raise ValueError("the intervals of a value set of a filter do not ascend, or touch")
    return ValueSet(tuple(intervals), null)
