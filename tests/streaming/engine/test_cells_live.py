"""Cells come live in a real engine: over a broker and a session, with the groups of the product."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pyspark.sql import SparkSession

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from catalog.schema.cell import cell_name
from operators.stored_rows import stored_rows
from shard.cell import CellState
from shard.pipeline import process_group
from streaming.checkpoint.checkpoint import Checkpoint
from streaming.checkpoint.files import LocalFiles
from streaming.engine import cell_births, query_controller
from streaming.engine.query_controller import QueryController
from streaming.engine.stored_state import read_groups
from streaming.query.query_run import QueryRun
from tests.streaming.conftest import RunningEngine, World
from tests.streaming.waiting import eventually

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.timeout(900)]
PAIR = cell_name(["filing", "quote"])


@pytest.fixture
def tables(world: World) -> Catalog:
    """Two tables of one partition, declared and announced by nobody yet."""
    world.make("quote")
    world.make("filing")
    statements = [
        f"CREATE TABLE {name} (id BIGINT PRIMARY KEY, k BIGINT) WITH ('topic'='{world.name(name)}')"
        for name in ("quote", "filing")
    ]
    catalog = Catalog()
    for version, text in enumerate(statements):
        world.apply(text)
        catalog = apply_ddl(catalog, text, version)
    return catalog


def publish(world: World, table: str, *rows: tuple[int, int]) -> None:
    for key, value in rows:
        world.publish(table, json.dumps({"id": key, "k": value}).encode(), key=b"%d" % key)


def counters(world: World) -> dict[str, Any]:
    """The newest counters of the cell, nothing before it told any."""
    told = [json.loads(value) for key, value in world.read(world.topics.engines) if key == PAIR.encode()]
    return told[-1] if told else {}


def await_rows(world: World, engine: RunningEngine, rows: int) -> None:
    eventually(lambda: counters(world).get("rows") == rows, 120, failure=lambda: engine.error)
    batch = counters(world)["batch"]
    eventually(lambda: world.last_batch() >= batch, 60, failure=lambda: engine.error)


def copies(world: World, spark: SparkSession, catalog: Catalog, born: int) -> dict[str, list[tuple[object, ...]]]:
    """What the cell has stored of each table."""
    cell = apply_ddl(catalog, "CREATE JOIN quote, filing", born).cells[PAIR]
    stored = read_groups(spark, str(world.checkpoint), [PAIR])[PAIR]
    state = CellState.open(cell, catalog.relations, stored.data)
    return {
        table: sorted(tuple(row.values()) for row in stored_rows(copy.relation, copy.table.stored))
        for table, copy in state.copies.items()
    }


def test_a_cell_begins_with_the_rows_of_its_tables_and_goes_on_with_theirs(
    world: World, spark: SparkSession, tables: Catalog
) -> None:
    publish(world, "quote", (1, 5), (2, 6))
    publish(world, "filing", (7, 5))
    engine = world.engine(process=process_group)
    eventually(lambda: world.last_end().get(world.name("filing")) == {"0": 1}, 120, failure=lambda: engine.error)
    world.apply("CREATE JOIN quote, filing")
    await_rows(world, engine, 3)
    publish(world, "quote", (2, 9), (3, 9))
    await_rows(world, engine, 4)
    engine.stop()
    assert engine.error is None
    assert list(world.sidecar()["cells"]) == [PAIR]
    assert copies(world, spark, tables, 2) == {"filing": [(7, 5)], "quote": [(1, 5), (2, 9), (3, 9)]}
    engine = world.engine(process=process_group)
    publish(world, "filing", (8, 5))
    await_rows(world, engine, 5)
    assert world.sidecar()["cells"] == {}, "it has a state of its own"
    world.apply("DROP JOIN quote, filing")
    eventually(lambda: world.progress()[-1].catalog == 3, 60, failure=lambda: engine.error)
    publish(world, "quote", (3, 1))
    world.publish("quote", None, key=b"1")
    eventually(lambda: world.last_end().get(world.name("quote")) == {"0": 6}, 120, failure=lambda: engine.error)
    world.apply("CREATE JOIN filing, quote")
    await_rows(world, engine, 4)
    engine.stop()
    assert engine.error is None
    assert copies(world, spark, tables, 4) == {"filing": [(7, 5), (8, 5)], "quote": [(2, 9), (3, 1)]}


@contextmanager
def publishing(world: World) -> Iterator[None]:
    """Publish all the time: batch follows upon batch."""
    ended = threading.Event()

    def publish_on() -> None:
        count = 0
        while not ended.wait(0.02):
            publish(world, "quote", (count, count % 3))
            count += 1

    publisher = threading.Thread(target=publish_on)
    publisher.start()
    try:
        yield
    finally:
        ended.set()
        publisher.join()


def test_a_cell_that_comes_amid_publications_has_every_row_once(
    world: World, spark: SparkSession, tables: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gap between two batches is always missed: what was planned is run once more, and alone."""
    checkpoint, calm = Checkpoint(LocalFiles(world.checkpoint), ""), threading.Event()
    finished: list[tuple[int, int]] = []

    def miss(one: QueryController, run: QueryRun, deadline: float) -> None:
        eventually(lambda: calm.is_set() or not one._is_between_batches())

    finish = QueryController._finish

    def noted(one: QueryController, run: QueryRun, deadline: float) -> None:
        finish(one, run, deadline)
        finished.append((checkpoint.last_planned(), checkpoint.last_committed()))

    monkeypatch.setattr(QueryController, "_await_gap", miss)
    monkeypatch.setattr(QueryController, "_finish", noted)
    monkeypatch.setattr(query_controller, "STOP_SECONDS", 60.0)
    with publishing(world):
        engine = world.engine(process=process_group)
        eventually(lambda: checkpoint.last_committed() > 2, 120, failure=lambda: engine.error)
        world.apply("CREATE JOIN quote, filing")
        eventually(lambda: counters(world).get("rows", 0) > 0, 120, failure=lambda: engine.error)
        assert finished and finished[0][0] == finished[0][1] > 0
    calm.set()
    sent = world.admin.end_offsets(world.name("quote"))[0]
    eventually(lambda: world.last_end().get(world.name("quote")) == {"0": sent}, 120, failure=lambda: engine.error)
    engine.stop()
    assert engine.error is None
    assert copies(world, spark, tables, 2) == {"filing": [], "quote": [(n, n % 3) for n in range(sent)]}


def test_a_cell_of_tables_that_hold_too_much_is_refused_in_the_catalog(
    world: World, tables: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cell_births, "MOST_BYTES", 100)
    publish(world, "quote", *((n, n) for n in range(50)))
    engine = world.engine(process=process_group)
    eventually(lambda: world.last_end().get(world.name("quote")) == {"0": 50}, 120, failure=lambda: engine.error)
    world.apply("CREATE JOIN quote, filing")
    eventually(lambda: world.progress()[-1].catalog == 3, 60, failure=lambda: engine.error)
    written = [value.decode() for _, value in world.read(world.topics.catalog)][3]
    assert written.startswith("REFUSE JOIN filing, quote BECAUSE 'its tables hold more than 0 MB of state: `filing` 0.")
    engine.stop()
    assert engine.error is None and counters(world) == {}
