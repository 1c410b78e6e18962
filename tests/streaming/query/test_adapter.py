from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from catalog.schema.catalog import Catalog
from catalog.schema.relation import Relation
from connectors.placement import Member, Placement
from connectors.record import RawRecords
from connectors.schemas.schema_registry import Registry, registry_in_use
from connectors.topics import Topics
from shard.bounds import Bounds
from shard.group_spec import GroupSpec
from shard.pipeline import GroupResult
from streaming.query import adapter, shuffle_batch
from streaming.query.adapter import GroupFunction
from streaming.query.shuffle_batch import ShuffleBatches

TOPICS = Topics("t.")
SOURCES = (TOPICS.registrations, "stock")
STOCK = Relation("stock", (), (), "stock")
TWO = Placement({"stock/0": [Member("stock/0", STOCK)], "pair": [Member("b/0", STOCK), Member("a/0", STOCK)]})


class State:
    """Spark's GroupState, as far as it is used."""

    def __init__(self, value: bytes | None = None) -> None:
        self.value = value

    @property
    def exists(self) -> bool:
        return self.value is not None

    @property
    def get(self) -> tuple[bytes]:
        assert self.value is not None
        return (self.value,)

    def update(self, value: tuple[bytes]) -> None:
        self.value = value[0]

    def remove(self) -> None:
        self.value = None


class Seen:
    """A shard that keeps what it was given."""

    def __init__(self, result: GroupResult) -> None:
        self.result = result
        self.calls: list[tuple[GroupSpec, int, bytes | None, list[RawRecords]]] = []

    def __call__(self, spec: GroupSpec, batch: int, state: bytes | None, records: Sequence[RawRecords]) -> GroupResult:
        self.calls.append((spec, batch, state, list(records)))
        return self.result


def make_function(process: Any, **changes: Any) -> GroupFunction:
    values = {
        "process": process,
        "epoch": 5,
        "sources": SOURCES,
        "catalogs": ((0, Catalog(1)), (10, Catalog(4)), (12, Catalog(6))),
        "placements": ((0, Placement({})), (10, TWO), (12, Placement({}))),
        "topics": TOPICS,
        "partitions": 2,
        "flush_rows": 3,
    }
    return GroupFunction(**(values | changes))


def chunk(*rows: tuple[int, bytes | None, bytes | None, int]) -> pd.DataFrame:
    source, keys, values, offsets = zip(*rows, strict=True)
    columns = {
        "source": pa.array(source, pa.int32()),
        "key": pa.array(keys, pa.binary()),
        "value": pa.array(values, pa.binary()),
        "partition": pa.array([0] * len(rows), pa.int32()),
        "offset": pa.array(offsets, pa.int64()),
        "micros": pa.array([2**60 + offset for offset in offsets], pa.int64()),
    }
    wrap = ShuffleBatches(SOURCES, ((0, Placement.of(Catalog(1, {"stock": STOCK}))),))
    return pd.concat([parcels.to_pandas() for parcels in wrap([pa.RecordBatch.from_pydict(columns)])])


@pytest.fixture(autouse=True)
def _in_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "current_batch", lambda: 11)
    monkeypatch.setattr(shuffle_batch, "current_batch", lambda: 11)


def test_all_chunks_are_handed_over_by_topic_with_exact_numbers() -> None:
    process = Seen(GroupResult(b"after", []))
    state = State(b"before")
    chunks = [chunk((1, b"a", None, 2**53 + 1), (0, b"stock/0", b"r", 7)), chunk((1, None, b"", 9))]
    assert list(make_function(process)(("stock/0",), chunks, state)) == []
    spec, batch, before, records = process.calls[0]
    assert (spec.epoch, spec.group, spec.catalog.version, spec.partitions) == (5, "stock/0", 4, 2)
    assert (batch, before, state.value) == (11, b"before", b"after")
    assert [(r.topic, r.keys, r.values, r.offset.tolist()) for r in records] == [
        ("stock", [b"a"], [None], [2**53 + 1]),
        (TOPICS.registrations, [b"stock/0"], [b"r"], [7]),
        ("stock", [None], [b""], [9]),
    ]
    assert records[0].timestamp.tolist() == [2**60 + 2**53 + 1]
    assert records[0].partition.dtype == np.int32


def test_a_group_has_the_members_that_it_is_placed_with_in_the_batch() -> None:
    process = Seen(GroupResult(None, []))
    for group, members in (("pair", ("a/0", "b/0")), ("stock/0", ("stock/0",)), ("gone/0", ())):
        list(make_function(process)((group,), [chunk((1, b"a", b"", 1))], State(None)))
        assert process.calls[-1][0].members == members


def test_a_shard_is_told_its_bounds_as_a_worker_has_them() -> None:
    process, bounds = Seen(GroupResult(None, [])), pickle.loads(pickle.dumps(Bounds(channels=7)))
    for given, told in (({}, Bounds()), ({"bounds": bounds}, bounds)):
        list(make_function(process, **given)(("stock/0",), [chunk((1, b"a", b"", 1))], State(None)))
        assert process.calls[-1][0].bounds == told


def test_a_shard_may_be_new_and_may_be_forgotten() -> None:
    process = Seen(GroupResult(None, []))
    state = State(b"x")
    list(make_function(process)(("stock/0",), [chunk((1, b"a", b"b", 1))], state))
    assert state.value is None
    list(make_function(process)(("stock/0",), [chunk((1, b"a", b"b", 1))], state))
    assert process.calls[1][2] is None


def test_workers_ask_the_registry_of_the_engine() -> None:
    asked: list[Registry | None] = []

    def process(*_: object) -> GroupResult:
        asked.append(registry_in_use())
        return GroupResult(None, [])

    registry = Registry("http://registry", "reader:s3cret")
    for function in (make_function(process, registry=registry), make_function(process)):
        assert pickle.loads(pickle.dumps(function.registry)) == function.registry
        assert list(function(("stock/0",), [], State())) == []
    assert asked == [registry, None]
