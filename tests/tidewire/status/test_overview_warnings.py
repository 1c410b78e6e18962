"""Warnings: each thing that is not well, with what to do."""

from __future__ import annotations

from typing import Any

from catalog.ddl.statements import apply_ddl, fold_ddl
from catalog.schema.catalog import Catalog
from operators.counters import ShardCounters
from tidewire.stack.process_state import ProcessState, Restart
from tidewire.status.overview import (
    CellState,
    EdgeState,
    EngineState,
    LogState,
    Overview,
    TableState,
    Trimmed,
    ViewState,
    WantedCell,
)  # fmt: skip
from tidewire.status.overview_warnings import warnings_of
from tidewire.status.retention_headroom import Headroom

CATALOG = apply_ddl(
    Catalog(), "CREATE TABLE t (k BIGINT PRIMARY KEY, risk DOUBLE) WITH ('topic'='t','format'='json')", 3
)


def counters(**more: object) -> ShardCounters:
    told: dict[str, Any] = {"decoded": 10, "seen": {"k": 10, "risk": 9}} | more
    return ShardCounters(epoch=0, shard="t/0", batch=5, **told)


def overview(**more: object) -> Overview:
    engine = EngineState(0, "t", "c", 5, 3, "t", 0.5)
    table = TableState("t", "t", 0, counters())
    edge = EdgeState("a:1", [0, 1], {"state": "running"})
    parts = {"engine": engine, "tables": [table], "edges": [edge], "dead_letters": 0} | more
    return Overview("b:1", "tw.", 2, 3, **parts)  # type: ignore[arg-type]


def warned(**more: object) -> str:
    return "\n".join(warnings_of(overview(**more), CATALOG))


def test_all_well_is_silent() -> None:
    assert warned() == ""


def test_an_engine_that_is_absent_silent_or_behind() -> None:
    assert "no engine has told any progress" in warned(engine=EngineState())
    assert "told nothing for 60 s" in warned(engine=EngineState(0, "t", "c", 5, 3, "t", 60.0))
    assert "version 3 is not in force yet; the engine works with 2" in warned(
        engine=EngineState(0, "t", "c", 5, 2, "t", 0.5)
    )


def test_edges_that_are_absent_out_of_reach_or_not_serving() -> None:
    assert "no edge runs" in warned(edges=[])
    assert "virtual edges 1 are moving" in warned(edges=[EdgeState("a:1", [0], {"state": "running"})])
    assert "`a:1` could not be asked" in warned(edges=[EdgeState("a:1", [0, 1], None)])
    lost = {"state": "running", "virtual_edges": {"0": {"losses": 2}, "1": {"losses": 1}, "2": {}}}
    assert "`a:1` could not read what engine or edges had written, 3 times" in warned(
        edges=[EdgeState("a:1", [0, 1], lost)]
    )
    other = {"state": "running", "virtual_edges": {"0": {"contradictions": 2}, "1": {"contradictions": 0}}}
    assert "`a:1` was told 2 answers otherwise that were told as final" in warned(
        edges=[EdgeState("a:1", [0, 1], other)]
    )
    assert "`a:1` is restoring" in warned(edges=[EdgeState("a:1", [0, 1], {"state": "restoring"})])


def test_filters_that_take_an_edge_long_and_answers_that_can_hardly_be_told_anew() -> None:
    def at_edge(largest: int, crowded: bool) -> str:
        filters = {"t": {"filters": 5_000, "bytes": 1, "candidates_per_hit": 70.4, "crowded": crowded}}
        health: dict[str, object] = {"state": "running", "virtual_edges": {"0": {"filters": filters}}}
        health["virtual_edges"]["1"] = {"largest_bag": largest}  # type: ignore[index]
        told = [TableState("t", "t", 0, counters(answer_rows=1_000)), TableState("t", "t", 0, None)]
        return warned(edges=[EdgeState("a:1", [0, 1], health)], tables=told)

    assert at_edge(799, False) == ""
    assert "compares a change of `t` with 70 of its 5,000 filters for each that it concerns" in at_edge(0, True)
    assert "has an answer of 800 rows, and 1,000 may be told at once" in at_edge(800, False)


def test_registrations_that_do_not_fit_or_cannot_be_read() -> None:
    unfit = table(unfit_registrations=3, unfit_reasons=["channel `topk`", "group `[]`"])
    assert "3 registrations of edges do not fit it (channel `topk`; group `[]`)" in unfit
    assert "2 records in `registrations` could not be read" in table(unreadable_registrations=2)


def table(lag: int | None = 0, **more: object) -> str:
    return warned(tables=[TableState("t", "t", lag, counters(**more))])


