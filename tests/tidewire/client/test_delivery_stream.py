"""A stream of deliveries keeps its reader, which has a thread and three files open, no longer than it is read."""

from __future__ import annotations

from typing import Any

import pytest

from connectors.topics import Topics
from tidewire.client.delivery_stream import DeliveryStream


class Reader:
    """A reader of a topic without records."""

    def __init__(self) -> None:
        self.closed = 0

    def partitions(self, topic: str) -> list[int]:
        return [0]

    def assign(self, topic: str, partitions: list[int], at_end: bool) -> None: ...

    def poll(self, timeout: float) -> list[Any]:
        return []

    def to_end(self) -> list[Any]:
        return []

    def close(self) -> None:
        self.closed += 1


def stream(reader: Reader, follow: bool) -> DeliveryStream:
    made: Any = reader
    return DeliveryStream(made, Topics(), None, follow=follow, from_beginning=True, progress=False)


def test_what_ends_by_itself_closes_itself() -> None:
    reader = Reader()
    assert list(stream(reader, follow=False)) == [] and reader.closed


@pytest.mark.parametrize("follow", [False, True])
def test_a_block_closes_it(follow: bool) -> None:
    reader = Reader()
    with stream(reader, follow) as opened:
        assert opened.poll(0) == [] and not reader.closed
    assert reader.closed
