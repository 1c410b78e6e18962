"""A mailbox: all for who keeps up, the newest for who does not, progress and signs of life in time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from itertools import chain

import msgspec

from connectors.http.stream import Portion
from overlay.delivery.delivery import Position, delivery, moved
from overlay.push.mailbox import HEARTBEAT_SECONDS, MOST_BYTES, Mailbox
from overlay.push.message import Told, answer_message, read_told


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def change(n: int, version: int = 1) -> Told:
    return read_told(delivery('"s"', "change", version, n, moved(str(n - 1), str(n)), Position(0, 0).text))


def progress(batch: int) -> tuple[tuple[int, int], bytes]:
    return (0, batch), b'{"kind":"progress","epoch":0,"batch":%d}' % batch


def box(clock: Clock, subscriptions: int = 1, seconds: float = 1.0, homes: tuple[int, ...] = (0,)) -> Mailbox:
    made = Mailbox([None] * subscriptions, seconds, clock)
    made.follow(homes)
    return made


def told(portion: Portion) -> list[int]:
    return [m.get("n", m.get("batch")) for m in map(msgspec.json.decode, portion.lines)]


def run(scene: Callable[[Clock], Coroutine[None, None, None]]) -> None:
    asyncio.run(scene(Clock()))


def test_who_keeps_up_hears_all() -> None:
    async def scene(clock: Clock) -> None:
        mail = box(clock)
        mail.put(0, [change(2), change(3)])
        mail.put(0, [change(4)])
        portion = await mail.take()
        assert told(portion) == [2, 3, 4]
        assert portion.mark == "-1:1.4"
        waiting = asyncio.ensure_future(mail.take())
        await asyncio.sleep(0)
        mail.put(0, [change(5)])
        mail.put(0, [change(6)])
        assert told(await waiting) == [5, 6]

    run(scene)


def test_who_does_not_hears_the_newest_of_each() -> None:
    async def scene(clock: Clock) -> None:
        mail = box(clock, 2)
        mail.put(0, [change(2)])
        await mail.take()
        for n in range(3, 1000):
            mail.put(0, [change(n)])
        mail.put(1, [change(8)])
        assert len(mail._missed) == 2
        portion = await mail.take()
        assert told(portion) == [999, 8]
        assert portion.mark == "-1:1.999,1.8"
        assert msgspec.json.decode(portion.lines[0])["changes"] == 997

    run(scene)


def test_progress_comes_with_changes_or_in_its_time() -> None:
    async def scene(clock: Clock) -> None:
        mail = box(clock)
        mail.put(0, [change(2)])
        mail.progress(0, *progress(7))
        assert told(await mail.take()) == [2, 7]
        mail.progress(0, *progress(8))
        waiting = asyncio.ensure_future(mail.take())
        mail.pulse()
        await asyncio.sleep(0)
        assert not waiting.done()
        clock.now = 1.0
        mail.pulse()
        portion = await waiting
        assert (told(portion), portion.mark) == ([8], "0:1.2")

    run(scene)


def test_progress_is_that_of_the_slowest_and_told_once() -> None:
    async def scene(clock: Clock) -> None:
        mail = box(clock, seconds=0.0, homes=(0, 1))
        mail.progress(0, *progress(5))
        waiting = asyncio.ensure_future(mail.take())
        await asyncio.sleep(0)
        assert not waiting.done()
        mail.progress(1, *progress(3))
        assert told(await waiting) == [3]
        mail.progress(1, *progress(3))
        mail.progress(9, *progress(99))
        mail.progress(1, *progress(6))
        assert told(await mail.take()) == [5]

    run(scene)


def test_a_sign_of_life() -> None:
    async def scene(clock: Clock) -> None:
        mail = box(clock)
        waiting = asyncio.ensure_future(mail.take())
        await asyncio.sleep(0)
        clock.now = HEARTBEAT_SECONDS
        mail.pulse()
        assert (await waiting) == Portion([])

    run(scene)


def test_the_end_comes_last() -> None:
    async def scene(clock: Clock) -> None:
        mail = box(clock)
        await asyncio.wait_for(_ended(mail), 1)

    async def _ended(mail: Mailbox) -> None:
        mail.put(0, [change(2)])
        mail.end(700, b'{"kind":"moved","n":0}')
        portion = await mail.take()
        assert (told(portion), portion.retry_ms) == ([2, 0], 700)

    run(scene)


def difference(n: int, size: int = 1_000) -> Told:
    return read_told(delivery('"s"', "change", 1, n, f'"removed":[],"added":["{n}-{"x" * size}"]', Position(0, 0).text))


def test_what_is_too_much_is_lost_until_a_message_stands_alone() -> None:
    async def scene(clock: Clock) -> None:
        mail = box(clock, 2)
        mail.put(0, [change(2)])
        await mail.take()
        mail.put(1, [change(5)])
        for n in range(3, 2_000):
            mail.put(0, [difference(n)])
            held = sum(len(told.line) for missed in mail._missed.values() for told in chain(*missed._differences))
            assert held <= MOST_BYTES + 1_100
            assert mail._missed_bytes == sum(missed.size for missed in mail._missed.values())
        assert mail.lost == [0]
        mail.put(0, [answer_message({"id": "s", "version": 1, "n": 1_999, "answer": []}, True)])
        mail.put(0, [difference(2_000)])
        assert mail.lost == []
        assert sorted(told(await mail.take())) == [5, 1_999, 2_000]

    run(scene)


def test_one_message_is_never_too_much() -> None:
    async def scene(clock: Clock) -> None:
        mail = box(clock)
        mail.put(0, [change(2)])
        await mail.take()
        mail.put(0, [difference(3, 2 * MOST_BYTES)])
        assert mail.lost == []
        assert told(await mail.take()) == [3]

    run(scene)
