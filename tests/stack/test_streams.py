"""Streams on a whole stack: what dies on the way, a partition that stalls, a new epoch; what is final stays so.

Events of three partitions come about as they happened, minute after minute, none of them late. Whatever is killed, in
the end each question about a minute has the answer that plain Python makes of all events, told as final once and never
again; and `verify` finds nothing wrong.
"""

from __future__ import annotations

import datetime as dt
import random
import time
from collections.abc import Iterator
from typing import Any

import pytest

from connectors.kafka.producer import Producer
from connectors.record import OutRecord
from tests.stack.hearer import Hearer
from tests.stack.live_stack import LiveStack, eventually
from tests.stack.stack_program import PROGRAM
from tidewire.client.client import Client
from tidewire.client.held_answer import HeldAnswer
from tidewire.verification.reading import verify_kafka

pytestmark = [pytest.mark.stack, pytest.mark.timeout(1800)]
DDL = """
CREATE STREAM trade (symbol VARCHAR, price INTEGER, ts TIMESTAMP)
  WITH ('topic'='trades', 'event_time'='ts', 'lateness'='30 s');
CREATE VIEW bars AS
  SELECT symbol, DATE_TRUNC('minute', ts) AS minute, MIN(price) AS low, MAX(price) AS high, COUNT(*) AS n
  FROM trade GROUP BY symbol, DATE_TRUNC('minute', ts)
"""
BEGIN = dt.datetime(2026, 3, 2, 10)
MINUTES, PARTITIONS, SYMBOLS = 12, 3, "abc"
LONG = 400.0


class Market:
    """Publishes the events of a minute to all partitions, in an order that is never more than some seconds wrong."""

    def __init__(self, stack: LiveStack) -> None:
        self.prices: dict[tuple[str, int], list[int]] = {}
        self._producer = Producer(stack.kafka, linger=0)
        self._choose = random.Random(20_261_130)

    def trade(self, minute: int, but: int | None = None) -> None:
        """Let a minute happen, in all partitions `but` one."""
        for second in range(0, 60, 2):
            for partition in range(PARTITIONS):
                if partition != but:
                    self._one(partition, minute, min(59, max(0, second + self._choose.randint(-9, 9))))
        self._producer.flush()

    def _one(self, partition: int, minute: int, second: int) -> None:
        symbol, price = self._choose.choice(SYMBOLS), self._choose.randrange(100)
        ts = (BEGIN + dt.timedelta(minutes=minute, seconds=second)).isoformat()
        value = f'{{"symbol":"{symbol}","price":{price},"ts":"{ts}"}}'.encode()
        self._producer.send(OutRecord("trades", partition, None, value))
        self.prices.setdefault((symbol, minute), []).append(price)


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveStack]:
    live = LiveStack(tmp_path_factory.mktemp("streams"), PROGRAM)
    live.start()
    yield live
    live.stop()


@pytest.fixture(scope="module")
def client(stack: LiveStack) -> Iterator[Client]:
    with Client(stack.settings.address) as one:
        one.apply(DDL, timeout=LONG, partitions=PARTITIONS)
        yield one


@pytest.fixture(scope="module")
def market(stack: LiveStack, client: Client) -> Market:
    return Market(stack)


def at(minute: int) -> str:
    return f"TIMESTAMP '{BEGIN + dt.timedelta(minutes=minute)}'"


def ask(client: Client, minute: int) -> None:
    where = f"symbol = 'a' AND minute = {at(minute)}"
    client.subscribe(f"high-{minute}", f"SELECT MAX(high) FROM bars WHERE {where}", timeout=LONG)
    client.subscribe(
        f"once-{minute}", f"SELECT SUM(n) FROM bars WHERE minute <= {at(minute)} NOTIFY FINAL", timeout=LONG
    )
    client.subscribe(f"rows-{minute}", f"SELECT symbol, low, n FROM bars WHERE minute = {at(minute)}", timeout=LONG)


