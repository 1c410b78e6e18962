from __future__ import annotations

from itertools import count

import pytest
from pyspark.sql import SparkSession

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from operators.stored_rows import stored_rows
from shard.pipeline import process_group
from state.errors import StateError
from streaming.checkpoint.checkpoint import Checkpoint
from streaming.engine import stored_state
from streaming.engine.stored_state import read_state
from tests.streaming.conftest import World
from tests.streaming.waiting import eventually


@pytest.mark.broker
@pytest.mark.spark
@pytest.mark.timeout(900)
def test_the_rows_of_a_running_engine(world: World, spark: SparkSession) -> None:
    world.make("stock")
    world.declare("stock")
    ddl = f"CREATE TABLE stock (id VARCHAR PRIMARY KEY, price BIGINT) WITH ('topic'='{world.name('stock')}')"
    relation = apply_ddl(Catalog(), ddl, 0).relations["stock"]
    world.checkpoint.mkdir()
    assert read_state(spark, str(world.checkpoint), relation) is None
    engine = world.engine(process=process_group)
    world.publish("stock", b'{"id":"a","price":9007199254740993}')
    world.publish("stock", b'{"id":"b","price":null}', key=b'"b"')
    ends = {world.name("stock"): {"0": 2}}
    eventually(lambda: ends.items() <= world.last_end().items(), 300, failure=lambda: engine.error)
    found = read_state(spark, str(world.checkpoint), relation)
    assert found is not None
    assert found.batch == world.last_batch()
    assert list(stored_rows(relation, *(state.table.stored for state in found.states))) == [
        {"id": "a", "price": 9007199254740993}, {"id": "b", "price": None},
    ]  # fmt: skip
    engine.stop()
    for path in (world.checkpoint / "state").rglob("*.*"):
        if path.is_file() and path.suffix in (".changelog", ".zip", ".sst"):
            path.unlink()
    with pytest.raises(StateError, match="`tidewire rebuild stock` makes it anew from the log"):
        read_state(spark, str(world.checkpoint), relation)


def test_states_are_those_of_the_batch_that_is_told_while_the_engine_commits(tmp_path, monkeypatch) -> None:
    """A batch is committed whenever somebody looks."""
    committed, read = count(3), list[int]()
    monkeypatch.setattr(Checkpoint, "last_committed", lambda self: next(committed))
    monkeypatch.setattr(stored_state, "_stored", lambda spark, checkpoint, batch, *_: read.append(batch) or {})
    relation = apply_ddl(Catalog(), "CREATE TABLE stock (id VARCHAR PRIMARY KEY)", 0).relations["stock"]
    found = read_state(None, str(tmp_path), relation)
    assert found is not None and [found.batch] == read
