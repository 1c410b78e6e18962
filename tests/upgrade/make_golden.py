"""Write `golden.msgpack.xz`: the pure pipeline as an older commit leaves it, amid a batch, and how that commit goes on.

    git worktree add --detach /tmp/older 8c710b4
    cd /tmp/older && PYTHONPATH=. python <here>/make_golden.py <here>/golden.msgpack.xz

Runs with the modules of the folder that it is started in. The file has

    frozen   all that a stop leaves: logs (registrations, notifications, edge-state, ...), timestamps, shards' states,
             positions, the batch that was planned and is not committed; `notifications` has some of its chunks
    answers  by id, as JSON, what edges that are restored from `frozen` show
    steps    what happens then, each a list of a name and arguments: `append` topic, key, value, partition; `apply`
             DDL; `clock` seconds; `settle`; `restart`
    told     what these steps write to `acks` and `deliveries`, as [topic, partition, [[key, value], ...]]
    then     the same in the end

Subscriptions are of every kind, policy and form of delivery; of tables in one shard, in buckets, and of a database
through Debezium; live, replaced, waiting for their first answer, held back until their table is there, and expiring.
"""

from __future__ import annotations

import itertools
import json
import lzma
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from tests.stack.trades import QUOTE, TRADE, WIDER_TRADE, Questions, Trades
from tidewire.pure_pipeline import PurePipeline

VIRTUAL_EDGES = 3
ITEM = """CREATE TABLE item (id BIGINT PRIMARY KEY, kind VARCHAR, weight DOUBLE, price DECIMAL(8,2), at TIMESTAMP)
  WITH ('topic'='pg.public.item', 'format'='debezium-json', 'decimal'='string', 'timestamp'='micros')"""
LATER = "CREATE TABLE later (id BIGINT PRIMARY KEY, x BIGINT, note VARCHAR)"
ITEM_QUESTIONS = [
    "SELECT MIN(price) FROM item WHERE weight < 5",
    "SELECT COUNT(*), MAX(price), SUM(weight) FROM item WHERE kind = 'a'",
    "SELECT DISTINCT kind FROM item WHERE price >= 3.50",
    "SELECT AVG(weight) FROM item NOTIFY MIN CHANGE 5 %",
    "SELECT MAX(at) FROM item WHERE kind = 'b' NOTIFY LATEST",
]
LATER_QUESTIONS = [
    "SELECT SUM(x) FROM later WHERE id BETWEEN 3 AND 30",
    "SELECT DISTINCT note FROM later",
    "SELECT MIN(note), COUNT(x) FROM later NOTIFY LATEST TTL 1 DAYS",
]
Step = list[Any]
SETTLE: Step = ["settle"]


class Inputs:
    """Makes the steps that publish and subscribe; the same for the same seeds.

    `lsn` is how far the database's log has come.
    """

    def __init__(self, topic: str, questions: Questions, lsn: int = 0) -> None:
        self.ids: list[str] = []
        self.trades = Trades(8)
        self._topic = topic
        self._questions = questions
        self._choose = random.Random(14)
        self._items: dict[int, dict[str, Any]] = {}
        self._lsn = lsn
        self._forms = itertools.cycle(["records", "packed", "push", None])

    def publish(self, rows: int) -> Iterator[Step]:
        """Yield changes of the tables `trade`, `quote` (once it is there) and `item`."""
        for number in range(rows):
            record = self.trades.next()
            yield ["append", record.topic, record.key, record.value, None]
            if number % 4 == 0:
                yield from self._change_item()

    def subscribe(self, count: int, later: bool = False) -> Iterator[Step]:
        """Yield subscriptions of the tables `trade`, or `quote` and columns that `trade` got later."""
        for _ in range(count):
            made = self._questions.later() if later else self._questions.trade()
            yield self.subscription(f"q{len(self.ids)}", made)

    def subscription(self, id: str, asked: dict[str, Any]) -> Step:
        self.ids.append(id)
        form = next(self._forms)
        value = json.dumps(asked | ({"deliver": form} if form else {})).encode()
        return ["append", self._topic, id.encode(), value, None]

    def change(self, count: int) -> Iterator[Step]:
        """Yield replaced and ended subscriptions."""
        for id in self._choose.sample(sorted(self.ids), count):
            if self._choose.random() < 0.4:
                yield ["append", self._topic, id.encode(), None, None]
            else:
                yield self.subscription(id, self._questions.trade())

    def _change_item(self) -> Iterator[Step]:
        """Yield what Debezium writes of one change of the table `item`."""
        choose, id = self._choose, self._choose.randrange(25)
        self._lsn += 1
        before = self._items.pop(id, None)
        if before is not None and choose.random() < 0.2:
            yield self._envelope(id, "d", {"id": id}, None)
            yield ["append", "pg.public.item", json.dumps({"id": id}).encode(), None, None]
            return
        self._items[id] = {
            "id": id,
            "kind": choose.choice(["a", "b", None]),
            "weight": choose.randrange(80) / 8,
            "price": f"{choose.randrange(1_000) / 100:.2f}",
            "at": 1_772_409_599_000_000 + choose.randrange(10**9),
        }
        yield self._envelope(id, "u" if before else "c", None, self._items[id])

    def _envelope(self, id: int, op: str, before: dict[str, Any] | None, after: dict[str, Any] | None) -> Step:
        value = {"op": op, "before": before, "after": after, "source": {"lsn": self._lsn}}
        return ["append", "pg.public.item", json.dumps({"id": id}).encode(), json.dumps(value).encode(), None]


