"""Where a stream begins, and what it takes for news."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence

import msgspec
import pytest

from connectors.http.answer import Answer, Elsewhere, Found, Unknown
from overlay.delivery.delivery import Position, delivery
from overlay.push.message import read_told
from overlay.push.stream import PushStream, jumped
from state.errors import TidewireError
from tests.overlay.push.test_mailbox import change


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


class Changing:
    """A DISTINCT that grows by a large value with every change, and a reader that takes nothing meanwhile."""

    def __init__(self, answers: Callable[[list[str], int], object] | None = None) -> None:
        self.values: list[str] = []
        self.n = 1
        self.before = lambda: None
        self._answers = answers
        self.stream = PushStream(("s",), None, 1, 1.0, lambda: 0.0, lambda gone: None, self.newest)
        self.stream.begin([self.found()], 0)

    def found(self) -> Found:
        body = {"id": "s", "version": 1, "n": self.n, "answer": list(self.values), "at": Position(0, 4)}
        return Found(body)

    async def newest(self, names: Sequence[str]) -> Sequence[Answer]:
        return await asyncio.to_thread(self.look, names)

    def look(self, names: Sequence[str]) -> Sequence[Answer]:
        answer = self._answers(self.values, self.n) if self._answers else self.found()
        self.before()
        assert isinstance(answer, Found | Unknown | Elsewhere)
        return [answer] * len(names)

    def change(self, tell: bool = True) -> None:
        self.n += 1
        self.values.append(f"{self.n}-{'x' * 50_000}")
        if tell:
            body = f'"removed":[],"added":["{self.values[-1]}"]'
            line = delivery('"s"', "change", 1, self.n, body, Position(0, 4).text)
            self.stream.put(0, [read_told(line)])

    async def fall_behind(self) -> None:
        await self.stream.take()
        for _ in range(20):
            self.change()


def follow(values: list[str], messages: Sequence[bytes]) -> list[str]:
    """Return what a reader holds after these messages; each must follow from the one before."""
    held = list(values)
    for message in map(msgspec.json.decode, messages):
        if message["kind"] == "answer":
            held = message["answer"]
        else:
            assert not set(held) & set(message["added"])
            assert set(message["removed"]) <= set(held)
            held = [one for one in held if one not in message["removed"]] + message["added"]
    return held


@pytest.mark.parametrize("meanwhile", [0, 1, 3, 40])
def test_who_is_too_far_behind_is_told_the_newest_answer(meanwhile: int) -> None:
    """Also if changes are committed while it is read, and again."""

    async def scene() -> None:
        world = Changing()
        loop = asyncio.get_running_loop()
        await world.fall_behind()
        held: list[str] = []
        for _ in range(3):
            world.before = lambda: [loop.call_soon_threadsafe(world.change) for _ in range(meanwhile)]  # type: ignore[assignment,return-value]
            lines = (await world.stream.take()).lines
            world.before = lambda: None
            while world.stream._box.lost:
                lines = (await world.stream.take()).lines
            first = msgspec.json.decode(lines[0])
            assert (first["kind"], first["conflated"]) == ("answer", True)
            held = follow(held, lines)
            assert held == world.values
            for _ in range(20):
                world.change()

    run(scene)


def test_answers_are_read_again_where_the_log_was_taken_up_again_meanwhile() -> None:
    async def scene() -> None:
        world = Changing()
        loop = asyncio.get_running_loop()
        await world.fall_behind()

        def taken_up() -> None:
            world.before = lambda: None
            world.change(tell=False)
            newest = world.found()
            loop.call_soon_threadsafe(lambda: world.stream.make_good(0, newest))

        world.before = taken_up
        assert follow([], (await world.stream.take()).lines) == world.values

    run(scene)


@pytest.mark.parametrize("answer", [Elsewhere("b:2"), None])
def test_its_stream_ends_where_there_is_no_newest_answer(answer: Answer | None) -> None:
    async def scene() -> None:
        def none(values: list[str], n: int) -> object:
            if answer is None:
                raise TidewireError("in the middle of a step")
            return answer

        world = Changing(none)
        await world.fall_behind()
        portion = await world.stream.take()
        assert portion.retry_ms is not None
        assert [msgspec.json.decode(line)["kind"] for line in portion.lines] == ["moved"]

    run(scene)


def test_what_has_gone_meanwhile_is_unknown_and_its_end_is_told() -> None:
    async def scene() -> None:
        world = Changing(lambda values, n: Unknown())
        await world.fall_behind()
        assert await told(world.stream) == [("unknown", None)]
        world = Changing()
        await world.fall_behind()
        line = delivery('"s"', "ended", 1, world.n + 1, '"reason":"unsubscribed"', Position(0, 4).text)
        world.stream.put(0, [read_told(line)])
        assert await told(world.stream) == [("ended", world.n + 1)]

    run(scene)


def test_rows_that_are_not_here_are_made_good_by_coming_back() -> None:
    async def scene() -> None:
        body = {"id": "s", "status": "live", "form": "bag", "version": 1, "rows": 0, "at": Position(0, 4)}
        one = stream()
        one.begin([Found({**body, "n": 5, "answer": []})], 0)
        one.make_good(0, Found({**body, "n": 5}))
        assert await told(one) == [("answer", 5)]
        one.make_good(0, Found({**body, "n": 6}))
        assert await told(one) == [("moved", None)]

    run(scene)
