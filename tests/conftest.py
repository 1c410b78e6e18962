"""What all tests share: Hypothesis profiles, warm kernels, and for those that need Kafka one real broker a run."""

from __future__ import annotations

import gc
import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from connectors.kafka.admin import Admin
from connectors.kafka.properties import KafkaProperties
from connectors.topics import Topics
from overlay.process.lasting_objects import settle
from tests import effort, kernel_warmth
from tidewire.stack.broker import Broker
from tidewire.stack.jars import jar_directories, read_jar_sets, require_jars

TEST_VIRTUAL_EDGES = 4
_OVERRIDES = {
    "log.index.size.max.bytes": "1048576",
    "log.retention.check.interval.ms": "5000",
    "group.min.session.timeout.ms": "1000",
}


effort.register()
# Programs in Java that live for seconds spend more on their best compiler than it gains, a third of a test's time, and
# a fifth on verifying the classes of jars, whose digests are known.
os.environ.setdefault(
    "JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)


def pytest_sessionstart() -> None:
    """In a worker of pytest-xdist, have its share of the kernels compiled before tests are handed out.

    What is compiled and collected until then stays: looking for garbage in it would cost a tenth of that time.
    """
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker:
        gc.disable()
        kernel_warmth.warm_share(worker)


def pytest_collection_finish() -> None:
    """Look for garbage from here on, but seldom, and not in what all tests share."""
    settle()
    gc.enable()


def make_broker(home: Path) -> Broker:
    """Return a broker that is not started yet; its jars are fetched if they are nowhere on this machine."""
    chosen = os.environ.get("TIDEWIRE_JARS_DIR")
    jars = require_jars(read_jar_sets()["broker"], jar_directories(home, Path(chosen) if chosen else None))
    return Broker(home, port=0, jars=jars, overrides=_OVERRIDES)


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The bootstrap servers of a broker that lives as long as the test run (about 5 s to start)."""
    running = make_broker(tmp_path_factory.mktemp("broker"))
    running.start()
    yield running.bootstrap
    running.stop()


@pytest.fixture
def mortal_broker(tmp_path: Path) -> Iterator[Broker]:
    """A running broker of this test alone, which it may kill and start again."""
    mortal = make_broker(tmp_path)
    mortal.start()
    yield mortal
    mortal.kill()


@pytest.fixture
def kafka(broker: str) -> KafkaProperties:
    """How to reach the broker of this run."""
    return KafkaProperties(broker)


@pytest.fixture
def prefix() -> str:
    """A prefix that no other test uses."""
    return f"t{uuid.uuid4().hex[:8]}."


@pytest.fixture
def topics(kafka: KafkaProperties, prefix: str) -> Iterator[Topics]:
    """The internal topics under a fresh prefix, created with 4 virtual edges, deleted after the test."""
    names = Topics(prefix)
    admin = Admin(kafka)
    admin.ensure_topics(names, TEST_VIRTUAL_EDGES)
    yield names
    admin.delete_topics([name for name in admin.topics() if name.startswith(prefix)])
