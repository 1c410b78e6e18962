from __future__ import annotations

from concurrent.futures import Future

import pytest
import structlog

from connectors.kafka.failure import KafkaFailure
from connectors.record import OutRecord
from connectors.topics import Topics
from overlay.process.cell_requests import RETRY_SECONDS, CellRequests

PAIR, OTHERS = ("a", "b"), ("Order", "a", "b")


class MemoryWriter:
    """A producer whose broker answers when it is told to."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.open: list[Future[int]] = []
        self.answer: KafkaFailure | int | None = 0
        self.abandoned = 0

    def abandon(self) -> None:
        self.abandoned, self.open = self.abandoned + 1, []

    def write(self, record: OutRecord) -> Future[int]:
        assert (record.topic, record.partition, record.key) == ("x.catalog", 0, None)
        self.written.append((record.value or b"").decode())
        self.open.append(Future())
        return self.open[-1]

    def serve(self, seconds: float) -> None:
        for future in self.open if self.answer is not None else ():
            if isinstance(self.answer, int):
                future.set_result(self.answer)
            else:
                future.set_exception(self.answer)
        self.open = [] if self.answer is not None else self.open


class World:
    def __init__(self) -> None:
        self.writer, self.now, self.made = MemoryWriter(), 0.0, 0
        self.requests = CellRequests(Topics("x."), self._make, structlog.get_logger(), lambda: self.now)

    def _make(self) -> MemoryWriter:
        self.made += 1
        return self.writer


@pytest.fixture
def world() -> World:
    return World()


def test_a_cell_is_asked_for_once_while_somebody_waits(world: World) -> None:
    world.requests.ask(set())
    assert world.made == 0, "nobody wants a producer"
    for _ in range(3):
        world.requests.ask({PAIR})
    world.now += 10 * RETRY_SECONDS
    world.requests.ask({PAIR, OTHERS})
    assert world.writer.written == ["CREATE JOIN a, b", 'CREATE JOIN "Order", a, b']
    assert world.made == 1


def test_who_waits_again_asks_again(world: World) -> None:
    world.requests.ask({PAIR})
    world.requests.ask(set())
    world.requests.ask({PAIR})
    world.requests.forget()
    world.requests.ask({PAIR})
    assert world.writer.written == ["CREATE JOIN a, b"] * 3


def test_what_could_not_be_written_is_written_later(world: World) -> None:
    world.writer.answer = KafkaFailure("may not write to `x.catalog`")
    world.requests.ask({PAIR})
    world.requests.ask({PAIR})
    world.now += RETRY_SECONDS - 1
    world.requests.ask({PAIR})
    assert len(world.writer.written) == 1
    world.now, world.writer.answer = world.now + 2, 7
    world.requests.ask({PAIR})
    assert len(world.writer.written) == 2
    world.now += 10 * RETRY_SECONDS
    world.requests.ask({PAIR})
    assert len(world.writer.written) == 2


def test_one_that_is_under_way_is_waited_for(world: World) -> None:
    world.writer.answer = None
    world.requests.ask({PAIR})
    world.now += 10 * RETRY_SECONDS
    world.requests.ask({PAIR})
    assert len(world.writer.written) == 1


def test_one_that_cannot_even_be_queued_is_tried_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(record: OutRecord) -> Future[int]:
        raise KafkaFailure("the queue is full")

    with monkeypatch.context() as patched:
        patched.setattr(world.writer, "write", refuse)
        world.requests.ask({PAIR})
    world.requests.ask({PAIR})
    assert world.writer.written == []
    world.now += RETRY_SECONDS
    world.requests.ask({PAIR})
    assert world.writer.written == ["CREATE JOIN a, b"]


def test_who_leaves_writes_nothing_more(world: World) -> None:
    world.requests.close()
    assert (world.made, world.writer.abandoned) == (0, 0), "nobody asked"
    world.writer.answer = None
    world.requests.ask({PAIR})
    world.requests.close()
    assert (world.writer.open, world.writer.abandoned) == ([], 1)
