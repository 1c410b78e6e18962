"""`tidewire subscriptions`: how many are shown, and how answers look."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from connectors.kafka.partitioner import home_partition
from tests.tidewire.commands.in_memory import TOPICS, InMemory, Refusals, connected, refusals, run
from tidewire.client.registry import Registered
from tidewire.commands import subscriptions as module


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Refusals:
    return refusals(monkeypatch, capfd, tmp_path, module)


@pytest.mark.parametrize(("arguments", "said"), [(["--limit", "0"], "--limit"), (["s"], "unexpected extra argument")])
def test_what_cannot_be(refused: Refusals, arguments: list[str], said: str) -> None:
    assert said in refused.of("subscriptions", *arguments)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> InMemory:
    """103 that nobody has answered, and one whose answer is known."""
    monkeypatch.chdir(tmp_path)
    made = InMemory()
    connected(monkeypatch, module, made)
    for number in range(104):
        id = b"s%03d" % number
        made.write(TOPICS.subscriptions, home_partition(id, 2), id, b'{"sql":"SELECT MIN(x) FROM t%d"}' % number)
    home, version = home_partition(b"s000", 2), 0
    told = {"id": "s000", "version": version, "at": {"epoch": 1, "batch": 0}}
    made.write(TOPICS.acks, home, b"s000", json.dumps({"id": "s000", "version": version, "status": "live"}).encode())
    snapshot = told | {"kind": "snapshot", "n": 1, "old": None, "new": "1.50"}
    made.write(TOPICS.deliveries, home, b"s000", json.dumps(snapshot).encode())
    return made


def test_people_are_shown_the_first_hundred(cluster: InMemory, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("subscriptions") == 0
    out, err = capfd.readouterr()
    lines = out.splitlines()
    assert lines[0].split() == ["id", "status", "version", "answer", "query"] and len(lines) == 101
    assert lines[1].split()[:4] == ["s000", "live", "0", "1.50"] and lines[2].split()[:2] == ["s001", "unanswered"]
    assert err == "… and 4 more; --limit shows more of them, --search fewer\n"


def test_a_limit_and_what_is_searched(cluster: InMemory, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("subscriptions", "--limit", "3") == 0
    out, err = capfd.readouterr()
    assert len(out.splitlines()) == 4 and "and 101 more" in err
    assert run("subscriptions", "--search", "FROM T10") == 0
    out, err = capfd.readouterr()
    assert [line.split()[0] for line in out.splitlines()[1:]] == ["s010", "s100", "s101", "s102", "s103"] and err == ""


def test_programs_are_told_of_all_or_of_so_many(cluster: InMemory, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("subscriptions", "--json") == 0
    found = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert len(found) == 104 and set(found[0]) == set(Registered.__struct_fields__)
    assert run("subscriptions", "--json", "--limit", "2", "--no-answers") == 0
    found = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [(one["id"], one["status"], one["answer"]) for one in found] == [
        ("s000", "live", None),
        ("s001", "unanswered", None),
    ]


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (None, None),
        ("1.50", "1.50"),
        ([], []),
        ([1, 2], [1, 2]),
        ([("a", 1)], "1 row"),
        ([("a",)] * 1_200, "1,200 rows"),
    ],
)
def test_of_rows_there_is_their_number(answer: object, shown: object) -> None:
    assert module._shown(Registered("s", "live", 0, "q", answer=answer)) == shown  # type: ignore[arg-type]
