"""Rows of bags come into answers, shared where they are new enough, and nothing between look and stream is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.http.answer import Answer, Elsewhere, Found, NotNow, Unknown
from connectors.http.gateway import Looked, NoBag, TooManyRows
from connectors.http.rules import HttpRules
from connectors.http.stream import Stream
from connectors.kafka.partitioner import home_partition
from connectors.record import OutRecord
from overlay.delivery.bag_delivery import bag_change
from overlay.delivery.delivery import change_head, changed, json_text
from overlay.push.board import PushBoard
from overlay.push.row_looks import RowLooks, lacks_rows
from state.errors import TidewireError
from tests.overlay.push_world import PARTITIONS, TOPICS

AT = {"epoch": 0, "batch": 3}


def bag(name: str = "s", n: int = 1, **said: object) -> Found:
    body = {"id": name, "status": "live", "version": 5, "n": n, "form": "bag", "rows": 0, "at": AT, "sql": "SELECT"}
    return Found({**body, **said})


class Shard:
    """Answers looks when it is told to; `asked` are those under way and done, in order."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, asyncio.Future[Any]]] = []

    async def look(self, identifier: str) -> Any:
        self.asked.append((identifier, asyncio.get_running_loop().create_future()))
        return await self.asked[-1][1]

    def answer(self, number: int, said: Any) -> None:
        future = self.asked[number][1]
        if isinstance(said, Exception):
            future.set_exception(said)
        else:
            future.set_result(said)


def run(scene: Callable[[], Coroutine[None, None, None]]) -> None:
    asyncio.run(scene())


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def looked(n: int, *rows: str) -> Looked:
    return Looked(5, n, AT, "SELECT", list(rows))


def value(answer: Answer) -> tuple[object, object]:
    assert isinstance(answer, Found)
    body = msgspec.json.decode(msgspec.json.encode(answer.body))
    return body["n"], body.get("answer", body.get("snapshot"))


def test_only_live_bags_without_rows_lack_them() -> None:
    assert lacks_rows(bag())
    for other in (
        bag(answer=[]),
        bag(snapshot="none"),
        bag(status="accepted"),
        Found({"id": "s", "status": "live", "form": "list", "answer": []}),
        Unknown(),
        Elsewhere("a:1"),
        NotNow("no"),
        None,
    ):
        assert not lacks_rows(other)


def test_who_asks_while_a_look_is_under_way_shares_the_next_one() -> None:
    async def scene() -> None:
        looks, shard = RowLooks(), Shard()
        looks.rows = shard
        asked = []
        for _ in range(3):
            asked.append(asyncio.create_task(looks.filled(["s"], [bag()])))
            await settled()
        assert len(shard.asked) == 1
        shard.answer(0, looked(4, '["a"]'))
        await settled()
        assert len(shard.asked) == 2
        asked.append(asyncio.create_task(looks.filled(["s"], [bag()])))
        await settled()
        shard.answer(1, looked(6, '["b"]'))
        await settled()
        shard.answer(2, looked(7))
        first, second, third, last = await asyncio.gather(*asked)
        assert value(first[0]) == (4, [["a"]])
        assert second[0] is third[0] and value(second[0]) == (6, [["b"]])
        assert value(last[0]) == (7, [])
        assert not looks._running and not looks._next

    run(scene)


@pytest.mark.parametrize(
    ("said", "expected"),
    [(TooManyRows("too many"), (1, "none")), (NoBag(), (1, None))],
)
def test_rows_that_are_not_given(said: object, expected: tuple[object, object]) -> None:
    async def scene() -> None:
        looks, shard = RowLooks(), Shard()
        looks.rows = shard
        asked = asyncio.create_task(looks.filled(["s"], [bag()]))
        await settled()
        shard.answer(0, said)
        assert value((await asked)[0]) == expected

    run(scene)


def test_so_many_look_at_a_time_and_a_failure_is_told_to_who_asked() -> None:
    async def scene() -> None:
        looks, shard = RowLooks(2), Shard()
        looks.rows = shard
        names = ["a", "b", "c", "v"]
        asked = asyncio.create_task(looks.filled(names, [bag(name) for name in "abc"] + [Unknown()]))
        failed = asyncio.create_task(looks.filled(["d"], [bag("d")]))
        await settled()
        assert [name for name, _ in shard.asked] == ["a", "b"]
        shard.answer(0, looked(1))
        shard.answer(1, Unknown())
        await settled()
        assert [name for name, _ in shard.asked] == ["a", "b", "c", "d"]
        shard.answer(2, NotNow("moving"))
        shard.answer(3, TidewireError("no batch has ended"))
        a, b, c, v = await asked
        assert (value(a), b, c, v) == ((1, []), Unknown(), NotNow("moving"), Unknown())
        with pytest.raises(TidewireError):
            await failed
        assert not looks._running

    run(scene)


