"""A broker that is killed in the middle: what was said to be written stands in the topic."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from connectors.kafka.admin import Admin
from connectors.kafka.failure import NotAllWritten
from connectors.kafka.properties import KafkaProperties
from connectors.kafka.reader import Reader
from connectors.topics import Topics
from tidewire import AsyncClient, Client
from tidewire.cli import run
from tidewire.stack.broker import Broker

pytestmark = pytest.mark.broker

DDL = "CREATE TABLE stock (id BIGINT PRIMARY KEY, price DECIMAL(12,2))"
COUNT = 60_000


@pytest.fixture
def bootstrap(mortal_broker: Broker) -> str:
    Admin(KafkaProperties(mortal_broker.bootstrap)).ensure_topics(Topics(), 1)
    with Client(mortal_broker.bootstrap) as client:
        client.apply(DDL, timeout=0)
    return mortal_broker.bootstrap


def ids(bootstrap: str) -> set[int]:
    return {
        json.loads(record.value or b"{}")["id"] for record in Reader(KafkaProperties(bootstrap)).read_to_end("stock")
    }


@pytest.fixture
def how() -> str:
    """How the broker ends."""
    return "killed"


@pytest.fixture
def broken_soon(mortal_broker: Broker, how: str) -> Iterator[None]:
    """Kill the broker once rows have come to it, or stop it where it stands.

    A producer waits for the first of five requests before it sends a sixth: so after seven steps of the topic's end
    the first rows are acknowledged, however long a machine stands still between the writing and the answer.
    """
    assert mortal_broker.child is not None

    def work() -> None:
        reader = Reader(KafkaProperties(mortal_broker.bootstrap))
        steps, end = 0, 0
        while end < COUNT and (end < 10_000 or steps < 7):
            time.sleep(0.01)
            before, end = end, sum(reader.admin.end_offsets("stock").values())
            steps += end > before
        if how == "killed":
            mortal_broker.kill()
        else:
            os.killpg(mortal_broker.child.pid, signal.SIGSTOP)

    killer = threading.Thread(target=work)
    killer.start()
    yield
    killer.join()


@pytest.mark.parametrize("how", ["killed", "hung"])
def test_the_command_says_what_is_written_and_goes_on(
    mortal_broker: Broker,
    bootstrap: str,
    broken_soon: None,
    how: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert mortal_broker.child is not None
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(f'{{"id":{i},"price":"1.5"}}\n\n' for i in range(COUNT)))
    began = time.monotonic()
    where = ["--bootstrap", bootstrap, "--json"]
    assert run(["publish", "stock", str(file), "--timeout", "3", "--rate", "20000", *where]) == 1
    assert time.monotonic() - began < 30
    out, remarks = capfd.readouterr()
    said = json.loads(out)
    assert 0 < said["rows"] < COUNT and said["unsure"] > 0
    assert f"{said['rows']:,} row(s), all up to line {said['from_line'] - 1}, are surely written" in remarks
    if how == "killed":
        mortal_broker.start()
    else:
        os.killpg(mortal_broker.child.pid, signal.SIGCONT)
    reached = ids(bootstrap)
    assert set(range(said["rows"])) <= reached < set(range(COUNT))
    told = [int(number.replace(",", "")) for number in re.findall(r"([\d,]+) rows written", remarks)]
    assert told and max(told) <= len(reached)
    again = re.search(rf"publish stock {file} .*--from-line {said['from_line']}$", remarks, re.MULTILINE)
    assert again is not None
    assert run([word for word in again[0].split(" ") if word not in ("--rate", "20000.0")] + ["--json"]) == 0
    assert json.loads(capfd.readouterr().out)["rows"] == COUNT - said["rows"]
    assert ids(bootstrap) == set(range(COUNT))


class InTasks:
    """`AsyncClient`, called from outside of tasks."""

    def __init__(self, bootstrap: str) -> None:
        self._client = AsyncClient(bootstrap)

    def publish(self, table: str, rows: list[dict[str, int]]) -> int:
        return asyncio.run(self._client.publish(table, rows))

    def close(self) -> None:
        asyncio.run(self._client.close())


@pytest.mark.parametrize("kind", [Client, InTasks])
def test_clients_say_so_too_and_send_nothing_later(
    mortal_broker: Broker,
    bootstrap: str,
    broken_soon: None,
    monkeypatch: pytest.MonkeyPatch,
    kind: type[Client] | type[InTasks],
) -> None:
    monkeypatch.setattr("connectors.kafka.light._ACKNOWLEDGED_SECONDS", 4.0)
    rows = [{"id": i, "price": 1} for i in range(COUNT)]
    client = kind(bootstrap)
    with pytest.raises(NotAllWritten, match="surely written; of the next") as stopped:
        client.publish("stock", rows)
    failure = stopped.value
    assert failure.written + failure.unsure == COUNT and failure.unsure > 0 and failure.retry_helps
    mortal_broker.start()
    reached = ids(bootstrap)
    assert set(range(failure.written)) <= reached < set(range(COUNT))
    time.sleep(3)
    assert ids(bootstrap) == reached
    assert client.publish("stock", rows[failure.written :]) == failure.unsure
    assert ids(bootstrap) == set(range(COUNT))
    client.close()
