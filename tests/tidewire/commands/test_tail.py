"""`tidewire tail`: which topic a name means; which records are printed, and how."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.tidewire.client.test_delivery_reader import CHANGE, packed
from tests.tidewire.commands.in_memory import TOPICS, InMemory, Refusals, connected, refusals, run
from tidewire.client.packed_deliveries import PACKED_KEY
from tidewire.commands import tail as module

DDL = """CREATE TABLE stock (symbol VARCHAR PRIMARY KEY, price DECIMAL(12,2)) WITH ('topic'='market.stock');
CREATE VIEW cheap AS SELECT symbol FROM stock WHERE price < 1"""


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Refusals:
    return refusals(monkeypatch, capfd, tmp_path, module)


@pytest.mark.parametrize(
    ("arguments", "said"), [(["--limit", "0"], "--limit"), (["a", "b"], "unexpected extra argument")]
)
def test_what_cannot_be(refused: Refusals, arguments: list[str], said: str) -> None:
    assert said in refused.of("tail", *arguments)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> InMemory:
    monkeypatch.chdir(tmp_path)
    made = InMemory(DDL)
    connected(monkeypatch, module, made)
    for offset, key in enumerate((b"s", b"@progress", b"s", b"t")):
        made.write(TOPICS.deliveries, offset % 2, key, b'{"n":%d}' % offset)
    made.write("market.stock", 0, b'{"symbol":"A"}', b'{"symbol":"A","price":1.5}')
    made.write("market.stock", 1, b'{"symbol":"B"}', None)
    return made


def printed(capfd: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, object]]:
    assert run("tail", *arguments, "--json") == 0
    return [json.loads(line) for line in capfd.readouterr().out.splitlines()]


@pytest.mark.parametrize("name", ["stock", "market.stock"])
def test_a_table_and_a_topics_own_name(cluster: InMemory, capfd: pytest.CaptureFixture[str], name: str) -> None:
    found = printed(capfd, name, "--from-beginning", "--no-follow")
    assert [(one["topic"], one["partition"], one["key"]) for one in found] == [
        ("market.stock", 0, {"symbol": "A"}),
        ("market.stock", 1, {"symbol": "B"}),
    ]
    assert [one["value"] for one in found] == [{"symbol": "A", "price": 1.5}, None]


def test_progress_is_left_out_unless_it_is_asked_for(cluster: InMemory, capfd: pytest.CaptureFixture[str]) -> None:
    for name in ("deliveries", TOPICS.deliveries):
        assert [one["key"] for one in printed(capfd, name, "--from-beginning", "--no-follow")] == ["s", "s", "t"]
    assert len(printed(capfd, "--from-beginning", "--no-follow", "--progress")) == 4


@pytest.mark.parametrize("follow", ["--follow", "--no-follow"])
def test_it_stops_after_so_many(cluster: InMemory, capfd: pytest.CaptureFixture[str], follow: str) -> None:
    assert len(printed(capfd, "--from-beginning", follow, "--limit", "2")) == 2


def test_without_the_beginning_it_prints_what_comes(cluster: InMemory, capfd: pytest.CaptureFixture[str]) -> None:
    assert printed(capfd, "deliveries") == printed(capfd, "deliveries", "--no-follow") == []
    assert len(printed(capfd, "deliveries", "--from-beginning")) == 3


def test_packed_deliveries_come_one_by_one(cluster: InMemory, capfd: pytest.CaptureFixture[str]) -> None:
    cluster.write(TOPICS.deliveries, 1, PACKED_KEY, packed(CHANGE, CHANGE))
    found = printed(capfd, "--from-beginning", "--no-follow")
    change = json.loads(CHANGE)
    assert [one["key"] for one in found] == ["s", "s", "t", change["id"], change["id"]]
    assert found[-1]["value"] == change
    assert len(printed(capfd, "--from-beginning", "--limit", "4")) == 4, "each of them counts"


def test_a_view_has_no_topic(cluster: InMemory, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("tail", "cheap") == 2
    said = " ".join(capfd.readouterr().err.split())
    assert "`cheap` is a view" in said and 'tidewire subscribe "SELECT * FROM cheap"' in said


def test_a_topic_that_is_not_there(cluster: InMemory, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("tail", "nothing") == 2
    said = " ".join(capfd.readouterr().err.split())
    assert "there is no topic or table `nothing`; there are acks, " in said and ", stock, " in said


def test_people_read_lines(cluster: InMemory, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("tail", "stock", "--from-beginning", "--no-follow") == 0
    first, second = capfd.readouterr().out.splitlines()
    assert '"price":1.5' in first.replace(" ", "") and "symbol" in second
