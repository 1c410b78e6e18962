"""Columns of a batch, finished: what the kernel left as spans of text becomes codes and texts, a column at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from catalog.schema.relation import Column
from catalog.types.column_type import ColumnType
from connectors.dead_letter import RecordFault
from connectors.json.byte_layout import ByteLayout
from connectors.json.kernel import ABSENT, CODE, CODED, SPAN, START, STATE, STOP, scan_records
from connectors.json.plan import JsonKind, Plan, kind_of
from connectors.json.scalar import read_scalar
from state.change_batch import I64, Bool
from state.nearest_float import nearest_double, nearest_real
from state.order_code import codes_of_doubles

F64 = npt.NDArray[np.float64]
_ROUNDED_BITS = 2**29 - 1
_MIDWAY = 2**28
_SMALLEST_NORMAL_REAL = 2.0**-126


@dataclass(slots=True)
class JsonColumns:
    """n records read by a plan of w columns. Where not `plain`, the record says nothing (the exact decoder must).

    codes, valid, present: [w, n].  plain, unknown: [n].  texts: text column -> its n texts, empty where NULL.
    """

    codes: I64
    valid: Bool
    present: Bool
    plain: Bool
    unknown: Bool
    texts: dict[int, ByteLayout]


def read_columns(layout: ByteLayout, which: I64, plan: Plan, columns: tuple[Column, ...], as_keys: bool) -> JsonColumns:
    """Read the records numbered `which` as rows or as keys. Cost: see `json_kernel`; 40 ns a text."""
    width = len(columns)
    out = np.zeros((4, width + 1, len(which)), np.int64)
    scan_records(layout.data, layout.offsets, which, plan.names, plan.fields, as_keys, out)
    state = out[STATE, :width]
    plain = out[CODE, width].astype(np.bool_)
    read = JsonColumns(out[CODE, :width], state >= CODED, state != ABSENT, plain, out[STATE, width] > 0, {})
    for c, column in enumerate(columns):
        _finish(read, c, column, layout, out)
    return read


def _finish(read: JsonColumns, c: int, column: Column, layout: ByteLayout, out: I64) -> None:
    kind = kind_of(column)
    starts, stops = out[START, c], out[STOP, c]
    spans = out[STATE, c] == SPAN
    if kind is JsonKind.TEXT:
        read.texts[c] = ByteLayout.unescaped(layout.data, starts, np.where(spans, stops, starts))
        if column.type.is_range:
            read.texts[c] = _ranges(read.plain, spans, column.type, read.texts[c])
    elif kind is JsonKind.WIDE:
        read.texts[c] = _wide_decimals(read.plain, spans, column.type, layout, starts, stops)
    elif kind in (JsonKind.DOUBLE, JsonKind.REAL):
        doubles = read.codes[c].view(np.float64)
        hard = np.flatnonzero(spans)
        if len(hard):
            doubles[hard] = nearest_doubles(ByteLayout.unescaped(layout.data, starts[hard], stops[hard]))
        if kind is JsonKind.REAL:
            _round_to_reals(doubles, layout, starts, stops)
        infinite = np.isinf(doubles)
        read.plain &= ~infinite
        read.codes[c] = codes_of_doubles(np.where(infinite, 0.0, doubles))


def nearest_doubles(numbers: ByteLayout) -> F64:
    """Return the double nearest to each of some JSON numbers, infinite beyond the largest. Cost: 40 ns each.

    Arrow's parser rounds as exactly as Python's; should a version of it refuse what is not finite, Python reads all.
    """
    texts = numbers.arrow_texts()
    try:
        return np.asarray(texts.cast(pa.float64()).to_numpy())
    except pa.ArrowInvalid:
        return np.array([nearest_double(text) for text in texts.to_pylist()])


def _round_to_reals(doubles: F64, layout: ByteLayout, starts: I64, stops: I64) -> None:
    """Round in place to 32 bits; what lies midway, below the normal range or beyond the largest is read as text."""
    with np.errstate(over="ignore"):
        reals = doubles.astype(np.float32).astype(np.float64)
    doubtful = (doubles.view(np.int64) & _ROUNDED_BITS) == _MIDWAY
    doubtful |= np.isinf(reals) | ((np.abs(doubles) < _SMALLEST_NORMAL_REAL) & (doubles != 0))
    for i in np.flatnonzero(doubtful & (stops > starts)).tolist():
        reals[i] = nearest_real(layout.data[starts[i] : stops[i]].tobytes().decode())
    doubles[:] = reals


def _ranges(plain: Bool, spans: Bool, column_type: ColumnType, layout: ByteLayout) -> ByteLayout:
    """Return ranges in the one form that equal ones share; what is none is left to the exact decoder."""
    made: dict[str | None, str | None] = {None: ""}
    texts = layout.texts(spans)
    for text in set(texts) - {None}:
        try:
            made[text] = str(read_scalar(column_type, text))
        except RecordFault:
            made[text] = None
    for i in [i for i, text in enumerate(texts) if made[text] is None]:
        plain[i] = False
    return ByteLayout.of([made[text] or "" for text in texts], text=True)


def _wide_decimals(
    plain: Bool, spans: Bool, column_type: ColumnType, layout: ByteLayout, starts: I64, stops: I64
) -> ByteLayout:
    texts: list[str] = [""] * len(spans)
    for i in np.flatnonzero(spans).tolist():
        try:
            text = layout.data[starts[i] : stops[i]].tobytes().decode()
            texts[i] = str(read_scalar(column_type, text))
        except RecordFault:
            plain[i] = False
    return ByteLayout.of(texts, text=True)
