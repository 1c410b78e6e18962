"""`tidewire apply`: what is refused at once; what is said of a catalog that is in force."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.tidewire.commands.in_memory import InMemory, Refusals, connected, refusals, run
from tidewire.commands import apply as module

STOCK = "CREATE TABLE stock (id BIGINT PRIMARY KEY, price DECIMAL(12,2))"
ITEM = "CREATE TABLE item (id BIGINT PRIMARY KEY) WITH ('format'='debezium-json')"


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Refusals:
    return refusals(monkeypatch, capfd, tmp_path, module)


def written(text: str) -> str:
    Path("catalog.sql").write_text(text)
    return "catalog.sql"


def test_what_cannot_be(refused: Refusals) -> None:
    assert "Missing argument" in refused.of("apply")
    assert "`none.sql` cannot be read" in refused.of("apply", "none.sql")
    assert "--partitions" in refused.of("apply", written(STOCK), "--partitions", "0")
    Path("bytes.sql").write_bytes(b"\xff")
    assert "`bytes.sql` is not UTF-8: byte 0" in refused.of("apply", "bytes.sql")


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> InMemory:
    monkeypatch.chdir(tmp_path)
    made = InMemory(ITEM)
    connected(monkeypatch, module, made)
    return made


def test_what_is_in_force_now(cluster: InMemory, capfd: pytest.CaptureFixture[str]) -> None:
    cluster.logs["item"] = {0: []}
    text = f"""{STOCK}; CREATE STREAM s (g VARCHAR, ts TIMESTAMP) WITH ('event_time'='ts', 'lateness'='1 s');
        CREATE VIEW v AS SELECT price FROM stock; CREATE JOIN stock, item"""
    assert run("apply", written(text)) == 0
    out, err = capfd.readouterr()
    assert out == "catalog version 1 is announced; tables: item, stock; streams: s; views: v; joins of item, stock\n"
    assert err == "" and cluster.asked == [(text, 60.0, {"create_topics": True, "partitions": None})]


def test_who_does_not_wait_is_told_so(cluster: InMemory, capfd: pytest.CaptureFixture[str]) -> None:
    options = ["--timeout", "0", "--partitions", "3", "--no-create-topics", "--json"]
    assert run("apply", written("DROP TABLE item"), *options) == 0
    said = json.loads(capfd.readouterr().out)
    empty: dict[str, list[str]] = {"tables": [], "joins": [], "streams": [], "views": [], "warnings": []}
    assert said == {"version": 1, "state": "written"} | empty
    assert cluster.asked == [("DROP TABLE item", 0.0, {"create_topics": False, "partitions": 3})]
    cluster.asked.clear()
    assert run("apply", written("DROP TABLE IF EXISTS item"), "--timeout", "0") == 0
    assert capfd.readouterr().out == "catalog version 2 is written; tables: none\n"


def test_what_has_no_certain_order_is_warned_of(cluster: InMemory, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("apply", written(STOCK), "--json") == 0
    out, err = capfd.readouterr()
    [warning] = json.loads(out)["warnings"]
    assert "`item` has 2 partitions" in warning and " ".join(err.split()) == f"warning: {' '.join(warning.split())}"


def test_joins_that_are_not_served_are_warned_of(cluster: InMemory, capfd: pytest.CaptureFixture[str]) -> None:
    cluster.logs["item"] = {0: []}
    cluster.apply("REFUSE JOIN item BECAUSE 'it is too large'", 0)
    assert run("apply", written(STOCK)) == 0
    assert capfd.readouterr().err == "warning: joins of `item` are not served: it is too large.\n"


def test_a_refusal_of_the_catalog_is_the_commands(cluster: InMemory, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("apply", written("CREATE TABEL t (id BIGINT PRIMARY KEY)")) == 2
    out, err = capfd.readouterr()
    assert out == "" and "^" in err
