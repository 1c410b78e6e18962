"""The record `best`, shard to edge: messages about first rows, with seq and cause, and the row images that they name.

    seq channel group kind lo_min lo_max hi_min hi_max base lefts rights cands old new    a row each message
    cause topic partition offset several                                                 wire/cause_table.py
    bounds                            a row each bound: those of the first message, then those of the next
    cand_x cand                       a row each candidate, likewise
    value/i null/i [texts/i]          a row each image; i: place of a column in the header's `needed`
    [texts]                           what bounds name where the range attribute has no order codes

Each table has as many rows as the longest of them, and those behind its own mean nothing (operators/wire/columns.py);
the header's `count` says how many messages there are, and these say the rest. Every image of a row stands once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from operators.best_messages import BestMessages, ImageValues
from operators.wire.cause_table import cause_columns, read_causes
from operators.wire.columns import MAX_ROWS, Columns, dictionary, filled, text_list, write
from operators.wire.header import Header
from operators.wire.messages import read_rectangles, rectangle_columns
from state.best_tree import STAY
from state.causes import Causes
from state.change_batch import I64, Bool

_PLAIN = ("channel", "kind", "base", "lefts", "rights", "cands", "old", "new")


@dataclass(slots=True)
class PackedBest:
    """`BestMessages` as an edge reads them: with the header, each message's seq and its causing row's position.

    several: bool[messages], whether the cause is one that changed several rows; None where no cause did.
    topic: place of the cause's topic in the header's `topics`; None where there are not several.
    """

    header: Header
    seq: I64
    partition: I64
    offset: I64
    messages: BestMessages
    several: Bool | None = None
    topic: I64 | None = None

    def __len__(self) -> int:
        return len(self.seq)


def pack_best(header: Header, messages: BestMessages, seq: I64, causes: Causes, several: Bool | None = None) -> bytes:
    """Return one record of `messages`, whose `cause` ascends and has numbers of `causes`; `seq` has one entry each.

    several: bool[causes], those that changed several rows (None: none). The header's `channels`, `needed`, `topics` and
    `count` are filled in here. Cost: O(messages, bounds, candidates and images).
    """
    count = len(seq)
    rows = max(count, len(messages.bounds), len(messages.cand), messages.image_count)
    named, steps = cause_columns(messages.cause, causes, several)
    heads = {
        "seq": seq - np.arange(count),
        **rectangle_columns(messages),
        **{name: getattr(messages, name) for name in _PLAIN},
        **named,
    }
    numbers = {**heads, "bounds": messages.bounds, "cand_x": messages.cand_x, "cand": messages.cand}
    others: dict[str, Any] = {"group": dictionary(filled(messages.group, rows), pa.array(messages.groups, pa.binary()))}
    for i, column in enumerate(messages.images.values()):
        numbers |= {f"value/{i}": column.values, f"null/{i}": (~column.known).astype(np.int64)}
        if column.texts is not None:
            others[f"texts/{i}"] = text_list(column.texts, rows)
    if messages.texts:
        others["texts"] = text_list(messages.texts, rows)
    header = msgspec.structs.replace(
        header, channels=messages.channels, needed=[list(messages.images)], topics=causes.topics, count=count
    )
    stepped = {name: filled(values, rows) for name, values in steps.items()}
    return write(header, numbers, others, stepped, rows)


def read_best(header: Header, columns: Columns) -> PackedBest:
    """Read a record. Raises ValueError, KeyError where its columns do not fit together."""
    header.check_chunk()
    count = header.count
    if len(header.needed) != 1 or len(set(header.needed[0])) < len(header.needed[0]):
        raise ValueError(f"columns {header.needed} of images, expected one list of them")
    if not 0 <= count <= columns.layout.rows:
        raise ValueError(f"{count} messages in {columns.layout.rows} rows")
    group, groups = columns.groups()
    heads: dict[str, Any] = {name: columns.ints(name)[:count] for name in _PLAIN}
    bounds, cands = _lengths(heads, columns.layout.rows)
    lists: dict[str, Any] = {"bounds": columns.ints("bounds")[:bounds], "cand_x": columns.ints("cand_x")[:cands]}
    cand = columns.ints("cand")[:cands]
    images = _images(heads["old"], heads["new"], cand, columns.layout.rows)
    heads["channel"] = columns.places("channel", len(header.channels))[:count].astype(np.int32)
    cause, partition, offset, several, topic = read_causes(header, columns)
    messages = BestMessages(
        channels=header.channels,
        groups=groups,
        cause=cause[:count].astype(np.int32),
        group=group[:count],
        cand=cand,
        texts=columns.texts() or [],
        images={name: _image(columns, i, images) for i, name in enumerate(header.needed[0])},
        **heads,
        **lists,
        **read_rectangles(columns, count),
    )
    seq = columns.ints("seq")[:count] + np.arange(count)
    some = None if several is None else several[:count]
    place = None if topic is None else topic[:count]
    return PackedBest(header, seq, partition[:count], offset[:count], messages, some, place)


def _lengths(heads: dict[str, I64], rows: int) -> tuple[int, int]:
    """Return how many bounds and candidates there are. Raises ValueError where messages are not sound."""
    kinds, counts = heads["kind"], [heads[name] for name in ("base", "lefts", "rights", "cands")]
    if len(kinds) and (kinds.min() < 0 or kinds.max() > STAY):
        raise ValueError("a message of no kind")
    if any(len(each) and not 0 <= each.min() <= each.max() <= MAX_ROWS for each in counts):
        raise ValueError("a message that counts less than none")
    bounds, cands = int(heads["lefts"].sum() + heads["rights"].sum()), int(heads["cands"].sum())
    if max(bounds, cands) > rows:
        raise ValueError(f"{bounds} bounds and {cands} candidates in {rows} rows")
    return bounds, cands


def _images(old: I64, new: I64, cand: I64, rows: int) -> int:
    """Return how many images there are. Raises ValueError where one is named that there is not."""
    for each, least in ((old, -1), (new, -1), (cand, 0)):
        if len(each) and not least <= each.min() <= each.max() < rows:
            raise ValueError("a message names an image that there is not")
    return 1 + max((int(each.max()) for each in (old, new, cand) if len(each)), default=-1)


def _image(columns: Columns, place: int, count: int) -> ImageValues:
    """Return one column of the images."""
    values, known = columns.ints(f"value/{place}")[:count], columns.ints(f"null/{place}")[:count] == 0
    texts = columns.texts(f"texts/{place}")
    if texts is not None and len(values) and not 0 <= values.min() <= values.max() < max(len(texts), 1):
        raise ValueError(f"column {place} names a text beyond the {len(texts)} that there are")
    return ImageValues(np.where(known, values, 0), known, texts)
