"""A data directory that an older commit left, killed with a batch half written, goes on under this version.

`tests/upgrade/make_fixture.py` says what it is and made it. Everything that was ever published, asked and told is then
judged by the verification, what the older commit told included: nothing is missed, and the half-written batch is told
once.
"""

from __future__ import annotations

import tarfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from connectors.kafka.producer import Producer
from connectors.kafka.reader import Reader
from connectors.record import OutRecord
from operators.packed import is_packed, unpack
from tests.stack.live_stack import PATIENCE, Checkpoint, LiveStack
from tests.stack.trades import Questions
from tests.upgrade.make_golden import Inputs
from tidewire.client.client import Client
from tidewire.verification.compare.report import Report
from tidewire.verification.reading import verify_kafka

pytestmark = [pytest.mark.stack, pytest.mark.timeout(1200)]
FIXTURE = Path(__file__).parent.parent / "upgrade" / "stack.tar.xz"
NEVER = str(2**31 - 1)
AGELESS = {
    "log.retention.check.interval.ms": NEVER,
    "log.initial.task.delay.ms": NEVER,
    "offsets.retention.minutes": NEVER,
}
"""The file is older each day, and its topics keep records for days: nothing of it may be trimmed meanwhile."""


@pytest.fixture
def stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LiveStack]:
    with tarfile.open(FIXTURE) as archive:
        archive.extractall(tmp_path, filter="data")
    monkeypatch.setenv("TIDEWIRE_CONFIG", str(tmp_path / "tidewire.toml"))
    stack = LiveStack(tmp_path / "data", broker=AGELESS)
    try:
        yield stack
    finally:
        stack.stop()


def send(stack: LiveStack, steps: Iterable[list[Any]]) -> None:
    producer = Producer(stack.kafka)
    for _, topic, key, value, partition in steps:
        producer.send(OutRecord(topic, partition, key, value))
    producer.flush()


def judged(stack: LiveStack) -> Report:
    stack.await_all_read()
    report = verify_kafka(stack.kafka, stack.topics, PATIENCE)
    assert report.clean and report.unjudged == 0, (report, report.faults)
    return report


def chunks_of(stack: LiveStack, batch: int) -> dict[tuple[str, int], list[tuple[int, int]]]:
    """Return (number, of how many) of the chunks of `batch` in `notifications`, by shard and partition, in order."""
    found: dict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)
    for record in Reader(stack.kafka).read_to_end(stack.topics.notifications):
        header = unpack(record.value).header if record.value and is_packed(record.value) else None
        if header is not None and header.batch == batch:
            found[header.shard, record.partition].append((header.chunk, header.of))
    return found


def test_a_batch_that_the_older_version_left_half_written_is_told_once(stack: LiveStack) -> None:
    half = Checkpoint(stack).newest("offsets")
    assert Checkpoint(stack).newest("commits") == half - 1, "the fixture has a batch that is planned and not committed"
    stack.start()
    first = judged(stack)
    assert first.epochs == 1 and first.batches > half and first.subscriptions > 150 and first.right > 500
    written = chunks_of(stack, half).values()
    assert any([number for number, _ in chunks[:3]] == [0, 0, 1] for chunks in written), (
        "the older one wrote one of two"
    )

    inputs = Inputs(stack.topics.subscriptions, Questions(11, stack.topics), lsn=100_000)
    inputs.trades.widen()
    send(stack, [*inputs.publish(150), *inputs.subscribe(30), *inputs.subscribe(20, later=True)])
    stack.kill("edge-0")
    send(stack, [*inputs.publish(100), *inputs.change(20)])
    stack.kill_session("engine")
    send(stack, inputs.publish(100))
    with Client(stack.settings.address) as client:
        client.apply("CREATE TABLE later (id BIGINT PRIMARY KEY, x BIGINT)", timeout=300)
    stack.await_ready("broker", "engine", "edge-0", "edge-1")
    last = judged(stack)
    assert last.epochs == 1 and last.publications >= first.publications + 350
    assert last.right > first.right and stack.kills == 2
    assert stack.look().warnings == []
