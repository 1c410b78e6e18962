"""The interrupted chain on the real stack: random questions of every family, policy and form; judged from outside.

What `tests/tidewire/test_chain_interrupted.py` does to the pure pipeline, with fewer examples: publications,
registrations, replacements and endings by a seed, while edges and the engine are killed at moments that it chooses.
Many ask alike and are replaced often, so edges publish summaries. Some ask for joins with a second table, or of the
first with itself; their cells come live on demand meanwhile.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from connectors.json.writer import encode_key, encode_row
from connectors.kafka.producer import Producer
from connectors.kafka.reader import Reader
from connectors.record import OutRecord
from operators.packed import PackedSummary, is_packed, unpack
from tests.stack.live_stack import LiveStack
from tests.tidewire.verification.test_against_the_chain import DDL, random_question, random_row
from tidewire.client.client import Client
from tidewire.verification.reading import verify_kafka

pytestmark = [pytest.mark.stack, pytest.mark.timeout(900)]
SEEDS = (1, 20_261)
MOVES = 24
IDS = [f"s{i}" for i in range(300)]
JOINED = """CREATE TABLE u (k INTEGER PRIMARY KEY, v VARCHAR, l INTEGER, m DECIMAL(8,1))"""
JOINS = [
    "SELECT t.k, u.m FROM t JOIN u ON t.v = u.v WHERE t.l >= 0",
    "SELECT u.*, t.b FROM u JOIN t ON u.m = t.m AND u.l = t.l",
    "SELECT x.v, y.d FROM t x JOIN t y ON x.l = y.k WHERE y.v <> ''",
    "SELECT x.k, u.k, y.k FROM t x JOIN u ON x.d = u.l JOIN t y ON y.v = u.v NOTIFY LATEST",
    "SELECT t.w FROM t JOIN u ON u.k = t.k WHERE u.v = 'x' SNAPSHOT NONE",
]
KILLED = ("edge-0", "edge-1", "engine")


class Moves:
    """What happens, in order; the same for the same seed."""

    def __init__(self, seed: int, stack: LiveStack, relation: object) -> None:
        self._choose = random.Random(seed)
        self._stack = stack
        self._relation = relation
        self._producer = Producer(stack.kafka, timeout=300)

    def play(self) -> None:
        """Make all moves, each killing at most one process, and wait until all are there again."""
        kills = dict(zip(self._choose.sample(range(MOVES), len(KILLED)), KILLED, strict=True))
        for move in range(MOVES):
            for record in self._records():
                self._producer.send(record)
            self._producer.flush()
            if move in kills:
                self._stack.kill(kills[move])
            time.sleep(self._choose.uniform(0, 0.5))
        self._stack.await_ready("engine", "edge-0", "edge-1")

    def _records(self) -> Iterator[OutRecord]:
        """Yield rows, questions and ends of questions, mixed."""
        choose = self._choose
        for _ in range(choose.randrange(30, 90)):
            action = choose.random()
            if action < 0.1:
                yield self._joined()
            elif action < 0.55:
                row = random_row(choose, self._relation)
                key, value = encode_key(self._relation, row), encode_row(self._relation, row)  # type: ignore[arg-type]
                yield OutRecord("t", row["k"] % 2, key, value)
            elif action < 0.6:
                key = choose.randrange(6)
                yield OutRecord("t", key % 2, b'{"k":%d}' % key, None)
            else:
                id = choose.choice(IDS).encode()
                value = None if action > 0.95 else json.dumps(self._question()).encode()
                yield OutRecord(self._stack.topics.subscriptions, None, id, value)

    def _joined(self) -> OutRecord:
        """Change a row of the second table."""
        choose, key = self._choose, self._choose.randrange(6)
        values = {"v": ["x", "", "xx", None], "l": [0, 1, 3, None], "m": ["1.0", "2.5", "0.0", None]}
        row = {"k": key} | {name: choose.choice(of) for name, of in values.items()}
        value = None if choose.random() < 0.15 else json.dumps(row).encode()
        return OutRecord("u", key % 2, b'{"k":%d}' % key, value)

    def _question(self) -> dict[str, object]:
        choose = self._choose
        if choose.random() < 0.1:
            return {"sql": choose.choice(JOINS)} | choose.choice([{}, {"deliver": "packed"}])
        low = choose.choice([-1, 0, 0.1])
        alike = f"SELECT MIN(l) FROM t WHERE d BETWEEN {low} AND {low + choose.randrange(3)}"
        sql = alike if choose.random() < 0.6 else random_question(choose).rstrip(";")
        form: dict[str, object] = choose.choice([{}, {"deliver": "packed"}, {"deliver": "packed"}])
        short: dict[str, object] = {"ttl": 5} if "TTL" not in sql and choose.random() < 0.1 else {}
        return {"sql": sql} | form | short


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[LiveStack]:
    stack = LiveStack(tmp_path / "data")
    stack.start()
    try:
        yield stack
    finally:
        stack.stop()


def test_random_moves_and_kills_leave_every_delivery_right(stack: LiveStack) -> None:
    with Client(stack.settings.address) as client:
        client.apply(f"{DDL}; {JOINED}", timeout=120, partitions=2)
        relation = client.relation("t")
    for seed in SEEDS:
        Moves(seed, stack, relation).play()
    stack.await_all_read()
    report = verify_kafka(stack.kafka, stack.topics, 90)
    assert report.clean, (report, report.faults)
    assert report.right > 1_000 and report.unjudged == 0
    registered = [record.value or b"" for record in Reader(stack.kafka).read_to_end(stack.topics.registrations)]
    assert any(isinstance(unpack(value), PackedSummary) for value in registered if is_packed(value))
    told = Reader(stack.kafka).read_to_end(stack.topics.deliveries)
    assert {record.key == b"@packed" for record in told if record.key != b"@progress"} == {True, False}
    print(report)