def take(pipeline: PurePipeline, step: Step) -> None:
    """Let one step happen."""
    name, *arguments = step
    if name == "clock":
        pipeline.clock += arguments[0]
        pipeline.tell_progress()
    else:
        getattr(pipeline, name)(*arguments)


def live(inputs: Inputs) -> Iterator[Step]:
    """Yield how the world comes to be, with nothing in flight."""
    for ddl in (TRADE, ITEM):
        yield ["apply", ddl]
    yield from inputs.publish(120)
    yield from inputs.subscribe(110)
    for number, sql in enumerate(ITEM_QUESTIONS * 3):
        yield inputs.subscription(f"item{number}", {"sql": sql})
    yield SETTLE
    for ddl in (WIDER_TRADE, QUOTE):
        yield ["apply", ddl]
    inputs.trades.widen()
    yield from inputs.subscribe(50, later=True)
    for _ in range(4):
        yield from inputs.publish(60)
        yield SETTLE
        yield ["clock", 8]
    yield from inputs.change(30)
    yield SETTLE
    yield from inputs.publish(60)
    yield SETTLE


def break_in_the_middle(pipeline: PurePipeline, inputs: Inputs) -> None:
    """Leave a batch half written, while edges have read a part of it and hold subscriptions back."""
    pipeline.lose_edge(1, compact=True)
    for step in inputs.publish(30):
        take(pipeline, step)
    pipeline.settle()
    for step in [*inputs.subscribe(20), *inputs.subscribe(20, later=True)]:
        take(pipeline, step)
    for number in range(VIRTUAL_EDGES):
        pipeline.run_edge(number)
    for step in inputs.publish(60):
        take(pipeline, step)
    pipeline.break_off(0.5)
    for number, sql in enumerate(LATER_QUESTIONS * 3):
        take(pipeline, inputs.subscription(f"later{number}", {"sql": sql}))
    for step in inputs.change(10):
        take(pipeline, step)
    for number in range(VIRTUAL_EDGES):
        pipeline.run_edge(number, most=1)


def afterwards(inputs: Inputs) -> Iterator[Step]:
    """Yield what happens when the world goes on."""
    yield from inputs.publish(20)
    yield ["apply", LATER]
    for id in range(20):
        key, row = {"id": id}, {"id": id, "x": id * 7 % 11, "note": f"n{id % 3}"}
        yield ["append", "later", json.dumps(key).encode(), json.dumps(row).encode(), None]
    yield SETTLE
    yield ["clock", 15]
    yield from inputs.subscribe(20, later=True)
    yield from inputs.publish(80)
    yield SETTLE
    yield ["restart"]
    yield ["clock", 60]
    yield from inputs.change(20)
    yield from inputs.publish(80)
    yield SETTLE
    yield ["apply", "DROP TABLE quote"]
    yield ["begin_epoch"]
    yield SETTLE
    inputs.trades.quotes = False
    yield from inputs.publish(40)
    yield SETTLE


def frozen(pipeline: PurePipeline) -> dict[str, Any]:
    """Return all of a pipeline that is not in its edges' memory."""
    places = {"read": pipeline._read, "planned": pipeline._planned, "fed": pipeline._fed}
    return {
        "virtual_edges": VIRTUAL_EDGES,
        "logs": [[topic, number, log] for topic, logs in pipeline.logs.items() for number, log in logs.items()],
        "stamps": [[*place, stamps] for place, stamps in pipeline.stamps.items()],
        "appended": pipeline._appended,
        "clock": pipeline.clock,
        "epoch": pipeline.epoch,
        "batch": pipeline._batch,
        "bounds": pipeline._bounds,
        "shards": pipeline.shards,
        "committed": pipeline._committed,
        **{name: [[*place, at] for place, at in (found or {}).items()] for name, found in places.items()},
    }


def answers(pipeline: PurePipeline, ids: list[str]) -> dict[str, str]:
    """Return answers as JSON: there are integers of any size among them."""
    return {id: json.dumps(pipeline.answer(id)) for id in ids}


def written(pipeline: PurePipeline) -> dict[tuple[str, int], list[Any]]:
    """Return what stands in the logs that others read."""
    names = (pipeline.topics.acks, pipeline.topics.deliveries)
    return {(name, number): list(log) for name in names for number, log in pipeline.logs[name].items()}


def main(target: Path) -> None:
    pipeline = PurePipeline(VIRTUAL_EDGES)
    inputs = Inputs(pipeline.topics.subscriptions, Questions(10, pipeline.topics))
    for step in live(inputs):
        take(pipeline, step)
    break_in_the_middle(pipeline, inputs)
    for number in range(VIRTUAL_EDGES):
        pipeline.lose_edge(number)
    golden: dict[str, Any] = {"frozen": msgspec.msgpack.encode(frozen(pipeline))}
    golden["answers"] = answers(pipeline, inputs.ids)
    before = {place: len(log) for place, log in written(pipeline).items()}
    golden["steps"] = list(afterwards(inputs))
    for step in golden["steps"]:
        take(pipeline, step)
    golden["told"] = [[*place, log[before.get(place, 0) :]] for place, log in written(pipeline).items()]
    golden["then"] = answers(pipeline, inputs.ids)
    target.write_bytes(lzma.compress(msgspec.msgpack.encode(golden), preset=9))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
