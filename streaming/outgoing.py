"""Messages on their way out: with the seq and the position of each, to be taken apart and cut without loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import numpy as np

from catalog.relation import Relation
from operators.operator import Messages
from operators.packed import BYTES_PER_MESSAGE, MAX_BYTES
from state.change_batch import I32, I64, Bool, ChangeBatch

_COLUMNS = tuple(
    column.name for column in fields(Messages) if column.name not in ("channels", "groups", "group", "texts")
)
_BOUNDS = ("lo_min", "lo_max", "hi_min", "hi_max")


@dataclass(slots=True)
class Outgoing:
    """Messages of a batch with what is known of each: its seq, and where its cause came from.

    text_values, text_bounds: bool[channels], whether values and bounds of a channel are places in `messages.texts`.
    """

    messages: Messages
    seq: I64
    partition: I64
    offset: I64
    text_values: Bool
    text_bounds: Bool

    @classmethod
    def of(cls, messages: Messages, changes: ChangeBatch, last_seq: int, relation: Relation) -> Outgoing:
        """Number `messages` from `last_seq` + 1 and give each the position of the change that caused it."""
        seq = np.arange(last_seq + 1, last_seq + 1 + len(messages), dtype=np.int64)
        partition = changes.partition[messages.cause].astype(np.int64)
        uncoded = {column.name for column in relation.columns if not column.type.coded}
        channels = messages.channels
        values = np.array([channel.column in uncoded for channel in channels], np.bool_)
        bounds = np.array([channel.range in uncoded for channel in channels], np.bool_)
        return cls(messages, seq, partition, changes.offset[messages.cause], values, bounds)

    def take(self, rows: I64 | slice) -> Outgoing:
        """Return the messages at `rows`, with only the groups and texts they name. A slice of one group is no copy."""
        messages = self.messages
        group, groups = messages.group[rows], messages.groups
        if len(groups) > 1:
            used, places = np.unique(group, return_inverse=True)
            group, groups = places.astype(np.int32), [groups[i] for i in used.tolist()]
        columns = {name: getattr(messages, name)[rows] for name in _COLUMNS}
        part = Messages(channels=messages.channels, groups=groups, group=group, texts=messages.texts, **columns)
        if part.texts:
            self._narrow_texts(part)
        return replace(
            self, messages=part, seq=self.seq[rows], partition=self.partition[rows], offset=self.offset[rows]
        )

    def _narrow_texts(self, part: Messages) -> None:
        """Leave only the texts that `part` names, in their order."""
        values, bounds = self.text_values[part.channel], self.text_bounds[part.channel]
        named = {"old": values & part.has_old, "new": values & part.has_new}
        named |= {name: bounds & (getattr(part, name) >= 0) for name in _BOUNDS}
        used = np.zeros(len(part.texts), np.bool_)
        for name, rows in named.items():
            used[getattr(part, name)[rows]] = True
        place = np.cumsum(used) - 1
        for name, rows in named.items():
            column = getattr(part, name).copy()
            column[rows] = place[column[rows]]
            setattr(part, name, column)
        part.texts = [part.texts[i] for i in np.flatnonzero(used).tolist()]

    @property
    def size(self) -> int:
        """At most how many bytes it takes packed, groups and texts included."""
        messages = self.messages
        texts = sum(map(len, messages.groups)) + sum(len(text.encode()) for text in messages.texts)
        return len(self.seq) * BYTES_PER_MESSAGE + texts

    def split(self) -> Iterator[Outgoing]:
        """Halve until a chunk is estimated at `MAX_BYTES` or less, between causes where that makes two parts."""
        rows = len(self.seq)
        if rows <= 1 or self.size <= MAX_BYTES:
            yield self
            return
        middle = _middle(self.messages.cause)
        yield from self.take(slice(middle)).split()
        yield from self.take(slice(middle, rows)).split()


def _middle(cause: I32) -> int:
    """Return the place nearest to the middle, neither end, where another cause begins; if none, the middle."""
    middle = (len(cause) + 1) // 2
    begin = int(np.searchsorted(cause, cause[middle], "left"))
    end = int(np.searchsorted(cause, cause[middle], "right"))
    inner = [place for place in (begin, end) if 0 < place < len(cause)]
    return min(inner, key=lambda place: abs(place - middle), default=middle)
