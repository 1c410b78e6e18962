"""Messages about first rows whose candidates do not fit into a record: they are continued in the next ones.

record 1   m1                                     whole   m1
record 2   m2: its bounds, first candidates               m2: all candidates, with the images of three records
record 3   more of m2
record 4   more of m2
record 5   m3                                             m3
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from operators.best_messages import HEADS, MORE, ImageValues
from operators.wire.best import PackedBest
from state.change_batch import I64

_PLAIN = tuple(name for name in HEADS if name not in ("group", "old", "new"))


def whole(records: Iterable[PackedBest]) -> list[PackedBest]:
    """Return the records of a batch in order, with those joined that hold pieces of one message.

    Cost: nothing where none is cut. Raises ValueError for a piece without the message that it belongs to.
    """
    runs: list[list[PackedBest]] = []
    for record in records:
        more = np.flatnonzero(record.messages.kind == MORE)
        if not len(more):
            runs.append([record])
        elif len(record) == 1 and runs and runs[-1][-1].seq.tolist() == record.seq.tolist():
            runs[-1].append(record)
        else:
            raise ValueError(f"more candidates of message {record.seq[more[0]]}, which is not there")
    return [run[0] if len(run) == 1 else _joined(run) for run in runs]


def joined(records: Sequence[PackedBest]) -> PackedBest:
    """Return records of whole messages, of the same shard, topics, channels and columns and without texts, as one.

    What they have in common is that of the first. Cost: O(messages, bounds, candidates and images).
    """
    parts = [record.messages for record in records]
    behind = np.cumsum([0, *(part.image_count for part in parts)]).tolist()
    groups: dict[bytes, int] = {}
    places = [np.array([groups.setdefault(group, len(groups)) for group in part.groups], np.int32) for part in parts]
    plain = (*_PLAIN, "bounds", "cand_x")
    columns: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in plain}
    for name in ("old", "new", "cand"):
        each = [(getattr(part, name), images) for part, images in zip(parts, behind, strict=False)]
        columns[name] = np.concatenate([np.where(named >= 0, named + images, named) for named, images in each])
    columns["group"] = np.concatenate([place[part.group] for place, part in zip(places, parts, strict=True)])
    images = {name: _images([part.images[name] for part in parts]) for name in parts[0].images}
    seq, partition, offset = (
        np.concatenate([getattr(record, name) for record in records]) for name in ("seq", "partition", "offset")
    )
    several = None
    if any(record.several is not None for record in records):
        none = [np.zeros(len(record), np.bool_) if record.several is None else record.several for record in records]
        several = np.concatenate(none)
    topics = [record.topic for record in records if record.topic is not None]
    messages = replace(parts[0], groups=[*groups], images=images, **columns)
    topic = np.concatenate(topics) if topics else None
    return PackedBest(records[0].header, seq, partition, offset, messages, several, topic)


def _joined(pieces: Sequence[PackedBest]) -> PackedBest:
    """Return the pieces of one message as one; all of them have its texts."""
    parts = [piece.messages for piece in pieces]
    behind = np.cumsum([0, *(part.image_count for part in parts)]).tolist()
    cand: I64 = np.concatenate([part.cand + images for part, images in zip(parts, behind, strict=False)])
    messages = replace(
        parts[0],
        cands=np.array([len(cand)], np.int64),
        cand=cand,
        cand_x=np.concatenate([part.cand_x for part in parts]),
        images={name: _images([part.images[name] for part in parts]) for name in parts[0].images},
    )
    return replace(pieces[0], messages=messages)


def _images(parts: Sequence[ImageValues]) -> ImageValues:
    """Return images one after the other."""
    texts: list[str] = []
    values: list[I64] = []
    for part in parts:
        values.append(np.where(part.known, part.values + len(texts), 0))
        texts += part.listed
    known = np.concatenate([part.known for part in parts])
    return ImageValues(np.concatenate(values), known, None if parts[0].texts is None else texts)
