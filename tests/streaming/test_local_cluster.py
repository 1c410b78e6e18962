"""The engine as a command on executors in processes of their own: nothing may depend on one process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from catalog.query.shape import Output, Region, Shape
from connectors.kafka.admin import Admin
from connectors.kafka.producer import Producer
from connectors.kafka.properties import KafkaProperties
from connectors.kafka.reader import Reader
from connectors.record import OutRecord
from connectors.topics import Topics
from operators.control import RegisterAll, decode_control
from operators.packed import Header, PackedMessages, PackedSnapshot, is_packed, pack_registrations, unpack
from tests.streaming.waiting import eventually

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.ordeal, pytest.mark.timeout(1800)]
WAIT_SECONDS = 250
# The rooms come to the executors as a zip, without compiled kernels: two executors would compile for 7 s each.
CONFIG = """
[spark]
"spark.executorEnv.NUMBA_DISABLE_JIT" = "1"
"""
SHAPE = Shape("stock", (Output("min", "price"),), (), None)


class EngineProcess:
    """`tidewire engine` in a process of its own."""

    def __init__(self, kafka: KafkaProperties, topics: Topics, folder: Path, *options: str) -> None:
        command = [sys.executable, "-m", "tidewire", "engine", "--checkpoint", str(folder / "checkpoint"), *options]
        environment = os.environ | {"TIDEWIRE_BOOTSTRAP": kafka.bootstrap, "TIDEWIRE_PREFIX": topics.prefix}
        self.log = folder / "engine.log"
        with self.log.open("w") as log:
            self._process = subprocess.Popen([*command, "--data-dir", str(folder)], env=environment, stderr=log)

    def check(self) -> BaseException | None:
        """Return an error with the log if the process has ended."""
        return None if self._process.poll() is None else AssertionError(self.log.read_text()[-4_000:])

    def stop(self) -> int:
        """Ask it to stop; return its exit code, and fail if it leaves a process behind."""
        if self._process.poll() is not None:
            return self._process.returncode
        family = psutil.Process(self._process.pid).children(recursive=True)
        self._process.send_signal(signal.SIGTERM)
        code = self._process.wait(120)
        _, alive = psutil.wait_procs(family, 10)
        for left in alive:
            left.kill()
        assert not alive
        return code


def records_of(kafka: KafkaProperties, topics: Topics) -> list[Any]:
    """Everything that virtual edge 0 was sent."""
    values = [record.value or b"" for record in Reader(kafka).read_to_end(topics.notifications, [0])]
    return [unpack(value) if is_packed(value) else decode_control(value) for value in values]


def first(kafka: KafkaProperties, topics: Topics, kind: type) -> Any:
    return next((record for record in records_of(kafka, topics) if isinstance(record, kind)), None)


def test_a_subscription_is_answered_by_executors(kafka: KafkaProperties, topics: Topics, tmp_path: Path) -> None:
    stock = topics.prefix + "stock"
    Admin(kafka).create_topic(stock)
    producer = Producer(kafka)
    table = f"CREATE TABLE stock (id VARCHAR PRIMARY KEY, price BIGINT) WITH ('topic'='{stock}')"
    producer.send(OutRecord(topics.catalog, 0, None, table.encode()))
    producer.send(OutRecord(stock, 0, b'{"id":"a"}', b'{"id":"a","price":5}'))
    producer.flush()
    config = tmp_path / "tidewire.toml"
    config.write_text(CONFIG)
    engine = EngineProcess(kafka, topics, tmp_path, "--master", "local-cluster[2,1,1024]", "--config", str(config))
    try:
        begun = eventually(lambda: first(kafka, topics, RegisterAll), WAIT_SECONDS, engine.check)
        header = Header("register", begun.epoch, "stock/0", ve=0, catalog=begun.catalog)
        (packed,) = pack_registrations(header, [17], [Region(SHAPE, b"[]")])
        producer.send(OutRecord(topics.registrations, 0, b"stock/0", packed))
        producer.flush()
        snapshot = eventually(lambda: first(kafka, topics, PackedSnapshot), WAIT_SECONDS, engine.check)
        assert (snapshot.version.tolist(), snapshot.new.tolist()) == ([17], [5])
        producer.send(OutRecord(stock, 0, b'{"id":"b"}', b'{"id":"b","price":3}'))
        producer.flush()
        messages = eventually(lambda: first(kafka, topics, PackedMessages), WAIT_SECONDS, engine.check)
        assert (messages.seq.tolist(), messages.messages.new.tolist(), messages.offset.tolist()) == ([0], [3], [1])
    finally:
        code = engine.stop()
    assert code == 0, engine.log.read_text()[-4_000:]
