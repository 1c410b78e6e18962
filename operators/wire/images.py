"""The record `images`, shard to edge: what row changes did to the columns that are needed, with seq and cause of each.

    seq rows new/i back/i null/i was/i [texts/i]   a row each row change; i: place of a column in the header's `needed`
    cause  topic partition offset several          wire/cause_table.py

`rows` is +1 (the row came: there is no old image), -1 (it went: there is no new one) or 0. Few columns change at once,
so old is told from new: `back` is old - new (modulo 2**64), and `null` says whether new is NULL, `was` whether old is
otherwise. Where there is no new image `new` and `null` are about the old one. Where there is no value, `new` and `back`
have what packs best. So a column that did not change costs what its values cost, and one that never changes nothing.

A value is an order code, or a place among the texts of its column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from catalog.query.channel import Channel
from operators.row_images import ImageColumn, Images
from operators.wire.cause_table import cause_columns, read_causes
from operators.wire.columns import Columns, int_width, text_list, write
from operators.wire.header import Header
from state.causes import Causes
from state.change_batch import I64, Bool
from state.order_code import INT64_MAX

_WIDEST = np.dtype(np.int64).itemsize
_FLAGS = ("null", "was")


@dataclass(slots=True)
class PackedImages:
    """`Images` as an edge reads them: with the header, each change's seq and its causing row's position.

    cause: number of the cause, ascending.  rows: +1, -1 or 0.  columns: by name, in the order of the header's `needed`.
    several: bool[changes], whether the cause is one that changed several rows; None where no cause did.
    topic: place of the cause's topic in the header's `topics`; None where there are not several. Images of joined rows,
    which an edge makes itself, have it always.
    """

    header: Header
    seq: I64
    partition: I64
    offset: I64
    cause: I64
    several: Bool | None
    rows: I64
    columns: dict[str, ImageColumn]
    topic: I64 | None = None

    def __len__(self) -> int:
        return len(self.seq)


def pack_images(
    header: Header, channel: Channel, images: Images, seq: I64, causes: Causes, several: Bool | None = None
) -> bytes:
    """Return one record of `images`, whose `cause` ascends and has numbers of `causes`; `seq` has one entry each.

    several: bool[causes], those that changed several rows (None: none). The header's `channels`, `needed` and `topics`
    are filled in here. Cost: 0.2 ms a record; for each change and column that it has 8 ns.
    """
    named, steps = cause_columns(images.cause, causes, several)
    steps_of_seq = seq - np.arange(len(seq))  # all alike where no number is left out
    numbers: dict[str, npt.NDArray[Any] | int] = {"seq": steps_of_seq, "rows": images.rows, **named}
    others: dict[str, Any] = {}
    for place, column in enumerate(images.columns.values()):
        numbers |= _packed(place, images.rows, column)
        if column.texts is not None:
            others[f"texts/{place}"] = text_list(column.texts, len(seq))
    header = msgspec.structs.replace(header, channels=[channel], needed=[list(images.columns)], topics=causes.topics)
    return write(header, numbers, others, steps)


def width_of(column: ImageColumn) -> int:
    """Return at most how many bytes each change takes of a column, without its texts. Cost: O(changes)."""
    known = np.concatenate([column.old[column.old_known], column.new[column.new_known]])
    if not len(known):
        return len(_FLAGS)
    value = int_width(known)
    return len(_FLAGS) + value + min(2 * value, _WIDEST)


def read_images(header: Header, columns: Columns) -> PackedImages:
    """Read a record. Raises ValueError, KeyError where its columns do not fit together."""
    header.check_chunk()
    if len(header.channels) != 1 or len(header.needed) != 1 or len(set(header.needed[0])) < len(header.needed[0]):
        raise ValueError(f"columns {header.needed} of {len(header.channels)} channels, expected those of one")
    rows = columns.ints("rows")
    if len(rows) and not -1 <= rows.min() <= rows.max() <= 1:
        raise ValueError("the column `rows` has something else than -1, 0 and 1")
    cause, partition, offset, several, topic = read_causes(header, columns)
    changes = _Changes.of(rows)
    read = {name: _read(place, changes, columns) for place, name in enumerate(header.needed[0])}
    seq = columns.ints("seq") + np.arange(columns.layout.rows)
    return PackedImages(header, seq, partition, offset, cause, several, rows, read, topic)


def _packed(place: int, rows: I64, column: ImageColumn) -> dict[str, npt.NDArray[Any] | int]:
    """Return the columns of integers that a column of images becomes."""
    old, new, old_known, new_known = column.old, column.new, column.old_known, column.new_known
    names = [f"{name}/{place}" for name in ("new", "back", *_FLAGS)]
    if old_known.all() and new_known.all():
        return dict(zip(names, (new, old - new, 0, 0), strict=True))
    least = min(int(old.min(where=old_known, initial=INT64_MAX)), int(new.min(where=new_known, initial=INT64_MAX)))
    shown = np.where(new_known, new, np.where(old_known, old, least))
    old_null = (rows <= 0) & ~old_known
    null = np.where(rows < 0, old_null, ~new_known)
    was = (rows <= 0) & (old_null != null)
    packed = shown, np.where(old_known, old - shown, 0), null.astype(np.int64), was.astype(np.int64)
    return dict(zip(names, packed, strict=True))


@dataclass(frozen=True, slots=True)
class _Changes:
    """Which row changes have an old and a new image."""

    had: Bool
    has: Bool
    both: bool

    @classmethod
    def of(cls, rows: I64) -> _Changes:
        return cls(rows <= 0, rows >= 0, not rows.any())


def _read(place: int, changes: _Changes, columns: Columns) -> ImageColumn:
    """Return a column of images: what `_packed` made of it. Raises ValueError for a text that is not there."""
    shown, back = columns.ints(f"new/{place}"), columns.ints(f"back/{place}")
    old_known, new_known, whole = changes.had, changes.has, changes.both
    if not all(columns.is_zero(f"{name}/{place}") for name in _FLAGS):
        null, was = (columns.ints(f"{name}/{place}") != 0 for name in _FLAGS)
        old_null = null != was
        old_known, new_known, whole = old_known & ~old_null, new_known & ~null, False
    old, new = shown + back, shown
    if not whole:
        old, new = np.where(old_known, old, 0), np.where(new_known, new, 0)
    texts = columns.texts(f"texts/{place}")
    if texts is not None:
        for values in (old, new):
            if len(values) and not 0 <= values.min() <= values.max() < max(len(texts), 1):
                raise ValueError(f"column {place} names a text beyond the {len(texts)} that there are")
    return ImageColumn(old, old_known, new, new_known, texts)
