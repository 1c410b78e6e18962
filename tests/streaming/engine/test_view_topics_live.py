"""Views are written to their topics by a real engine, and in a new epoch again: for a plain consumer of Kafka."""

from __future__ import annotations

import json
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from shard.pipeline import process_group
from tests.streaming.conftest import RunningEngine, World
from tests.streaming.waiting import eventually

PATIENCE = 300
"""Seconds, on a machine that has other things to do."""
pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.timeout(900)]


def read(world: World, topic: str) -> list[tuple[Any, Any, dict[str, Any]]]:
    """Every record: key, value and header, as any consumer reads them."""
    partitions = world.admin.partitions(world.name(topic))
    found = []
    for partition in range(partitions):
        consumer = Consumer(
            {"bootstrap.servers": world.kafka.bootstrap, "group.id": "plain", "enable.partition.eof": True}
        )
        consumer.assign([TopicPartition(world.name(topic), partition, 0)])
        while (message := consumer.poll(30)) is not None and message.error() is None:
            [(name, header)] = message.headers() or []
            assert name == "tidewire"
            value = message.value()
            found.append((message.key(), None if value is None else json.loads(value), json.loads(header)))
        consumer.close()
    return found


def folded(world: World, topic: str) -> dict[bytes, Any]:
    """What a consumer has that takes records as they come."""
    held: dict[bytes, Any] = {}
    for key, value, _ in read(world, topic):
        if value is None:
            held.pop(key, None)
        else:
            held[key] = value
    return held


def publish(world: World, *rows: tuple[int, int | None]) -> None:
    for id, x in rows:
        value = None if x is None else json.dumps({"id": id, "x": x}).encode()
        world.publish("t", value, key=b'{"id":%d}' % id)


def await_rows(world: World, engine: RunningEngine, rows: dict[int, int]) -> None:
    meant = {b'{"x":%d}' % x: {"x": x, "n": n} for x, n in rows.items()}
    eventually(lambda: folded(world, "out") == meant, PATIENCE, failure=lambda: engine.error)


def test_rows_and_changes_and_the_same_again_in_a_new_epoch(world: World) -> None:
    world.make("t")
    world.apply(f"CREATE TABLE t (id BIGINT PRIMARY KEY, x BIGINT) WITH ('topic'='{world.name('t')}')")
    publish(world, (1, 5), (2, 5), (3, 6))
    engine = world.engine(process=process_group)
    eventually(lambda: world.last_end().get(world.name("t")) == {"0": 3}, PATIENCE, failure=lambda: engine.error)
    world.apply(f"CREATE VIEW v WITH ('topic'='{world.name('out')}') AS SELECT x, COUNT(*) AS n FROM t GROUP BY x")
    eventually(lambda: world.name("out") in world.admin.topics(), PATIENCE, failure=lambda: engine.error)
    await_rows(world, engine, {5: 2, 6: 1})
    publish(world, (3, None), (2, 7))
    await_rows(world, engine, {5: 1, 7: 1})
    epoch = world.progress()[-1].epoch
    first = read(world, "out")
    assert {(header["shard"], header["epoch"]) for _, _, header in first} == {("v/0", epoch)}
    numbers = [(header["batch"], header["n"]) for _, _, header in first]
    assert len(set(numbers)) == len(numbers)
    told = sorted((h.get("at", {}).get("offset", -1), key, v and v["n"]) for key, v, h in first)
    assert told == [
        (-1, b'{"x":5}', 2), (-1, b'{"x":6}', 1), (3, b'{"x":6}', None), (4, b'{"x":5}', 1), (4, b'{"x":7}', 1),
    ]  # fmt: skip
    engine.stop()
    publish(world, (2, None))
    again = world.engine(process=process_group, checkpoint=str(world.checkpoint) + "-2", take_over=True)
    await_rows(world, again, {5: 1})
    new = [(key, value) for key, value, header in read(world, "out") if header["epoch"] > epoch]
    assert sorted(new, key=str) == [(b'{"x":5}', {"x": 5, "n": 1}), (b'{"x":7}', None)], "rows, and keys without"
    publish(world, (9, 9))
    await_rows(world, again, {5: 1, 9: 1})
    again.stop()
    assert engine.error is None and again.error is None
