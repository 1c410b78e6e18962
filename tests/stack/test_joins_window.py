"""Joins whose rows are mostly only named, on a whole stack: edges die amid batches and others take over what they kept.

Each takes the rows of the last batches from `notifications` again: nobody registers anew for want of one, and all that
was told is verified.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.stack.hearer import Hearer
from tests.stack.live_stack import PATIENCE, LiveStack, eventually
from tests.stack.test_joins import DDL, LONG, Tables, check, joined_sql
from tidewire.client.client import Client
from tidewire.verification.reading import verify_kafka

pytestmark = [pytest.mark.stack, pytest.mark.ordeal, pytest.mark.timeout(1800)]
JOINS = {f"join-{i}": tables for i, tables in enumerate(["ab", "ab", "ba", "aa"])}
KILLED = ("edge-0", "edge-1", "edge-0", "engine", "edge-1", "edge-0")
TAKEN_OVER_S = 4.0


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveStack]:
    live = LiveStack(tmp_path_factory.mktemp("window"))
    live.start()
    yield live
    live.stop()


def test_edges_that_take_over_have_the_rows_that_are_named(stack: LiveStack) -> None:
    with Client(stack.settings.address) as client:
        client.apply(DDL, timeout=LONG)
        traffic, hearer = Tables(stack), Hearer(client)
        try:
            for name, tables in JOINS.items():
                client.subscribe(name, joined_sql(tables), timeout=LONG)
            check(hearer, traffic, JOINS)
            for number, victim in enumerate(KILLED):
                kill(stack, victim)
                client.subscribe(f"later-{number}", joined_sql("ab"), timeout=LONG)
                check(hearer, traffic, JOINS | {f"later-{number}": "ab"})
        finally:
            traffic.close()
            hearer.close()
    named = {cell.tables: cell.counters.named for cell in stack.look().cells if cell.counters is not None}
    assert all(named[tables] for tables in (("a",), ("a", "b"))), named
    said = [line for path in stack.directory.logs.glob("edge*") for line in path.read_text().splitlines()]
    assert said and not [line for line in said if "notifications lost" in line]
    stack.await_all_read()
    report = verify_kafka(stack.kafka, stack.topics, PATIENCE)
    assert report.clean, report.faults


def kill(stack: LiveStack, victim: str) -> None:
    """Kill a process while batches come in; those that are left go on without it for a while."""
    time.sleep(2)
    stack.kill(victim)
    time.sleep(TAKEN_OVER_S)
    stack.await_ready(victim)
    eventually(lambda: stack.look().cells, "the cells to be seen")
