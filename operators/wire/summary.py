"""The record `summary`, edge to shard: what a virtual edge wants of channels, a row for each channel of the header."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec
import numpy as np
import pyarrow as pa

from catalog.query.channel import Channel
from operators.wire.columns import Columns, write
from operators.wire.header import Header
from state.boxes import Boxes


@dataclass(slots=True)
class PackedSummary:
    """All that a virtual edge wants of `header.channels`, in their order; earlier registrations of them are void."""

    header: Header
    boxes: list[Boxes]


def pack_summary(header: Header, summaries: Mapping[Channel, Boxes]) -> bytes:
    """Return the record that says what virtual edge `header.ve` wants of these channels, all of it.

    The header's `channels` is filled in here.
    """
    boxes = pa.array([boxes.dump() for boxes in summaries.values()], pa.binary())
    layout = {"channel": np.arange(len(summaries))}
    return write(msgspec.structs.replace(header, channels=list(summaries)), layout, {"boxes": boxes})


def read_summary(header: Header, columns: Columns) -> PackedSummary:
    """Read a record. Raises ValueError where it has not one summary a channel."""
    boxes = [Boxes.load(data) for data in columns.optional("boxes")]
    if len(boxes) != len(header.channels):
        raise ValueError(f"{len(boxes)} summaries of {len(header.channels)} channels")
    return PackedSummary(header, boxes)
