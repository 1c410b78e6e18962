"""What is published and asked around views is what the tables, the views and the compiler take."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec
import numpy as np

from benchmarks.bench import QUICK, Bench
from benchmarks.stock_workload import Audience
from benchmarks.view_latency import ASK_BEST, ASK_SECTOR, Case
from benchmarks.view_shard_cost import Engine, Wrapped
from benchmarks.view_workload import (
    BY_SECTOR,
    CASES,
    LEVELS,
    ON_VIEW,
    SECTOR,
    STOCK,
    SectorMarket,
    asked_of_view,
    asked_ranges,
    catalog_of,
)
from catalog.query.compiler import Compiler
from connectors.topics import Topics
from tidewire.pure_pipeline import PurePipeline


def test_one_publication_in_twenty_is_of_a_sector_and_all_fit_their_tables() -> None:
    catalog = catalog_of()
    market = SectorMarket(catalog.relations, 1_000)
    loaded, changed = [*market.load()], [*market.changes(2_000)]
    assert Counter(each.topic for each in loaded) == {"sector": 20, "stock": 1_000}
    assert Counter(each.topic for each in changed) == {"sector": 100, "stock": 1_900}
    for each in (*loaded, *changed):
        row = msgspec.json.decode(each.value or b"")
        assert set(row) == {column.name for column in catalog.relations[each.topic].columns}
        assert 0 <= row["sector"] < market.sectors


def test_ranges_are_of_numbers_that_there_are() -> None:
    ranges = asked_ranges(500, 40, 5)
    assert all(0 <= lo <= hi < 40 and hi - lo < 5 for lo, hi in ranges) and len(set(ranges)) > 50


def test_what_edges_would_write_is_of_the_view_that_is_asked() -> None:
    catalog = catalog_of(*LEVELS)
    for name, case in CASES.items():
        written = [*asked_of_view(name, catalog, Topics(), ON_VIEW, 5_000, 4)]
        shard = b"" if case.shape is None else f"{case.shape.relation}/0".encode()
        assert {each.key for each in written} == ({shard} if shard else set())


def test_questions_of_the_latency_are_accepted() -> None:
    publisher: Any = mock.Mock()
    case, compiler = Case(Bench(Path(), QUICK, print), publisher, Topics(), {}), Compiler(catalog_of(*LEVELS))
    asked = [case._asked("view-0", ASK_SECTOR.format(0, 3)), case._asked("view-first-2", ASK_BEST)]
    found = [compiler.compile(msgspec.json.decode(each.value or b"")["sql"]) for each in asked]
    assert [each.region.shape.relation for each in found] == ["by_sector", "best"]


def test_those_of_a_view_hear_of_a_publication_in_the_batch_in_which_those_of_its_table_do() -> None:
    pipeline = PurePipeline(virtual_edges=1)
    pipeline.apply("; ".join((STOCK.format(topic="stock"), SECTOR.format(topic="sector"), BY_SECTOR)))
    market = SectorMarket(pipeline.catalog.relations, 200)
    published = [*market.load(), *market.changes(300)]
    asked = {"subscriber-0": "SELECT SUM(price) FROM stock WHERE risk BETWEEN 0 AND 1000"}
    asked |= {f"view-{i}": ASK_SECTOR.format(i, i) for i in range(market.sectors)}
    for record in published[:204]:
        pipeline.append(record.topic, record.key, record.value)
    pipeline.settle()
    for name, sql in asked.items():
        pipeline.append(pipeline.topics.subscriptions, name.encode(), msgspec.json.encode({"sql": sql}))
    pipeline.settle()
    for start in range(204, len(published), 100):
        for record in published[start : start + 100]:
            pipeline.append(record.topic, record.key, record.value)
        pipeline.settle()
    heard: dict[str, dict[int, int]] = {"subscriber": {}, "view": {}}
    for _, value in pipeline.logs[pipeline.topics.deliveries][0]:
        told = msgspec.json.decode(value or b"")
        if told["kind"] == "change" and told["at"]["topic"] == "stock":
            heard[told["id"].partition("-")[0]][told["at"]["offset"]] = told["at"]["batch"]
    assert heard["subscriber"] == heard["view"] and len(heard["view"]) == 285


def test_subscriptions_on_views_hear_of_changes_in_the_measured_engine() -> None:
    market, wrapped, audience = SectorMarket(catalog_of().relations, 1_000), Wrapped(), Audience(100, 1_000)
    loaded = wrapped.parcels([*market.load()])
    batch = wrapped.parcels([*market.changes(500)])
    told = {}
    for name in CASES:
        engine = Engine(name, 1_000, audience, loaded)
        assert engine.run(batch) > 0
        told[name] = np.array([len(state or b"") for state in engine.states.values()]).sum()
    assert told["table"] < told["view"] < told["cell"]
