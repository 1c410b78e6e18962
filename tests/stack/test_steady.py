"""A stack that was ready once stays: two minutes of SIGKILL every 4 to 11 s, and then it answers, and all of it right.

No pause is long enough for what was killed to be back and of use, so that deaths come in a row, also of an engine that
is starting, and of one whose broker is away.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stack.live_stack import PATIENCE, LiveStack
from tests.stack.publisher import Publisher
from tests.stack.storm import Storm
from tests.stack.trades import TRADE, Questions
from tidewire.client.client import Client
from tidewire.verification.reading import verify_kafka

pytestmark = [pytest.mark.stack, pytest.mark.timeout(1800)]
SEED = 20_262
SECONDS = 120.0
SUBSCRIPTIONS, FIRST_ROWS = 200, 40
UNFORESEEN = ("Traceback (most recent call last)", "not one of the errors we foresee")


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[LiveStack]:
    made = LiveStack(tmp_path / "data")
    made.start()
    try:
        yield made
    finally:
        made.stop()


def test_a_stack_that_was_ready_once_is_never_given_up(stack: LiveStack) -> None:
    questions, publisher = Questions(SEED, stack.topics), Publisher(stack.kafka, SEED, per_second=200)
    asked = [*questions.new(SUBSCRIPTIONS - FIRST_ROWS), *questions.new(FIRST_ROWS, questions.first)]
    with Client(stack.settings.address) as client:
        client.apply(TRADE, timeout=120)
        client.subscribe_all({r.key.decode(): r.value for r in asked}, timeout=120)
    publisher.allowed = 10**9
    publisher.start()
    up, storm = pid_of(stack), Storm(stack, random.Random(SEED))
    storm.rage(SECONDS / 2)
    assert pid_of(stack) == up
    stack.await_ready("broker", "engine", "edge-0", "edge-1")
    stack.cut_power()
    stack.start()
    storm.rage(SECONDS / 2)
    stack.await_ready("broker", "engine", "edge-0", "edge-1")
    told = storm.processes()
    publisher.finish()
    stack.await_all_read()
    report = verify_kafka(stack.kafka, stack.topics, PATIENCE)
    print(f"{len(storm.struck)} strikes, {report}")
    for process in told:
        print(process.name, process.restarts, *process.last, sep="\n  ")
    assert report.clean, (report, report.faults)
    assert report.subscriptions == SUBSCRIPTIONS
    assert report.publications >= publisher.sent  # its client may write a record twice where the broker is killed
    assert len(storm.struck) >= 12 and sum(process.restarts for process in told) >= 6
    assert all(one.ready_after_s is not None for process in told for one in process.last)
    assert unforeseen(stack) == []


def pid_of(stack: LiveStack) -> int:
    status = stack.directory.read_status()
    assert status is not None, f"the stack has ended: {stack.said()}"
    return int(status["pid"])


def unforeseen(stack: LiveStack) -> list[str]:
    """Return the lines of all logs that show an error which nobody has foreseen."""
    lines = [line for log in stack.directory.logs.glob("*.log") for line in log.read_text().splitlines()]
    return [line for line in lines if any(sign in line for sign in UNFORESEEN)]
