"""Where a stream begins, and what it takes for news."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine

import msgspec
import pytest

from connectors.http_answer import Elsewhere, Found, Unknown
from overlay.delivery import Position
from overlay.push_stream import PushStream, jumped
from tests.overlay.test_push_mailbox import change


def found(version: int, n: int) -> Found:
    return Found({"id": "s", "version": version, "n": n, "answer": n, "at": Position(0, 4)})


def stream(mark: str | None = None, ids: tuple[str, ...] = ("s",)) -> PushStream:
    return PushStream(ids, mark, 1, 1.0, lambda: 0.0, lambda gone: None)


def run(scene: Callable[[], Coroutine[None, None, None]]) -> None:
    asyncio.run(scene())


async def told(one: PushStream) -> list[tuple[str, int | None]]:
    return [(m["kind"], m.get("n")) for m in map(msgspec.json.decode, (await one.take()).lines)]


def test_what_was_committed_meanwhile_follows_the_answer_once() -> None:
    async def scene() -> None:
        one = stream()
        one.put(0, [change(4), change(5)])
        one.put(0, [change(6)])
        one.begin([found(1, 5)], 0)
        assert await told(one) == [("answer", 5), ("change", 6)]
        one.put(0, [change(6), change(7)])
        one.put(0, [change(7)])
        assert await told(one) == [("change", 7)]

    run(scene)


def test_a_mark_of_an_epoch_that_never_was_is_of_another_history() -> None:
    async def scene() -> None:
        for mark, epoch, kinds in (("7:1.5", 7, ["answer"]), ("7:1.5", 6, ["reset", "answer"])):
            one = stream(mark)
            one.begin([found(1, 5)], epoch)
            assert [kind for kind, _ in await told(one)] == kinds

    run(scene)


def test_nothing_is_no_news() -> None:
    async def scene() -> None:
        one = stream()
        one.begin([found(1, 5)], 0)
        one.put(0, [])
        assert await told(one) == [("answer", 5)]

    run(scene)


def test_a_replacement_is_news_though_its_n_is_lower() -> None:
    async def scene() -> None:
        one = stream()
        one.begin([found(1, 5)], 0)
        one.put(0, [change(2, version=2)])
        assert await told(one) == [("answer", 5), ("change", 2)]

    run(scene)


def test_what_the_log_holds_is_made_good_if_it_is_news() -> None:
    async def scene() -> None:
        one = stream()
        one.make_good(0, found(1, 9))
        one.begin([found(1, 5)], 0)
        one.make_good(0, found(1, 5))
        one.make_good(0, None)
        assert await told(one) == [("answer", 5)]
        one.make_good(0, found(1, 6))
        one.make_good(0, Unknown())
        one.make_good(0, Unknown())
        assert await told(one) == [("unknown", None), ("answer", 6)]

    run(scene)


def test_what_is_elsewhere_does_not_hold_up_progress() -> None:
    async def scene() -> None:
        one = stream(ids=("s", "far"))
        one.begin([found(1, 5), Elsewhere("b:2")], 0)
        assert await told(one) == [("answer", 5), ("elsewhere", None)]
        assert one.present == {0}

    run(scene)


def test_its_end_may_come_before_its_beginning() -> None:
    async def scene() -> None:
        one = stream()
        one.end()
        one.begin([found(1, 5)], 0)
        portion = await one.take()
        assert portion.retry_ms is not None
        assert len(portion.lines) == 2

    run(scene)


def test_it_is_closed_once() -> None:
    gone: list[PushStream] = []
    one = PushStream(("s",), None, 1, 1.0, lambda: 0.0, gone.append)
    one.close()
    one.close()
    assert gone == [one]


@pytest.mark.parametrize(
    ("heard", "mark", "expected"),
    [
        ((1, 5), (1, 5), False),
        ((1, 5), (1, 6), False),
        ((1, 5), (1, 7), True),
        ((1, 5), (2, 1), False),
        ((1, 5), (2, 2), True),
    ],
)
def test_jumps(heard: tuple[int, int], mark: tuple[int, int], expected: bool) -> None:
    assert jumped(heard, mark) is expected
