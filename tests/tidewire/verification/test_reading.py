"""The real stack, judged: a state that was thrown away, with subscriptions alive across it."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from connectors.kafka import KafkaProperties
from connectors.topics import Topics
from tidewire import Client, Delivery
from tidewire.settings import load_settings
from tidewire.stack.running import running_stack
from tidewire.verification.reading import verify_kafka
from tidewire.verification.report import Report

DDL = "CREATE TABLE stock (symbol VARCHAR PRIMARY KEY, exchange VARCHAR, risk DOUBLE, price DECIMAL(12,2))"
PATIENCE = 600.0


def run(home: Path, seed: int, subscribe: bool) -> tuple[Report, dict[str, list[str]]]:
    """Start the stack, publish 400 changes, stop it once they are judged; return the verdict and kinds by id."""
    settings = load_settings(data_dir=home, broker_port=0, http_port=0, edges=2, virtual_edges=4)
    choose = random.Random(seed)
    with running_stack(settings, PATIENCE) as status, Client(str(status["bootstrap"]), settings.prefix) as client:
        client.apply(DDL, PATIENCE)
        if subscribe:
            client.subscribe_all({f"s{i}": question(choose) for i in range(20)}, PATIENCE)
        for _ in range(10):
            client.publish("stock", [row(choose) for _ in range(35)])
            client.delete("stock", [f"S{choose.randrange(30)}" for _ in range(5)])
        client.subscribe_all({f"s{i}": question(choose) for i in range(3)}, PATIENCE)
        client.unsubscribe("s3")
        report = verify_kafka(KafkaProperties(str(status["bootstrap"])), Topics(settings.prefix), PATIENCE)
        kinds: dict[str, list[str]] = {}
        with client.deliveries(follow=False, from_beginning=True) as stream:
            for record in stream:
                if isinstance(record, Delivery):
                    kinds.setdefault(record.id, []).append(record.kind)
    return report, kinds


def row(choose: random.Random) -> dict[str, object]:
    risk = choose.choice([None, round(choose.random() * 10, 1)])
    price = f"{choose.randrange(10_000) / 100:.2f}"
    return {"symbol": f"S{choose.randrange(30)}", "exchange": choose.choice("AB"), "risk": risk, "price": price}


def question(choose: random.Random) -> str:
    low = choose.randrange(8)
    exchange = choose.choice(["", "exchange = 'A' AND "])
    return f"SELECT {choose.choice(['MIN', 'MAX'])}(price) FROM stock WHERE {exchange}risk BETWEEN {low} AND {low + 3}"


@pytest.mark.stack
@pytest.mark.timeout(3000)
def test_a_lost_state_is_clean(tmp_path: Path) -> None:
    home = tmp_path / "data"
    first, _ = run(home, 1, subscribe=True)
    assert first.clean and (first.epochs, first.unjudged) == (1, 0), first
    shutil.rmtree(home / "checkpoint")
    second, kinds = run(home, 2, subscribe=False)
    assert second.clean and second.epochs == 2 and second.right > first.right, second
    assert kinds["s5"].count("resync") == 1 and "ended" not in kinds["s5"]
