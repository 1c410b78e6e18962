"""Looks between the event loop and the edge's thread: told once committed, given up, lost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace

from connectors.http.answer import Answer, Found, NotNow, Unknown
from connectors.http.gateway import Looked, NoBag, TooManyRows
from overlay.delivery.delivery import Position
from overlay.process.shard_looks import Said, ShardLooks
from overlay.subscriptions.bag_looks import Denied, LookedRows, LookRefused, Outcome

BAG = Found({"status": "live", "form": "bag"})
SEEN = LookedRows(3, 4, Position(0, 1), "SELECT", ["[1]"], ())


class Edge:
    """What the edge's thread does, by hand."""

    def __init__(self, answer: Answer = BAG, seconds: float = 5.0) -> None:
        self.looks = ShardLooks(SimpleNamespace(look=lambda _: [answer]), seconds)  # type: ignore[arg-type]
        self.asked: list[int] = []
        self.forgotten: list[int] = []
        self.denied: Denied | None = None

    def step(self) -> None:
        self.looks.ask(self._ask, lambda number, _: self.forgotten.append(number))

    def _ask(self, number: int, key: bytes) -> Denied | None:
        assert number < 0 and key == b"a"
        self.asked.append(number)
        return self.denied

    def see(self, act: Callable[[], object]) -> Said:
        """Return what somebody sees who looks before a step, after which `act` is done."""

        async def scene() -> Said:
            look = asyncio.create_task(self.looks.look("a"))
            while not (self.looks._wanted or look.done()):
                await asyncio.sleep(0.001)
            self.step()
            act()
            return await look

        return asyncio.run(scene())

    def outcome(self, outcome: Outcome) -> Callable[[], Awaitable[None] | None]:
        return lambda: self.looks.told([(self.asked[-1], outcome)])


def test_what_an_edge_says() -> None:
    edge = Edge()
    assert edge.see(edge.outcome(SEEN)) == Looked(3, 4, Position(0, 1), "SELECT", ["[1]"], ())
    assert edge.see(edge.outcome(LookRefused("quota", "many"))) == TooManyRows("many")
    assert isinstance(edge.see(edge.outcome(LookRefused("unfit", "other"))), NotNow)
    assert isinstance(edge.see(edge.outcome(None)), NotNow)
    assert isinstance(edge.see(edge.looks.lost), NotNow)
    edge.step()
    assert not edge.forgotten and not edge.looks._asked


def test_what_is_denied() -> None:
    edge = Edge()
    for denied, said in ((Denied.UNKNOWN, Unknown), (Denied.NO_BAG, NoBag), (Denied.NOT_NOW, NotNow)):
        edge.denied = denied
        assert isinstance(edge.see(lambda: None), said)


def test_what_needs_no_shard() -> None:
    for answer, said in (
        (Unknown(), Unknown),
        (Found({"status": "accepted"}), NotNow),
        (Found({"status": "live", "answer": 1}), NoBag),
    ):
        assert isinstance(Edge(answer).see(lambda: None), said)


def test_a_look_is_given_up_and_forgotten() -> None:
    edge = Edge(seconds=0.05)
    assert isinstance(edge.see(lambda: None), NotNow)
    edge.step()
    assert edge.forgotten == edge.asked
    edge.looks.told([(edge.asked[0], SEEN)])
