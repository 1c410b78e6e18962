"""Row images on their way out: with the seq and the position of each, to be cut without loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from catalog.query.channel import ImageChannel
from operators.row_images import ImageColumn, Images
from operators.wire.images import width_of
from shard.shared_sizes import SharedSizes
from state.byte_runs import RECORD_BYTES, run_end
from state.byte_table import Strings
from state.causes import Causes
from state.change_batch import I64, Bool, ChangeBatch

_BYTES_A_CHANGE = 32
_BYTES_A_TEXT = 8
_BYTES_A_COLUMN = 2_000
"""What a record takes for a column that is there, be it of one change."""


@dataclass(slots=True)
class OutgoingImages:
    """Images of a batch with the seq of each, and the causes that they name by number.

    several: bool[causes], those that changed several rows; None where none did.
    """

    channel: ImageChannel
    images: Images
    seq: I64
    causes: Causes
    several: Bool | None

    @classmethod
    def of(
        cls, channel: ImageChannel, images: Images, changes: ChangeBatch, causes: Causes, last_seq: int
    ) -> OutgoingImages:
        """Number `images` from `last_seq` + 1, and give each the number of its cause in the place of its change's."""
        seq = np.arange(last_seq + 1, last_seq + 1 + len(images), dtype=np.int64)
        several = changes.several
        return cls(channel, replace(images, cause=changes.cause[images.cause]), seq, causes, several)

    def take(self, rows: slice) -> OutgoingImages:
        """Return the images at `rows`, with only the texts that they name."""
        return replace(self, images=self.images.take(rows), seq=self.seq[rows])

    def split(self) -> Iterator[OutgoingImages]:
        """Cut into runs of which each is estimated at `RECORD_BYTES` or less, or is one image.

        Where it is cut must stay as it is within a format (`Outgoing.split`). Cost: O(images log images) a run, but
        O(images) where one record has room for all.
        """
        sizes, start, count = _Sizes(self.images), 0, len(self.seq)
        if count and sizes.most <= RECORD_BYTES:
            yield self
            return
        while start < count:
            end = run_end(sizes.of, start, count, RECORD_BYTES)
            yield self if end - start == count else self.take(slice(start, end))
            start = end


class _Sizes:
    """At most how many bytes images take packed, with the texts that they name, each once a column."""

    def __init__(self, images: Images) -> None:
        columns = list(images.columns.values())
        self._fixed = _BYTES_A_COLUMN * (len(columns) + 1)
        self._each = _BYTES_A_CHANGE + sum(map(width_of, columns))
        self._texts = [(column, _lengths(column.texts)) for column in columns if column.texts]
        self.most = self._fixed + len(images) * self._each + sum(int(lengths.sum()) for _, lengths in self._texts)
        """The size of all of them, if each text is named."""

    @cached_property
    def _shared(self) -> list[SharedSizes]:
        return [_shared(column, lengths) for column, lengths in self._texts]

    def of(self, start: int, end: int) -> int:
        """Return the size of the images from `start` to `end`."""
        shared = sum(each.of(start, end) for each in self._shared)
        return self._fixed + (end - start) * self._each + shared


def _lengths(texts: Strings | list[str]) -> I64:
    return (texts if isinstance(texts, Strings) else Strings.of(texts)).lengths + _BYTES_A_TEXT


def _shared(column: ImageColumn, lengths: I64) -> SharedSizes:
    """Return which change names which texts, of these lengths."""
    apart, known = column.apart, column.new_known
    by = np.concatenate([np.flatnonzero(apart), np.flatnonzero(known)])
    text = np.concatenate([column.old[apart], column.new[known]])
    order = np.argsort(by, kind="stable")
    return SharedSizes(by[order], text[order], lengths)
