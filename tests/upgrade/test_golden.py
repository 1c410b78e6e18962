"""What an older commit wrote is read, and goes on as that commit itself went on (`make_golden.py` says what it is)."""

from __future__ import annotations

import json
import lzma
from collections import defaultdict
from pathlib import Path
from typing import Any

import msgspec
import pytest

from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from operators.packed import PackedMessages, PackedSnapshot, is_packed, unpack
from tests.tidewire.test_chain_interrupted import journal
from tests.upgrade.make_golden import take
from tidewire.pure_pipeline import Positions, PurePipeline
from tidewire.verification.verify import verify

GOLDEN = Path(__file__).with_name("golden.msgpack.xz")
TABLES = ("trade", "quote", "pg.public.item", "later")
Golden = dict[str, Any]


@pytest.fixture(scope="module")
def golden() -> Golden:
    found: Golden = msgspec.msgpack.decode(lzma.decompress(GOLDEN.read_bytes()), strict=False)
    return found


@pytest.fixture
def pipeline(golden: Golden) -> PurePipeline:
    return thawed(msgspec.msgpack.decode(golden["frozen"]))


def thawed(frozen: dict[str, Any]) -> PurePipeline:
    """Return a pipeline of this version that goes on from what an older one left, its edges from `edge-state`."""
    pipeline = PurePipeline(frozen["virtual_edges"])
    for topic, number, log in frozen["logs"]:
        pipeline.logs[topic][number] = [tuple(record) for record in log]
    pipeline.stamps = defaultdict(list, {(topic, number): stamps for topic, number, stamps in frozen["stamps"]})
    pipeline.clock, pipeline.epoch = frozen["clock"], frozen["epoch"]
    for shard, state in frozen["shards"].items():
        pipeline.seed(shard, state)
    pipeline._appended, pipeline._batch = frozen["appended"], frozen["batch"]
    pipeline._read, pipeline._planned = _positions(frozen["read"]), _positions(frozen["planned"])
    pipeline._fed = _positions(frozen["fed"])
    start, end = frozen["bounds"]
    pipeline._bounds, pipeline._committed, pipeline._announced = (start, end), frozen["committed"], True
    catalog = Catalog(prefix=pipeline.topics.prefix)
    for version, (_, ddl) in enumerate(pipeline.logs[pipeline.topics.catalog][0]):
        catalog = apply_ddl(catalog, ddl.decode(), version)
        pipeline._catalogs.append(catalog)
    for number in range(frozen["virtual_edges"]):
        pipeline.lose_edge(number)
    return pipeline


def _positions(found: list[tuple[str, int, int]]) -> Positions:
    return defaultdict(int, {(topic, number): at for topic, number, at in found})


def answers(pipeline: PurePipeline, ids: list[str]) -> dict[str, Any]:
    return {id: pipeline.answer(id) for id in ids}


def by_key(log: list[Any]) -> dict[bytes, list[bytes]]:
    found: dict[bytes, list[bytes]] = defaultdict(list)
    for key, value in log:
        found[key].append(value)
    return found


def test_it_is_a_batch_half_written_with_every_state_of_a_subscription(golden: Golden, pipeline: PurePipeline) -> None:
    """The file holds what it is for: else this test of an upgrade would test nothing."""
    batch, planned = pipeline._batch + 1, pipeline._planned
    chunks: dict[tuple[str, int], list[int]] = defaultdict(list)
    for number, log in pipeline.logs[pipeline.topics.notifications].items():
        for _, value in log:
            packed = unpack(value) if is_packed(value) else None
            if isinstance(packed, PackedMessages | PackedSnapshot) and packed.header.batch == batch:
                chunks[packed.header.shard, number].append(packed.header.of)
    assert planned and any(len(ofs) < ofs[0] for ofs in chunks.values())
    assert set(msgspec.msgpack.decode(golden["frozen"])["shards"]) >= {
        "trade/0",
        "quote/0",
        "quote/1",
        "quote/2",
        "item/0",
    }
    states = [sum(edge.counts[state] for edge in pipeline.edges) for state in ("live", "accepted", "held")]
    assert min(states) >= 5, states
    told = b"".join(value for *_, log in golden["told"] for _, value in log)
    assert all(
        word in told for word in (b'"expired"', b'"unsubscribed"', b'"table dropped"', b'"resync"', b'"snapshot"')
    )


def test_answers_are_those_that_it_held(golden: Golden, pipeline: PurePipeline) -> None:
    expected = {id: json.loads(answer) for id, answer in golden["answers"].items()}
    assert sum(answer is not None for answer in expected.values()) > 100
    assert answers(pipeline, list(expected)) == expected


def test_what_is_told_afterwards_is_what_the_older_version_told(golden: Golden, pipeline: PurePipeline) -> None:
    before = {(topic, number): len(log) for topic, logs in pipeline.logs.items() for number, log in logs.items()}
    for step in golden["steps"]:
        take(pipeline, step)
    for topic, number, expected in golden["told"]:
        told = pipeline.logs[topic][number][before.get((topic, number), 0) :]
        assert by_key(told) == by_key(expected), (topic, number)
    assert answers(pipeline, list(golden["then"])) == {id: json.loads(a) for id, a in golden["then"].items()}


def test_the_verification_finds_all_of_it_right(golden: Golden, pipeline: PurePipeline) -> None:
    for step in golden["steps"]:
        take(pipeline, step)
    whole, *others = (journal(pipeline, topic) for topic in TABLES)
    for other in others:
        whole.relations.update(other.relations)
    report = verify(whole)
    assert report.clean and report.unjudged == 0 and report.epochs == 2, report.faults
