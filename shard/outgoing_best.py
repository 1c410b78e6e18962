"""Messages about first rows on their way out: with the seq and the position of each, to be cut without loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from catalog.schema.relation import Relation
from operators.best_messages import BestMessages
from shard.shared_sizes import SharedSizes
from state.byte_runs import RECORD_BYTES, byte_runs, run_end
from state.byte_table import Strings
from state.causes import Causes
from state.change_batch import I64, Bool, ChangeBatch

_BYTES_A_MESSAGE = 144
_BYTES_A_NUMBER = 8
_BYTES_A_VALUE = 9
_BYTES_A_TEXT = 8
_BYTES_A_COLUMN = 2_000
"""What a record takes for a column that is there, be it of one message."""
_HEAD_COLUMNS = 22


@dataclass(slots=True)
class OutgoingBest:
    """Messages about first rows of a batch with the seq of each, and the causes that they name by number.

    several: bool[causes], those that changed several rows; None where none did.
    text_bounds: bool[channels], whether bounds of a channel are places in `messages.texts`.
    """

    messages: BestMessages
    seq: I64
    causes: Causes
    several: Bool | None
    text_bounds: Bool

    @classmethod
    def of(
        cls, messages: BestMessages, changes: ChangeBatch, causes: Causes, last_seq: int, relation: Relation
    ) -> OutgoingBest:
        """Number `messages` from `last_seq` + 1, and give each the number of its cause in the place of its change's."""
        seq = np.arange(last_seq + 1, last_seq + 1 + len(messages), dtype=np.int64)
        several = changes.several
        uncoded = {column.name for column in relation.columns if not column.type.coded}
        bounds = np.array([channel.range in uncoded for channel in messages.channels], np.bool_)
        return cls(replace(messages, cause=changes.cause[messages.cause]), seq, causes, several, bounds)

    def take(self, rows: I64 | slice) -> OutgoingBest:
        """Return the messages at `rows`, with only what they name."""
        return replace(self, messages=self.messages.take(rows, self.text_bounds), seq=self.seq[rows])

    def split(self) -> Iterator[OutgoingBest]:
        """Cut into runs of which each is estimated at `RECORD_BYTES` or less, or is of one message.

        Of a message whose candidates take more, these are cut too, and the pieces have its seq.
        Where it is cut must stay as it is within a format (`Outgoing.split`). Cost: O(messages log messages) a run.
        """
        sizes, start, count = _Sizes(self.messages), 0, len(self.seq)
        while start < count:
            end = run_end(sizes.of, start, count, RECORD_BYTES)
            if end - start == 1 and sizes.of(start, end) > RECORD_BYTES:
                yield from self._pieces(start, sizes)
            else:
                yield self if end - start == count else self.take(slice(start, end))
            start = end

    def _pieces(self, i: int, sizes: _Sizes) -> Iterator[OutgoingBest]:
        """Cut one message between its candidates."""
        first = int(self.messages.cands[:i].sum())
        cands = self.messages.cand[first : first + int(self.messages.cands[i])]
        each = sizes.images[cands] + 2 * _BYTES_A_NUMBER
        for run in list(byte_runs(each.tolist(), max(RECORD_BYTES - sizes.without(i), 1))) or [slice(0, 0)]:
            piece = self.messages.piece(i, run, self.text_bounds)
            yield replace(self, messages=piece, seq=self.seq[i : i + 1])


class _Sizes:
    """At most how many bytes messages take packed, with the images that they name, each once."""

    def __init__(self, messages: BestMessages) -> None:
        columns = list(messages.images.values())
        self._fixed = _BYTES_A_COLUMN * (2 * len(columns) + _HEAD_COLUMNS)
        self.images = _image_sizes(messages)
        groups = np.array([len(group) for group in messages.groups], np.int64)[messages.group]
        texts = np.array([len(text.encode()) + _BYTES_A_TEXT for text in messages.texts] or [0], np.int64)
        longest = _BYTES_A_NUMBER + (int(texts.max()) if messages.texts else 0)
        numbers = 4 + messages.lefts + messages.rights + messages.cands
        own = _BYTES_A_MESSAGE + groups + longest * numbers + _BYTES_A_NUMBER * messages.cands
        self._until = np.append(0, np.cumsum(own))
        self._shared = SharedSizes(*messages.named(), self.images)
        self._ends = self.images[messages.old] * (messages.old >= 0) + self.images[messages.new] * (messages.new >= 0)

    def of(self, start: int, end: int) -> int:
        """Return the size of the messages from `start` to `end`."""
        return self._fixed + int(self._until[end] - self._until[start]) + self._shared.of(start, end)

    def without(self, i: int) -> int:
        """Return the size of message i without the images of its candidates."""
        return self._fixed + int(self._until[i + 1] - self._until[i]) + int(self._ends[i])


def _image_sizes(messages: BestMessages) -> I64:
    """Return at most how many bytes each image takes; one more entry stands for none."""
    columns = list(messages.images.values())
    sizes = np.full(messages.image_count + 1, (_BYTES_A_VALUE + 1) * len(columns), np.int64)
    for column in columns:
        if column.texts:
            texts = column.texts if isinstance(column.texts, Strings) else Strings.of(column.texts)
            sizes[:-1][column.known] += (texts.lengths + _BYTES_A_TEXT)[column.values[column.known]]
    return sizes
