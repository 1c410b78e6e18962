"""What `tidewire.pure_pipeline` has told subscribers, as its workers read it."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from tidewire.pure_pipeline import PurePipeline

Read = TypeVar("Read")


class Position(msgspec.Struct):
    """Where the record stands that a delivery is of."""

    topic: str
    offset: int


class RowsDelivery(msgspec.Struct):
    """What is read of a delivery of rows of numbers."""

    id: str
    kind: str
    removed: list[list[int]] = []
    added: list[list[int]] = []
    at: Position | None = None


def taken(pipeline: PurePipeline, decoder: msgspec.json.Decoder[Read]) -> list[Read] | None:
    """Return the deliveries since the last call, in order; None where not even a batch has ended since."""
    log = pipeline.logs[pipeline.topics.deliveries][0]
    told = [decoder.decode(value) for key, value in log if value is not None and key and not key.startswith(b"@")]
    passed = bool(log)
    log.clear()
    return told if passed else None
