"""Messages on their way out: with the seq and the position of each, to be taken apart and cut without loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import numpy as np

from catalog.schema.relation import Relation
from operators.operator import Messages
from operators.packed import BYTES_PER_MESSAGE
from shard.shared_sizes import SharedSizes
from state.byte_runs import RECORD_BYTES
from state.causes import Causes
from state.change_batch import I32, I64, Bool, ChangeBatch

_COLUMNS = tuple(
    column.name for column in fields(Messages) if column.name not in ("channels", "groups", "group", "texts")
)
_BOUNDS = ("lo_min", "lo_max", "hi_min", "hi_max")
_TEXTS = ("old", "new", *_BOUNDS)


@dataclass(slots=True)
class Outgoing:
    """Messages of a batch with the seq of each, and the causes that they name by number.

    several: bool[causes], those that changed several rows; None where none did.
    text_values, text_bounds: bool[channels], whether values and bounds of a channel are places in `messages.texts`.
    """

    messages: Messages
    seq: I64
    causes: Causes
    several: Bool | None
    text_values: Bool
    text_bounds: Bool

    @classmethod
    def of(
        cls, messages: Messages, changes: ChangeBatch, causes: Causes, last_seq: int, relation: Relation
    ) -> Outgoing:
        """Number `messages` from `last_seq` + 1, and give each the number of its cause in the place of its change's."""
        seq = np.arange(last_seq + 1, last_seq + 1 + len(messages), dtype=np.int64)
        messages = replace(messages, cause=changes.cause[messages.cause])
        several = changes.several
        uncoded = {column.name for column in relation.columns if not column.type.coded}
        channels = messages.channels
        values = np.array([channel.column in uncoded for channel in channels], np.bool_)
        bounds = np.array([channel.range in uncoded for channel in channels], np.bool_)
        return cls(messages, seq, causes, several, values, bounds)

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
        return replace(self, messages=part, seq=self.seq[rows])

    def _narrow_texts(self, part: Messages) -> None:
        """Leave only the texts that `part` names, in their order."""
        named = {name: self._names_text(part, name) for name in _TEXTS}
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

    def text_names(self) -> tuple[I64, I64]:
        """Return message and text wherever a message names a text, in the order of messages."""
        named = {name: self._names_text(self.messages, name).nonzero()[0] for name in _TEXTS}
        by = np.concatenate(list(named.values()))
        texts = np.concatenate([getattr(self.messages, name)[which] for name, which in named.items()])
        order = np.argsort(by, kind="stable")
        return by[order], texts[order]

    def split(self) -> Iterator[Outgoing]:
        """Halve until a chunk is estimated at `RECORD_BYTES` or less, between causes where that makes two parts.

        Where it is cut must stay as it is within a format: a batch that an engine has written in part is written again
        by another one, perhaps of a later version, and is recognised by its chunks.
        Cost: O(messages log chunks) to find the cuts; each message is copied once.
        """
        rows = len(self.seq)
        if rows <= 1 or self.size <= RECORD_BYTES:
            yield self
            return
        for start, end in self._halves(_Sizes(self), 0, rows):
            yield self.take(slice(start, end))

    def _halves(self, sizes: _Sizes, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Cut the messages from `start` to `end` in two, and each part again while it is too large."""
        middle = start + _middle(self.messages.cause[start:end])
        for a, b in ((start, middle), (middle, end)):
            if b - a <= 1 or sizes.of(a, b) <= RECORD_BYTES:
                yield a, b
            else:
                yield from self._halves(sizes, a, b)

    def _names_text(self, messages: Messages, name: str) -> Bool:
        """Return which of some messages have a place in `texts` in this column."""
        if name in _BOUNDS:
            return self.text_bounds[messages.channel] & (getattr(messages, name) >= 0)
        return self.text_values[messages.channel] & getattr(messages, f"has_{name}")


class _Sizes:
    """At most how many bytes messages take packed, with the groups and texts they name, each once."""

    def __init__(self, outgoing: Outgoing) -> None:
        messages = outgoing.messages
        groups = np.array([len(group) for group in messages.groups], np.int64)
        texts = np.array([len(text.encode()) for text in messages.texts], np.int64)
        self._one_group = int(groups.sum()) if len(groups) == 1 else 0
        self._shared: list[SharedSizes] = []
        if len(groups) > 1:
            self._shared.append(SharedSizes(np.arange(len(messages.group)), messages.group, groups))
        if len(texts):
            self._shared.append(SharedSizes(*outgoing.text_names(), texts))

    def of(self, start: int, end: int) -> int:
        """Return the size of the messages from `start` to `end`.

        Cost: O(1) where there is one group and no text, else O(end - start) in numpy.
        """
        shared = self._one_group + sum(shared.of(start, end) for shared in self._shared)
        return (end - start) * BYTES_PER_MESSAGE + shared


def _middle(cause: I32) -> int:
    """Return the place nearest to the middle, neither end, where another cause begins; if none, the middle."""
    middle = (len(cause) + 1) // 2
    begin = int(np.searchsorted(cause, cause[middle], "left"))
    end = int(np.searchsorted(cause, cause[middle], "right"))
    inner = [place for place in (begin, end) if 0 < place < len(cause)]
    return min(inner, key=lambda place: abs(place - middle), default=middle)
