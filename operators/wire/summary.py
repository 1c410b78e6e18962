"""The record `summary`, edge to shard: what a virtual edge wants of channels, a row for each channel of the header.

Of a channel that tells of rows (images, first rows) it also says in the header's `needed` which columns the virtual
edge still needs: all of them, be it of this channel or of another one of the table. Then it is of format 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import msgspec
import numpy as np
import pyarrow as pa

from catalog.query.channel import Channel
from operators.needed_format import format_of_channels
from operators.wire.columns import Columns, write
from operators.wire.header import Header
from state.boxes import Boxes

NOTHING: Mapping[Channel, Sequence[str]] = MappingProxyType({})


@dataclass(slots=True)
class PackedSummary:
    """All that a virtual edge wants of `header.channels`, in their order; earlier registrations of them are void."""

    header: Header
    boxes: list[Boxes]
    needed: list[list[str]]


def pack_summary(
    header: Header, summaries: Mapping[Channel, Boxes], needed: Mapping[Channel, Sequence[str]] = NOTHING
) -> bytes:
    """Return the record that says what virtual edge `header.ve` wants of these channels, all of it.

    `needed` has the columns of rows that it needs of channels of images. The header's `channels` is filled in here.
    """
    boxes = pa.array([boxes.dump() for boxes in summaries.values()], pa.binary())
    layout = {"channel": np.arange(len(summaries))}
    columns = [list(needed.get(channel, ())) for channel in summaries] if needed else []
    said = {"channels": list(summaries), "needed": columns, "format": format_of_channels(summaries)}
    return write(msgspec.structs.replace(header, **said), layout, {"boxes": boxes})


def read_summary(header: Header, columns: Columns) -> PackedSummary:
    """Read a record. Raises ValueError where it has not one summary a channel."""
    boxes = [Boxes.load(data) for data in columns.optional("boxes")]
    if len(boxes) != len(header.channels):
        raise ValueError(f"{len(boxes)} summaries of {len(header.channels)} channels")
    needed = header.needed or [[] for _ in boxes]
    if len(needed) != len(boxes):
        raise ValueError(f"needed columns of {len(needed)} channels, expected those of {len(boxes)}")
    return PackedSummary(header, boxes, needed)
