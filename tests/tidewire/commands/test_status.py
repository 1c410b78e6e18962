"""`tidewire status`: processes are shown even where Kafka does not answer; filters stand beside all that are live."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest
from rich.console import Console, RenderableType

from operators.counters import ShardCounters
from tidewire import cli
from tidewire.client import connection
from tidewire.commands.status import _parts
from tidewire.stack.data_directory import DataDirectory
from tidewire.stack.port import free_port
from tidewire.status.overview import CellState, EdgeState, EngineState, Overview, TableState, ViewState

BROKER = {
    "name": "broker",
    "state": "waiting",
    "restarts": 6,
    "deaths": 7,
    "next_start": "2026-01-01T00:00:30+00:00",
    "last": [{"at": "2026-01-01T00:00:00+00:00", "why": "exit code 1", "said": "no room"}],
}


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """What `up` would have written; nobody listens at its address."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(connection, "REACH_SECONDS", 1.0)
    directory = DataDirectory(tmp_path / "tidewire-data")
    directory.run.mkdir(parents=True)
    status = {"pid": os.getpid(), "bootstrap": f"127.0.0.1:{free_port()}", "prefix": "tw.", "children": [BROKER]}
    directory.write_status(status)
    return status


def test_who_is_waited_for_is_said_while_the_broker_is_away(
    told: dict[str, object], capfd: pytest.CaptureFixture[str]
) -> None:
    arguments = ["status", "--bootstrap", str(told["bootstrap"]), "--prefix", "tw."]
    assert cli.run([*arguments, "--json"]) == 1
    out, err = capfd.readouterr()
    assert json.loads(out)["processes"][0]["last"][0]["said"] == "no room"
    assert "broker ended at 2026-01-01T00:00:00+00:00 (exit code 1; 7 times in a row)" in err
    assert cli.run(arguments) == 1
    assert "no room" in capfd.readouterr().out


@pytest.mark.parametrize("other", [["--prefix", "other."], ["--bootstrap", f"127.0.0.1:{free_port()}"]])
def test_another_stack_s_processes_are_not_taken_for_it(
    told: dict[str, object], other: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["status", "--bootstrap", str(told["bootstrap"]), "--json", *other]) == 1
    assert capfd.readouterr().out == ""


def test_filters_are_counted_beside_all_live_ones_and_shown_by_table() -> None:
    filters = {"t": {"filters": 3, "bytes": 2_400_000, "candidates_per_hit": 4.5, "crowded": False}}
    edges = {"0": {"live": 5, "accepted": 1, "messages": 4, "unwanted": 1, "filters": filters}, "1": {"live": 2}}
    counted = ShardCounters(epoch=0, shard="t/0", batch=1, rows=9, bytes=4_000, needed=["k", "v"])
    old = EdgeState("b:2", [2], {"state": "running", "virtual_edges": {"2": {"live": 1}}})
    overview = Overview(
        "b:1", "tw.", 3, 0, EngineState(), [TableState("t", "t", 0, counted), TableState("u", "u", None)],
        [EdgeState("a:1", [0, 1], {"state": "running", "virtual_edges": edges}), old, EdgeState("c:3", [])], 0,
    )  # fmt: skip
    _, tables, of_edges, of_filters, *_ = map(_text, _parts(overview))
    assert tables[1].split() == ["t", "t", "9", "0", "0", "0", "0", "0", "0", "k,", "v", "4"]
    assert [line.split()[:6] for line in of_edges[1:4]] == [
        ["a:1", "running", "0,1", "7", "3", "1"], ["b:2", "running", "2", "1", "0", "0"],
        ["c:3", "not", "reached", "0", "0", "0"],
    ]  # fmt: skip
    assert [line.split() for line in of_filters[1:]] == [["a:1", "t", "3", "2.4", "4.5"]]


def test_what_serves_joins_is_shown_where_there_is_any() -> None:
    counted = ShardCounters(epoch=0, shard="cell/t+u/0", batch=1, rows=9, bytes=4_000, messages=4, shipped=10)
    cells = [CellState(("t", "u"), 2, "2026-01-01T00:00:00+00:00", 3, counted), CellState(("t",), 5, "later", 0)]
    filters = {'[["t","u"],[[[0,"k"],[1,"k"]]]]': {"filters": 3, "bytes": 0, "candidates_per_hit": 1.0}}
    edges = [EdgeState("a:1", [0], {"state": "running", "virtual_edges": {"0": {"filters": filters}}})]
    overview = Overview("b:1", "tw.", 3, 0, EngineState(), [], edges, 0, cells=cells)
    _, _, of_cells, _, of_filters, *_ = map(_text, _parts(overview))
    assert [line.split() for line in of_cells[1:]] == [
        ["t,", "u", "2026-01-01T00:00:00+00:00", "9", "4", "3", "4", "2.5"], ["t", "later", "0"],
    ]  # fmt: skip
    assert of_filters[1].split()[:5] == ["a:1", "t", "JOIN", "u", "3"]


def test_views_are_shown_with_where_they_are_computed() -> None:
    counted = ShardCounters(epoch=0, shard="v/0", batch=1, rows=9, bytes=4_000, messages=4, needed=["n"])
    views = [
        ViewState("v", "t/0", ("t",), 2, counted, topic="out"),
        ViewState("w", "t/0", ("v",), 3, counted, shards=3),
        ViewState("x", "cell/t+u/0", ("u", "v"), 4),
    ]
    overview = Overview("b:1", "tw.", 3, 0, EngineState(), [], [], 0, views=views)
    _, _, of_views, *_ = map(_text, _parts(overview))
    assert [line.split() for line in of_views[1:]] == [
        ["v", "t", "t/0", "out", "9", "4", "4", "n"],
        ["w", "v", "t/0", "and", "the", "other", "2", "buckets", "9", "4", "4", "n"],
        ["x", "u,", "v", "cell/t+u/0", "not", "asked"],
    ]


def _text(part: RenderableType) -> list[str]:
    console = Console(width=200, file=io.StringIO(), color_system=None)
    with console.capture() as capture:
        console.print(part)
    return [line for line in capture.get().splitlines() if line.strip()]
