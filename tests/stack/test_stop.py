"""A stack that is stopped under load stops between two batches: nothing that is planned is left to the next start."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.stack.live_stack import PATIENCE, Checkpoint, LiveStack, eventually
from tests.stack.publisher import Publisher
from tests.stack.trades import TRADE, Questions
from tidewire.client.client import Client
from tidewire.stack.child import session_members
from tidewire.verification.reading import verify_kafka

pytestmark = [pytest.mark.stack, pytest.mark.timeout(1200)]
SEED = 20_263


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[LiveStack]:
    made = LiveStack(tmp_path / "data", edges=1)
    made.start()
    try:
        yield made
    finally:
        made.stop()


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.ordeal)], ids=["SIGTERM", "SIGINT"]
)
def test_nothing_that_is_planned_is_left(stack: LiveStack, number: signal.Signals) -> None:
    questions, publisher, checkpoint = (
        Questions(SEED, stack.topics),
        Publisher(stack.kafka, SEED, 100),
        Checkpoint(stack),
    )
    with Client(stack.settings.address) as client:
        client.apply(TRADE, timeout=120)
        client.subscribe_all({r.key.decode(): r.value for r in questions.new(50)}, timeout=120)
    publisher.allowed = 10**9
    publisher.start()
    await_batches(checkpoint)
    stop(stack, number)
    assert checkpoint.newest("offsets") == checkpoint.newest("commits") >= 0
    stack.stop()
    stack.start()
    publisher.finish()
    stack.await_all_read()
    report = verify_kafka(stack.kafka, stack.topics, PATIENCE)
    assert report.clean and report.publications == publisher.sent, (report, report.faults)


def await_batches(checkpoint: Checkpoint) -> None:
    """Wait until batch follows batch, and one is under way."""
    before = checkpoint.newest("commits")
    eventually(lambda: checkpoint.newest("commits") > before + 2, "batches")
    eventually(lambda: not checkpoint.is_between_batches(), "a batch under way")


def stop(stack: LiveStack, number: signal.Signals) -> None:
    """Send a signal to `up`, as a terminal or a service manager does, and wait until it has ended cleanly."""
    status = stack.directory.read_status()
    assert status is not None
    up, sessions = psutil.Process(status["pid"]), [child["pid"] for child in status["children"]]
    os.kill(up.pid, number)
    eventually(lambda: up.status() == psutil.STATUS_ZOMBIE, "`up` to end", 60)
    assert not any(session_members(pid) for pid in sessions)
    assert stack.said().strip().endswith("stopping")
