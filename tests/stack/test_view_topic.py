"""Views on a whole stack, written to topics: what a plain consumer of Kafka makes of them, whatever dies on the way.

A consumer that knows nothing of tidewire but the header's rule drops repeats, and folds the rest by key. What it has is
compared with what plain Python makes of all that was published, and with what `tidewire rows` says; `verify` compares
each record with what it computes itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.stack.live_stack import PATIENCE, LiveStack, eventually
from tests.stack.stack_program import PROGRAM
from tests.stack.test_views import DDL, LONG, LOWS, SECTORS, Trades
from tidewire import cli
from tidewire.client.client import Client
from tidewire.verification.compare.report import Report
from tidewire.verification.reading import verify_kafka

pytestmark = [pytest.mark.stack, pytest.mark.timeout(1800)]
Rows = dict[bytes, dict[str, Any]]


@dataclass
class Folded:
    """What a consumer makes of a topic: the newest row of each key, and what it dropped as a repeat."""

    rows: Rows = field(default_factory=dict)
    repeats: int = 0
    last: dict[tuple[int, str], tuple[int, int, int]] = field(default_factory=dict)
    told: set[tuple[bytes, str, int, int]] = field(default_factory=set)

    def take(self, partition: int, key: bytes, value: bytes | None, header: dict[str, Any]) -> None:
        place, number = (partition, header["shard"]), (header["epoch"], header["batch"], header["n"])
        if number <= self.last.get(place, (-1, -1, -1)):
            self.repeats += 1
            return
        self.last[place] = number
        row = None if value is None else json.loads(value)
        if "at" in header:
            cause = (key, *header["at"].values())
            assert cause not in self.told, "each change once"
            assert self.rows.get(key) != row, "a change changes something"
            self.told.add(cause)
        if row is None:
            self.rows.pop(key, None)
        else:
            self.rows[key] = row


def folded(stack: LiveStack, topic: str) -> Folded:
    """Read a topic whole, as any program does."""
    made = Folded()
    properties = {"bootstrap.servers": stack.settings.address, "group.id": "plain", "enable.partition.eof": True}
    for partition in range(4):
        consumer = Consumer(properties | {"isolation.level": "read_committed"})
        consumer.assign([TopicPartition(topic, partition, 0)])
        while (message := consumer.poll(30)) is not None and message.error() is None:
            [(name, header)] = message.headers()
            assert name == "tidewire"
            made.take(partition, message.key(), message.value(), json.loads(header))
        consumer.close()
    return made


def keyed(*rows: tuple[dict[str, Any], dict[str, Any]]) -> Rows:
    return {json.dumps(key, separators=(",", ":")).encode(): key | row for key, row in rows}


def lows(traffic: Trades) -> Rows:
    return keyed(*(({"g": g}, {"low": low, "n": n}) for g, (low, n) in traffic.lows().items()))


def sectors(traffic: Trades) -> Rows:
    return keyed(*(({"sector": s}, {"high": high, "n": n}) for s, high, n in traffic.sectors()))


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveStack]:
    live = LiveStack(tmp_path_factory.mktemp("topics"), PROGRAM, edges=1)
    live.start()
    yield live
    live.stop()


@pytest.fixture(scope="module")
def client(stack: LiveStack) -> Iterator[Client]:
    with Client(stack.settings.address) as one:
        one.apply(DDL, timeout=LONG)
        yield one


@pytest.fixture(scope="module")
def traffic(stack: LiveStack, client: Client) -> Iterator[Trades]:
    made = Trades(stack)
    yield made
    made.close()


def check(stack: LiveStack, traffic: Trades, topic: str, truth: Callable[[Trades], Rows]) -> Folded:
    """While nothing is published, wait until a consumer has what the tables come to."""
    with traffic.stilled():
        meant = truth(traffic)
        return eventually(
            lambda: (found := folded(stack, topic)).rows == meant and found, f"{topic} to be {meant}", LONG
        )


def verified(stack: LiveStack) -> Report:
    """Judge all that was ever written."""
    report = verify_kafka(stack.kafka, stack.topics, PATIENCE)
    assert report.clean, (report, report.faults)
    return report


def written(ddl: str, topic: str) -> str:
    return ddl.replace(" AS", f" WITH ('topic'='{topic}') AS", 1)


def test_a_view_on_rows_that_are_there(stack: LiveStack, client: Client, traffic: Trades) -> None:
    eventually(lambda: len(traffic.trade) > 25, "rows before there is a view")
    client.apply(written(LOWS, "lows-out"), timeout=LONG)
    check(stack, traffic, "lows-out", lows)


def test_an_engine_that_dies_under_load(stack: LiveStack, client: Client, traffic: Trades) -> None:
    client.apply(written(SECTORS, "sectors-out"), timeout=LONG)
    for _ in range(2):
        stack.kill_session("engine")
        stack.await_ready("engine")
        check(stack, traffic, "sectors-out", sectors)
        check(stack, traffic, "lows-out", lows)


def test_rows_says_the_same(
    stack: LiveStack, client: Client, traffic: Trades, capsys: pytest.CaptureFixture[str]
) -> None:
    with traffic.stilled():
        stack.await_all_read()
        capsys.readouterr()
        where = ["--data-dir", str(stack.settings.data_dir), "--bootstrap", stack.settings.address]
        assert cli.run(["rows", "lows", *where, "--json"]) == 0
        said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        meant = keyed(*(({"g": row.pop("g")}, row) for row in said))
        assert folded(stack, "lows-out").rows == meant == lows(traffic)


def test_another_view_on_the_topic_leaves_nothing_of_the_one_before(
    stack: LiveStack, client: Client, traffic: Trades
) -> None:
    client.apply("DROP VIEW sectors; DROP VIEW lows", timeout=LONG)
    anew = LOWS.replace("GROUP BY g", "GROUP BY g HAVING COUNT(*) > 2").replace("MIN(x)", "MAX(x)")
    client.apply(written(anew, "lows-out"), timeout=LONG)
    assert verified(stack).written > 0

    def truth(now: Trades) -> Rows:
        groups: dict[Any, list[int]] = {}
        for row in now.trade.values():
            if row["x"] < 90:
                groups.setdefault(row["g"], []).append(row["x"])
        kept = {g: xs for g, xs in groups.items() if len(xs) > 2}
        return keyed(*(({"g": g}, {"low": max(xs), "n": len(xs)}) for g, xs in kept.items()))

    check(stack, traffic, "lows-out", truth)
    report = verified(stack)
    assert report.right + report.unjudged == report.written > 0
