"""Filters on a whole stack: what a client holds and what an edge says over HTTP, also after an engine's death."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx
import msgspec
import pytest

from tests.stack.hearer import Hearer
from tests.stack.live_stack import LiveStack, eventually
from tidewire.client.client import Client
from tidewire.client.held_answer import HeldAnswer
from tidewire.client.pushed_answers import PushedAnswers
from tidewire.client.records import Delivery

pytestmark = [pytest.mark.stack, pytest.mark.timeout(900)]
DDL = "CREATE TABLE stock (id INTEGER PRIMARY KEY, symbol VARCHAR, price DECIMAL(8,2))"
SQL = "SELECT symbol, price FROM stock WHERE price < 10 OR symbol LIKE 'A%'"
FIRST = [{"id": n, "symbol": symbol, "price": price} for n, (symbol, price) in enumerate(
    [("A", "10.25"), ("A", "10.25"), ("B", "9.50"), ("C", "20.00")]
)]  # fmt: skip
MET = Counter([("A", "10.25"), ("A", "10.25"), ("B", "9.50")])


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveStack]:
    live = LiveStack(tmp_path_factory.mktemp("rows"), edges=1)
    live.start()
    yield live
    live.stop()


@pytest.fixture(scope="module")
def client(stack: LiveStack) -> Iterator[Client]:
    with Client(stack.settings.address) as one:
        one.apply(DDL)
        one.publish("stock", FIRST)
        yield one


def door(stack: LiveStack) -> str:
    addresses = [edge.health["address"] for edge in stack.look().edges if edge.health]
    return str(addresses[0])


def get(stack: LiveStack, path: str) -> httpx.Response:
    """Ask until the edge may answer."""

    def answer() -> httpx.Response | None:
        response = httpx.get(f"http://{door(stack)}/subscriptions/{path}", timeout=30)
        return None if response.status_code == 503 else response

    found: httpx.Response = eventually(answer, f"an answer to {path}", 60)
    return found


def looked(stack: LiveStack, name: str) -> tuple[dict[str, Any], Counter[Any]]:
    head, *rows = map(msgspec.json.decode, get(stack, f"{name}/rows").content.splitlines())
    return head, Counter(map(tuple, rows))


def test_a_filter_is_held_and_looked_up(stack: LiveStack, client: Client, hearer: Hearer) -> None:
    for name, deliver in (("a", "records"), ("p", "packed")):
        ack = client.subscribe(name, SQL, deliver=deliver)
        assert ack.form == "bag"
        eventually(lambda name=name: hearer.held(name).rows == MET, f"the rows of {name}", 60)
    body = get(stack, "a").json()
    assert (body["form"], body["rows"], "answer" in body) == ("bag", 3, False)
    head, rows = looked(stack, "a")
    assert (rows, head["rows"], head["n"], head["version"]) == (MET, 3, body["n"], body["version"])
    told = {name: hearer.held(name).mark[1] for name in ("a", "p")}
    client.publish("stock", [{"id": 3, "symbol": "C", "price": "1.00"}, {"id": 0, "symbol": "A", "price": "11.00"}])
    after = Counter([("A", "11.00"), ("A", "10.25"), ("B", "9.50"), ("C", "1.00")])
    for name in ("a", "p"):
        eventually(lambda name=name: hearer.held(name).rows == after, f"the changed rows of {name}", 60)
        assert hearer.held(name).mark[1] == told[name] + 2
    assert looked(stack, "a")[1] == after


def test_what_is_only_pushed_begins_with_its_rows(stack: LiveStack, client: Client, hearer: Hearer) -> None:
    client.subscribe("q", SQL + " DELIVER PUSH")
    with PushedAnswers("q", lambda: [door(stack)]) as answers:
        one = HeldAnswer()
        one.take(next(told for told in answers if isinstance(told, Delivery)))
        assert one.rows == hearer.held("a").rows
        client.delete("stock", [0])
        while one.mark[1] < 2:
            told = next(answers)
            assert not isinstance(told, Delivery) or one.take(told)
        assert one.rows == Counter([("A", "10.25"), ("B", "9.50"), ("C", "1.00")])


@pytest.mark.ordeal
def test_after_the_death_of_an_engine_the_rows_are_the_same(stack: LiveStack, client: Client, hearer: Hearer) -> None:
    before = hearer.held("a").mark
    stack.kill("engine")
    stack.await_ready("engine")
    client.publish("stock", [{"id": 9, "symbol": "AA", "price": "3.00"}])
    after = Counter([("A", "10.25"), ("B", "9.50"), ("C", "1.00"), ("AA", "3.00")])
    eventually(lambda: hearer.held("a").rows == after, "the rows after the engine's death", 120)
    assert hearer.held("a").mark[0] == before[0] and hearer.held("a").mark[1] >= before[1] + 1
    assert looked(stack, "a")[1] == after
    client.unsubscribe("a")
    eventually(lambda: get(stack, "a").status_code == 404, "the end", 60)
    assert get(stack, "a/rows").status_code == 404
    assert not hearer.held("a").whole