def test_who_looks_alone_shares_with_streams() -> None:
    async def scene() -> None:
        looks, shard = RowLooks(), Shard()
        assert isinstance(await looks.look("s"), NotNow)
        looks.rows = shard
        first = asyncio.create_task(looks.look("s"))
        await settled()
        second = asyncio.create_task(looks.look("s"))
        third = asyncio.create_task(looks.filled(["s"], [bag()]))
        await settled()
        shard.answer(0, looked(2))
        await settled()
        shard.answer(1, Looked(5, 3, AT, "SELECT", ['["a"]'], (0,)))
        assert (await first).n == 2  # type: ignore[union-attr]
        assert (await second).rows == ['["a"]']  # type: ignore[union-attr]
        [found] = await third
        assert isinstance(found, Found) and found.body["key"] == [0]
        assert len(shard.asked) == 2

    run(scene)


def test_without_anybody_who_looks_answers_stay_as_they_are() -> None:
    async def scene() -> None:
        one = bag()
        assert (await RowLooks().filled(["s"], [one]))[0] is one

    run(scene)


class Committed:
    """A bag of numbers whose changes are committed one by one, and a board that tells them."""

    def __init__(self) -> None:
        self.n, self.rows = 1, list[int]()
        self.board = PushBoard(TOPICS, HttpRules(), lambda names: [bag(name, self.n) for name in names], lambda: 0)
        self.board.partitions = PARTITIONS
        self.shard = self.board.row_looks.rows = Shard()
        self.states: dict[int, list[int]] = {1: []}

    def change(self, row: int) -> None:
        """Add a row, or take one like it away."""
        removed, added = ([f"[{row}]"], []) if row in self.rows and row % 2 else ([], [f"[{row}]"])
        if removed:
            self.rows.remove(row)
        else:
            self.rows.append(row)
        self.n += 1
        self.states[self.n] = sorted(self.rows)
        value = changed(change_head(json_text("s"), 5), self.n, bag_change(removed, added), '{"epoch":0,"batch":3}')
        self.board.committed([OutRecord(TOPICS.deliveries, home_partition(b"s", PARTITIONS), b"s", value)])

    def look(self) -> Looked:
        return looked(self.n, *(f"[{row}]" for row in sorted(self.rows)))


async def opened(board: PushBoard) -> Stream:
    stream = await board.open(["s"], None, 3_600.0, True, True)
    assert not isinstance(stream, Answer)
    return stream


steps = st.lists(st.integers(0, 3) | st.sampled_from(["see", "answer"]), max_size=12)


@given(steps, steps)
def test_a_reader_holds_the_bag_whatever_is_committed_while_rows_are_looked_up(
    first: list[Any], later: list[Any]
) -> None:
    """`see`: the shard comes to the look, as of then; `answer`: the edge hears of it, perhaps some changes later."""

    async def scene() -> None:
        world = Committed()
        opening = asyncio.create_task(opened(world.board))
        while not world.shard.asked:
            await asyncio.sleep(0)
        seen = None
        for step in [*first, "see", *later, "answer"]:
            if step == "see":
                seen = seen or world.look()
            elif step == "answer" and seen is not None and not world.shard.asked[0][1].done():
                world.shard.answer(0, seen)
            elif isinstance(step, int):
                world.change(step)
            await settled()
        stream = await opening
        world.change(2)
        await settled()
        messages = [msgspec.json.decode(line) for line in (await stream.take()).lines]
        assert messages[0]["kind"] == "answer"
        held = [row for [row] in messages[0]["answer"]]
        assert sorted(held) == world.states[messages[0]["n"]]
        for message in messages[1:]:
            for [row] in message["removed"]:
                held.remove(row)
            held += [row for [row] in message["added"]]
            assert sorted(held) == world.states[message["n"]]
        assert messages[-1]["n"] == world.n
        stream.close()

    run(scene)
