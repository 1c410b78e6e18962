"""Scenarios on a real stack: they share it, and each meets it as if it were new."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from tidewire.client.records import Ack
from tidewire.scenario.engine import Refusal
from tidewire.scenario.pure import PureEngine
from tidewire.scenario.run import run_scenario
from tidewire.scenario.script import read_scenario
from tidewire.scenario.stack import SharedStack, StackEngine, embedded_engines

SCENARIOS = Path(__file__).parents[2] / "scenarios"
KINDS = ["policies", "filter_mixed", "join_cells", "view_flights", "audience_offers", "view_in_join"]
IN_EACH_RUN = "audience_offers"
ASKED = "SELECT MIN(y) FROM t"


def rows_of(engine: StackEngine, id: str) -> list[object]:
    return [delivery["new"] for delivery in engine.deliveries(id)]


@pytest.fixture(scope="module")
def make() -> Iterator[Callable[[], AbstractContextManager[StackEngine]]]:
    """Makes engines that share a stack."""
    with embedded_engines() as made:
        yield made


@pytest.mark.stack
@pytest.mark.timeout(1800)
def test_scenarios_share_a_stack_and_know_nothing_of_each_other(
    make: Callable[[], AbstractContextManager[StackEngine]],
) -> None:
    with make() as first:
        first.declare("CREATE TABLE t (id INTEGER PRIMARY KEY, y INTEGER)")
        assert first.subscribe("a", ASKED) is None
        first.publish("t", [{"id": 1, "y": 7}])
        assert rows_of(first, "a") == [None, 7]
        for _ in range(2):
            first.unsubscribe("a")
            assert first.subscribe("a", ASKED) is None
            assert [delivery["kind"] for delivery in first.deliveries("a")] == ["ended", "snapshot"]
    with make() as second:
        refused = second.subscribe("a", ASKED)
        assert isinstance(refused, Refusal) and refused.code == "unknown_table"
        assert second.deliveries("a") == []
        second.declare("CREATE TABLE t (id INTEGER PRIMARY KEY, y DOUBLE)")
        assert second.subscribe("a", ASKED) is None
        assert rows_of(second, "a") == [None]
        second.publish("t", [{"id": 2, "y": 9}])
        second.restart()
        second.delete("t", [{"id": 2}])
        assert rows_of(second, "a") == [9, None]


@pytest.mark.stack
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[] if kind == IN_EACH_RUN else pytest.mark.ordeal) for kind in KINDS]
)
def test_what_the_pure_engine_says_a_stack_says(
    make: Callable[[], AbstractContextManager[StackEngine]], kind: str
) -> None:
    path = SCENARIOS / f"{kind}.jsonl"
    with make() as engine:
        assert run_scenario(path, read_scenario(path), engine) is None


STEPS = ["publish t", "publish u", "subscribe a", "subscribe b", "latest c", "refused d"]
STEPS += ["unsubscribe a", "unsubscribe c", "expect a", "expect b", "restart"]


RELATION = apply_ddl(Catalog(), "CREATE TABLE t (id INTEGER PRIMARY KEY, y INTEGER)", 0).relations["t"]


class Watched:
    """A stack's watch, and the client's part of it, that notes what is done and what is waited for."""

    def __init__(self) -> None:
        self.client = self
        self.waits = 0
        self.open: set[str] = set()
        self.beginning: dict[str, int] = {}
        self.ending: set[str] = set()
        self.live: set[str] = set()
        self.version = 0

    def apply(self, ddl: str, **_: object) -> None: ...

    def relation(self, table: str) -> Any:
        return replace(RELATION, topic=table)

    def send(self, table: str, records: object) -> None:
        assert not self.beginning, "its first answer could hold the publication"
        assert "c" not in self.live or not self.open, "LATEST would tell two publications as one"
        self.open.add(table)

    def register(self, id: str, value: bytes) -> Ack:
        assert not self.open, "the first answer could lack a publication"
        assert id not in self.beginning, "the version before could be replaced before it begins"
        self.version += 1
        if id == "d":
            return Ack(id, self.version, "refused", code="syntax", message="no")
        self.live.add(id)
        self.beginning[id] = self.version
        return Ack(id, self.version, "accepted")

    def unsubscribe(self, id: str) -> None:
        assert not self.open and not self.beginning
        if id in self.live:
            self.live.remove(id)
            self.ending.add(id)

    def await_settled(self, topics: set[str]) -> None:
        self.waits += bool(topics)
        assert topics == self.open
        self.open = set()

    def await_begun(self, id: str, version: int, patience: float = 0) -> None:
        self.waits += 1
        assert self.beginning.pop(id) == version

    def await_ended(self, id: str, version: int, patience: float = 0) -> None:
        self.ending.discard(id)

    def await_restarted(self) -> None:
        self.settled()

    def take(self, id: str) -> list[Any]:
        self.settled()
        return []

    def settled(self) -> None:
        assert not self.open and not self.beginning and not self.ending


def walk(steps: list[str]) -> Watched:
    watch = Watched()
    engine = StackEngine(SharedStack(watch))  # type: ignore[arg-type]
    for step in steps:
        verb, _, name = step.partition(" ")
        if verb == "publish":
            engine.publish(name, [{"id": 1, "y": 2}])
        elif verb in ("subscribe", "latest", "refused"):
            refusal = engine.subscribe(name, ASKED + (" NOTIFY LATEST" if verb == "latest" else ""))
            assert (refusal is not None) is (verb == "refused")
        elif verb == "unsubscribe":
            engine.unsubscribe(name)
        elif verb == "expect":
            engine.deliveries(name)
        else:
            engine.restart()
    return watch


@given(st.lists(st.sampled_from(STEPS)))
def test_steps_wait_where_what_follows_could_tell_the_difference(steps: list[str]) -> None:
    walk(steps)


def test_steps_wait_nowhere_else() -> None:
    many = ["publish t", "publish u"] * 50
    assert walk(["subscribe a", "subscribe b", *many, "expect a", "expect b"]).waits == 3
    assert walk(["latest c", *many]).waits == 101


PUBLICATIONS = [f'{{"publish": "t", "rows": [{{"id": {i % 7}, "y": {i * 37 % 101}}}]}}' for i in range(150)]
MANY = [
    '{"scenario": "many publications", "needs": ["range_min"]}',
    '{"catalog": "CREATE TABLE t (id INTEGER PRIMARY KEY, y INTEGER)"}',
    *PUBLICATIONS[:5],
    *(f'{{"subscribe": "{name}", "sql": "SELECT {item} FROM t"}}' for name, item in (("a", "MIN(y)"), ("b", "SUM(y)"))),
    *PUBLICATIONS[5:],
    '{"subscribe": "c", "sql": "SELECT MAX(y), COUNT(*) FROM t NOTIFY LATEST"}',
    *PUBLICATIONS[:3],
    '{"publish": "t", "delete": [{"id": 0}]}',
]


@pytest.mark.stack
@pytest.mark.timeout(1800)
def test_publications_do_not_wait_one_by_one(
    tmp_path: Path, make: Callable[[], AbstractContextManager[StackEngine]]
) -> None:
    path = tmp_path / "many.jsonl"
    told = {}
    for id in "abc":
        path.write_text("\n".join([*MANY, f'{{"expect": "{id}", "rows": [], "notified": -1}}']))
        failure = run_scenario(path, read_scenario(path), PureEngine())
        assert failure is not None
        told[id] = failure.got
    expected = (json.dumps({"expect": id, **told[id]}) for id in "abc")
    path.write_text("\n".join([*MANY, *expected]))
    with make() as engine:
        began = time.monotonic()
        assert run_scenario(path, read_scenario(path), engine) is None
        print(f"{len(PUBLICATIONS)} publications: {time.monotonic() - began:.1f} s")