def test_tables_with_bad_records_moved_rows_or_a_big_state() -> None:
    assert "topic `t` of table `t` does not exist" in table(lag=None)
    assert "4 records did not decode" in table(dead=4)
    assert "3 rows came from another partition" in table(moved_partitions=3)
    big = TableState("t", "t", 0, counters(), largest_bytes=2_500_000)
    assert "2.5 MB of state, above" in warned(tables=[big])
    big.shards = 8
    assert "2.5 MB of state of its largest bucket of 8" in warned(tables=[big])
    assert warned(tables=[TableState("t", "t", 0, None)]) == ""


def test_bounds_of_a_shard_that_are_nearly_reached() -> None:
    few = {"shard_channels": (799, 1000), "shard_orderings": (159, 200), "shard_state_mb": (200_000_000, 256_000_000)}
    assert table(held=few) == ""
    said = table(held={"shard_channels": (800, 1000)})
    assert (
        "`t`: its shard has 800 channels, and may have 1,000" in said and "raise the setting `shard_channels`" in said
    )
    full = ViewState("v", "t/0", ("t",), 2, counters(held={"shard_channels": (800, 1000)}))
    assert "view `v`: its shard has 800 channels" in warned(views=[full])
    parted = TableState("t", "t", 0, counters(held={"shard_state_mb": (205_000_000, 256_000_000)}), shards=8)
    assert "the fullest of its 8 shards has 205 MB of state, and may have 256" in warned(tables=[parted])


def test_a_debezium_topic_of_several_partitions() -> None:
    catalog = apply_ddl(Catalog(), "CREATE TABLE t (k BIGINT PRIMARY KEY) WITH ('format'='debezium-json')", 3)
    for partitions, warned_of in ((1, False), (4, True)):
        one = TableState("t", "t", 0, None, partitions=partitions)
        said = "\n".join(warnings_of(overview(tables=[one]), catalog))
        assert ("no certain order" in said) is warned_of


def test_a_column_that_never_came_names_what_came_under_a_like_name() -> None:
    never = {"seen": {"k": 10, "risk": 0}}
    assert "column `risk` never came in 10 rows. Did the rows' `Risk` mean it?" in table(
        **never, unknown_members=["other", "Risk"]
    )
    assert "never came in 8 rows. It is NULL everywhere." in table(**never, deletes=2)
    assert table(seen={}, decoded=4, deletes=4) == ""
    assert table(seen={}) == ""


def test_trimmed_records() -> None:
    assert "records 5 to 8 of `t` [0] were trimmed" in warned(trimmed=[Trimmed("t", "0", 5, 9)])


def test_headroom_that_runs_out_and_a_log_that_does_not_go_on() -> None:
    rooms = [Headroom("engine", "t", 500_000.0, 604_800.0), Headroom("log", "u", 3_600.0, 604_800.0)]
    found = warned(headroom=rooms)
    assert "engine" not in found
    assert "log: may stay stopped for 1 h more before records of `u`" in found
    assert "no longer before" in warned(headroom=[Headroom("edges", "t", -5.0, 100.0)])
    assert warned(headroom=[Headroom("edges", "t", 60.0, 100.0)]) == ""
    assert "does not go on: no disk" in warned(log=LogState("p", 30.0, 7, "t", problem="no disk"))


def test_a_process_that_ended_and_is_not_ready_again_comes_first() -> None:
    restart = Restart(at="12:00", why="SIGKILL")
    waiting = ProcessState(name="engine", state="waiting", deaths=1, next_start="12:01", last=[restart])
    said = warned(processes=[waiting, ProcessState(name="edge-0", state="ready", last=[restart])])
    assert said == "engine ended at 12:00 (SIGKILL), and starts again at 12:01."


def test_tables_that_nobody_reads() -> None:
    catalog = fold_ddl(CATALOG, "CREATE TABLE old (k BIGINT PRIMARY KEY) WITH ('topic'='tw.acks')", 4)
    [told] = warnings_of(overview(), catalog)
    assert "table `old` is not read" in told and "`tw.acks`" in told and "DROP TABLE old" in told


def test_cells_that_have_grown_and_cells_that_are_waited_for() -> None:
    counted = ShardCounters(epoch=0, shard="cell/t+u/0", batch=1, bytes=17_200_000)
    small = CellState(("t",), 2, "then", 0, ShardCounters(epoch=0, shard="cell/t/0", batch=1, bytes=1))
    said = warned(cells=[CellState(("t", "u"), 2, "then", 0, counted), small, CellState(("u",), 2, "then", 0)])
    assert said.startswith("the copies of `t`, `u` for their joins have 17.2 MB of state, above the 16 MB")
    assert said.endswith("or DROP JOIN t, u.")
    waiting = warned(wanted_cells=[WantedCell(("Order", "t"), ["a:1", "b:2"])])
    assert waiting.startswith("subscriptions at `a:1`, `b:2` wait until joins of `Order`, `t` begin")
    assert 'write CREATE JOIN "Order", t:' in waiting
