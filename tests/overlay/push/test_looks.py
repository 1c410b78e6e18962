"""Who asks is answered as if he had asked alone; looks are one at a time, together, and followed by a rest."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.http.answer import Answer, Found
from overlay.push.looks import BEGIN_AT_ONCE, NOTICED, TOGETHER, Looks
from state.errors import TidewireError


class World:
    """An edge whose answers say which look they are of; each look takes `seconds` of computing."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds
        self.clock = 0.0
        self.asked: list[list[str]] = []
        self.rested: list[float] = []
        self.inside = 0
        self.gate = threading.Event()
        self.gate.set()
        self.failing = ""
        self.looks = Looks(self.look, lambda: self.clock, self.rest)

    def look(self, names: Sequence[str]) -> Sequence[Answer]:
        self.inside += 1
        assert self.inside == 1, "two looks at a time"
        self.gate.wait(60)
        self.asked.append(list(names))
        self.clock += self.seconds
        self.inside -= 1
        if self.failing in names:
            raise TidewireError("in the middle of a step")
        return [Found({"id": name, "look": len(self.asked)}) for name in names]

    async def rest(self, seconds: float) -> None:
        self.rested.append(seconds)

    async def ask(self, *names: str) -> list[tuple[object, object]]:
        answers = await self.looks.answers(names)
        return [(one.body["id"], one.body["look"]) for one in answers if isinstance(one, Found)]


def run(scene: Callable[[], Coroutine[None, None, None]]) -> None:
    asyncio.run(scene())


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), max_size=12))
def test_each_is_told_what_it_asked_for_in_order(asked: list[list[str]]) -> None:
    async def scene() -> None:
        world = World()
        told = await asyncio.gather(*(world.ask(*names) for names in asked))
        assert [[name for name, _ in one] for one in told] == asked
        assert len(world.asked) <= 1

    run(scene)


def test_a_crowd_that_asks_for_the_same_is_looked_for_together() -> None:
    async def scene() -> None:
        world = World()
        told = await asyncio.gather(*(world.ask("wide") for _ in range(300)), world.ask("mine"))
        assert told == [[("wide", 1)]] * 300 + [[("mine", 1)]]
        assert world.asked == [["wide", "mine"]]

    run(scene)


def test_a_crowd_is_not_told_in_one_turn_of_the_loop() -> None:
    async def scene() -> None:
        world, turn = World(), 0
        told: Counter[int] = Counter()

        async def turns() -> None:
            nonlocal turn
            while True:
                turn += 1
                await asyncio.sleep(0)

        async def reader() -> None:
            await world.ask("wide")
            told[turn] += 1

        others = asyncio.create_task(turns())
        await asyncio.gather(*(reader() for _ in range(300)))
        others.cancel()
        assert sum(told.values()) == 300
        assert max(told.values()) <= BEGIN_AT_ONCE
        assert len(world.asked) == 1

    run(scene)


def test_a_look_holds_so_many_answers_or_those_of_one_reader() -> None:
    async def scene() -> None:
        world = World()
        names = [[f"{number}-{i}" for i in range(30)] for number in range(5)] + [[str(i) for i in range(100)]]
        await asyncio.gather(*(world.ask(*one) for one in names))
        assert TOGETHER == 64
        assert [len(one) for one in world.asked] == [60, 60, 30, 100]

    run(scene)


def test_a_look_begins_after_it_was_asked_for() -> None:
    async def scene() -> None:
        world = World()
        world.gate.clear()
        first = asyncio.create_task(world.ask("a"))
        while not world.inside:
            await asyncio.sleep(0.001)
        second = asyncio.create_task(world.ask("a"))
        await asyncio.sleep(0)
        world.gate.set()
        assert (await first, await second) == ([("a", 1)], [("a", 2)])

    run(scene)


@pytest.mark.parametrize(("seconds", "rests"), [(1 / 256, []), (1 / 128, [1 / 128] * 3), (0.25, [0.25] * 3)])
def test_behind_a_long_look_there_is_a_rest_as_long(seconds: float, rests: list[float]) -> None:
    async def scene() -> None:
        assert 1 / 256 < NOTICED < 1 / 128
        world = World(seconds)
        for _ in range(3):
            await world.ask("wide")
        assert world.looks._looking is not None
        await world.looks._looking
        assert world.rested == rests

    run(scene)


def test_a_failure_is_told_to_those_who_asked_together_and_to_nobody_else() -> None:
    async def scene() -> None:
        world = World()
        world.failing = "a"
        told = await asyncio.gather(world.ask("a"), world.ask("b"), return_exceptions=True)
        assert [type(one) for one in told] == [TidewireError, TidewireError]
        assert await world.ask("b") == [("b", 2)]

    run(scene)


def test_nothing_is_looked_for_who_has_left() -> None:
    async def scene() -> None:
        world = World()
        world.gate.clear()
        first = asyncio.create_task(world.ask("a"))
        while not world.inside:
            await asyncio.sleep(0.001)
        leaving, staying = asyncio.create_task(world.ask("b")), asyncio.create_task(world.ask("c"))
        await asyncio.sleep(0)
        leaving.cancel()
        first.cancel()
        await asyncio.sleep(0)
        world.gate.set()
        assert await staying == [("c", 2)]
        assert world.asked == [["a"], ["c"]]

    run(scene)
