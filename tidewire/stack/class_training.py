"""How class archives are made: a broker and an engine read a table of a few rows, once, and write what they loaded.

They are those of the product, with a log, but for what Python does with rows, so what a start loads is what is
archived. Java writes an archive when it ends, so both are given the time that they need for that. All runs in a process
of its own (`class_archive.py` starts it), which has not to compile what Python does with rows:

    python -m tidewire.stack.class_training FOLDER broker spark      # FOLDER has `jars.json`, and gets the archives
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from connectors.kafka.admin import Admin
from connectors.kafka.properties import KafkaProperties
from connectors.kafka.reader import Reader
from connectors.record import RawRecords
from connectors.topics import Topics
from operators.control import Progress, decode_control
from shard.group_spec import GroupSpec
from shard.pipeline import GroupResult
from tidewire.client.client import Client
from tidewire.stack.broker import Broker
from tidewire.stack.class_archive import recording, with_java_options
from tidewire.stack.failure import ChildFailedError

_TABLE = "CREATE TABLE trained (id BIGINT PRIMARY KEY, price DECIMAL(12,2))"
_ROWS = [{"id": number, "price": "1.50"} for number in range(3)]
_SECONDS = 120.0
"""The most that each of its steps may take."""


def train(folder: Path, absent: Sequence[str]) -> None:
    """Run broker and engine in `folder` and have the Java of those that are absent write `broker.jsa`, `spark.jsa`.

    A Java that uses an archive cannot write one.
    """
    flags = {kind: recording(folder / f"{kind}.jsa") if kind in absent else [] for kind in ("broker", "spark")}
    named = json.loads((folder / "jars.json").read_text())
    jars = {kind: [Path(jar) for jar in own] for kind, own in named.items()}
    broker = Broker(folder, 0, jars["broker"], flags=flags["broker"])
    broker.start()
    try:
        _run_engine(broker.bootstrap, jars["spark"], folder, flags["spark"])
    finally:
        broker.stop(_SECONDS)


def _run_engine(bootstrap: str, jars: Sequence[Path], folder: Path, flags: Sequence[str]) -> None:
    from streaming.engine.engine import Engine, EngineConfig
    from streaming.log.keeper import LogConfig
    from streaming.query.session import close_session, open_session

    kafka, topics = KafkaProperties(bootstrap), Topics()
    Admin(kafka).ensure_topics(topics, 1)
    log = LogConfig(str(folder / "log"), seconds=1.0, local_dir=folder)
    config = EngineConfig(
        kafka,
        str(folder / "checkpoint"),
        topics,
        spark_jars=jars,
        spark=with_java_options({}, flags),
        local_dir=folder,
        log=log,
    )
    spark = open_session(config.session)
    stop = threading.Event()
    running = threading.Thread(target=Engine(config, spark, _pass_by).run, args=[stop])
    running.start()
    try:
        _await_rows(bootstrap, kafka, topics)
    finally:
        stop.set()
        running.join(_SECONDS)
        close_session(spark, _SECONDS)


def _pass_by(spec: GroupSpec, batch: int, state: bytes | None, records: Sequence[RawRecords]) -> GroupResult:
    """Take a batch and answer nothing: what Python does with it is no matter of Java."""
    return GroupResult(b"passed by", [])


def _await_rows(bootstrap: str, kafka: KafkaProperties, topics: Topics) -> None:
    """Declare the table, publish its rows, and wait until the engine says that it has read them."""
    with Client(bootstrap) as client:
        client.apply(_TABLE, timeout=_SECONDS)
        topic = client.relation("trained").topic
        client.publish("trained", _ROWS)
    deadline, reader = time.monotonic() + _SECONDS, Reader(kafka)
    while not any(_has_read(record.value, topic) for record in reader.read_to_end(topics.batches, [0])):
        if time.monotonic() > deadline:
            raise ChildFailedError(f"the engine read no rows within {_SECONDS:g} s")
        time.sleep(0.5)


def _has_read(value: bytes | None, topic: str) -> bool:
    control = decode_control(value) if value and value[:1] == b"{" else None
    return isinstance(control, Progress) and sum(control.end.get(topic, {}).values()) == len(_ROWS)


if __name__ == "__main__":
    train(Path(sys.argv[1]), sys.argv[2:])
