"""The log of a running stack: looked at, read at a version, asked about the past, and made a state of."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.stack.live_stack import LiveStack, eventually
from tidewire import cli
from tidewire.client.client import Client
from tidewire.verification.reading import verify_kafka

pytestmark = [pytest.mark.stack, pytest.mark.timeout(1200)]
DDL = "CREATE TABLE stock (id BIGINT PRIMARY KEY, price BIGINT)"
QUESTION = "SELECT MIN(price) FROM stock WHERE id BETWEEN 1 AND 3"
ROWS = [
    "SELECT id, price FROM stock WHERE price > 50 OR id IN (1, 2)",
    "SELECT id, price FROM stock WHERE id <> 0 NOTIFY TRANSITIONS",
    "SELECT SUM(price), COUNT(*) FROM stock WHERE NOT (id = 3 AND price > 20)",
    "SELECT id, price FROM stock WHERE id > 0 ORDER BY price DESC, id LIMIT 2",
]
Ask = Callable[..., list[dict[str, Any]]]


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveStack]:
    live = LiveStack(tmp_path_factory.mktemp("stack") / "data", edges=1, log_seconds=1)
    live.start()
    yield live
    live.stop()


@pytest.fixture
def ask(stack: LiveStack, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Run a command with --json against the stack and return its objects."""

    def run(*arguments: str) -> list[dict[str, Any]]:
        where = ["--data-dir", str(stack.settings.data_dir)]
        if arguments[0] not in ("log", "rebuild"):
            where += ["--bootstrap", stack.settings.address]
        capsys.readouterr()
        assert cli.run([*arguments, *where, "--json"]) == 0
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return run


def logged(ask: Ask) -> int:
    try:
        return int(ask("log")[0]["rows"])
    except AssertionError:
        return 0


def test_the_past_joins_the_present(stack: LiveStack, ask: Ask) -> None:
    chance, rows = random.Random(7), dict[int, int]()
    with Client(stack.settings.address) as client:
        client.apply(DDL, 240)
        for number in range(60):
            rows[chance.randrange(5)] = price = chance.randrange(100)
            client.publish("stock", [{"id": [k for k, v in rows.items() if v == price][-1], "price": price}])
            if number % 20 == 19:
                eventually(lambda count=number + 1: logged(ask) >= count, "the log")
    rows = {row["id"]: row["price"] for row in ask("rows", "stock", "--at", str(ask("log")[0]["newest"]["version"]))}
    assert rows == {row["id"]: row["price"] for row in ask("rows", "stock")}
    told = ask("backtest", QUESTION, "--as-of", "0")
    assert told[0]["told"] == {"n": 1, "kind": "snapshot"}
    *_, summary = told
    assert summary["summary"]["answer"] == min(price for id, price in rows.items() if 1 <= id <= 3)
    ack, *history, end = ask("subscribe", "later", QUESTION, "--as-of", "0", "--timeout", "240")
    assert ack["status"] == "live"
    assert [one["told"] for one in history] == [one["told"] for one in told[:-1]]
    assert end["summary"] == summary["summary"]
    for number, sql in enumerate(ROWS):
        told = ask("backtest", sql, "--as-of", "0")
        ack, *history, end = ask("subscribe", f"rows{number}", sql, "--as-of", "0", "--timeout", "240")
        assert (ack["status"], end["summary"]) == ("live", told[-1]["summary"])
        assert [one["told"] for one in history] == [one["told"] for one in told[:-1]] and len(history) > 2
    with Client(stack.settings.address) as client:
        client.publish("stock", [{"id": 2, "price": -1}])
    eventually(lambda: not any(table.lag for table in stack.look().tables), "the last row")
    report = verify_kafka(stack.kafka, stack.topics, 60)
    assert report.clean, report


@pytest.mark.ordeal
def test_a_lost_state_comes_back(stack: LiveStack, ask: Ask) -> None:
    before = ask("rows", "stock")
    epoch = stack.look().engine.epoch
    eventually(lambda: logged(ask) == 61, "the log")
    answer = ask("rebuild", "stock")[0]
    shutil.rmtree(Path(stack.settings.checkpoint_location) / "state")
    eventually(lambda: (stack.look().engine.epoch or 0) > (epoch or 0), "a new epoch")
    with Client(stack.settings.address) as client:
        client.publish("stock", [{"id": 2, "price": -2}])
    eventually(lambda: not any(table.lag for table in stack.look().tables), "the last row")
    after = ask("rows", "stock")
    assert Path(answer["checkpoint"]).is_dir()
    assert after == [row | ({"price": -2} if row["id"] == 2 else {}) for row in before]
    report = verify_kafka(stack.kafka, stack.topics, 60)
    assert report.clean, report
    assert report.right > 0