def final(hearer: Hearer, name: str) -> bool:
    return any(one.kind == "final" for one in hearer.deliveries(name))


def check(hearer: Hearer, market: Market, minute: int) -> None:
    """Wait until what was asked about a minute is final, and compare it with all events of it."""
    for name in ("high", "once", "rows"):
        eventually(lambda name=name: final(hearer, f"{name}-{minute}"), f"{name}-{minute} to be final", LONG)
    prices = market.prices
    assert answer(hearer, f"high-{minute}") == max(prices[("a", minute)])
    assert answer(hearer, f"once-{minute}") == sum(len(found) for (_, m), found in prices.items() if m <= minute)
    rows = {(symbol, min(found), len(found)) for (symbol, m), found in prices.items() if m == minute}
    assert set(answer(hearer, f"rows-{minute}")) == rows


def answer(hearer: Hearer, name: str) -> Any:
    """What a client holds when it is told that this is final; nothing but an end may follow."""
    held, told = HeldAnswer(), hearer.deliveries(name)
    place = next(i for i, one in enumerate(told) if one.kind == "final")
    for one in told[: place + 1]:
        held.take(one)
    assert [one.kind for one in told[place + 1 :]] == (["ended"] if name.startswith("once") else [])
    assert [one.n for one in told if not one.same] == [*range(1, len([one for one in told if not one.same]) + 1)]
    return held.rows.elements() if held.form == "bag" else held.answer


def test_what_dies_amid_windows(stack: LiveStack, client: Client, hearer: Hearer, market: Market) -> None:
    for minute in range(MINUTES):
        ask(client, minute)
    for minute in range(4):
        market.trade(minute)
        if minute == 1:
            stack.kill_session("engine")
        elif minute == 2:
            stack.kill("edge-0")
        time.sleep(1)
    stack.await_ready("engine", "edge-0", "edge-1")
    for minute in range(3):
        check(hearer, market, minute)


def test_a_partition_that_stalls_is_named_until_it_is_silent(
    stack: LiveStack, client: Client, hearer: Hearer, market: Market
) -> None:
    market.trade(4, but=1)
    market.trade(5, but=1)
    stack.await_all_read()
    (stream,) = eventually(lambda: stack.look().streams, "the stream's counters", LONG)
    held = eventually(lambda: stack.look().streams[0].held_back_by, "what holds it back", LONG)
    assert (stream.name, stream.views, held.topic, held.partition) == ("trade", ["bars"], "trades", 1)
    assert not final(hearer, "high-4")
    client.silence("trade", BEGIN + dt.timedelta(minutes=5, seconds=30), timeout=LONG)
    check(hearer, market, 3)
    check(hearer, market, 4)


@pytest.mark.ordeal
def test_the_power_fails_and_nothing_final_is_taken_back(
    stack: LiveStack, client: Client, hearer: Hearer, market: Market
) -> None:
    before = {name: hearer.deliveries(name) for name in ("high-0", "once-1", "rows-2")}
    market.trade(6)
    stack.kill_session("engine")
    market.trade(7)
    stack.await_ready("engine")
    stack.kill("edge-1")
    market.trade(8)
    stack.await_ready("engine", "edge-0", "edge-1")
    for minute in range(5, 8):
        check(hearer, market, minute)
    assert {name: hearer.deliveries(name) for name in before} == before


def test_who_comes_later_hears_the_same(stack: LiveStack, client: Client, hearer: Hearer, market: Market) -> None:
    client.subscribe("late", f"SELECT MAX(high) FROM bars WHERE symbol = 'a' AND minute = {at(2)}", timeout=LONG)
    eventually(lambda: final(hearer, "late"), "a final answer", LONG)
    assert answer(hearer, "late") == answer(hearer, "high-2")


def test_verify_finds_nothing_wrong(stack: LiveStack, client: Client, market: Market) -> None:
    stack.await_all_read()
    report = verify_kafka(stack.kafka, stack.topics, LONG)
    assert report.clean, report
    assert report.deliveries > 0
