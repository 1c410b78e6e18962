"""`tidewire publish`: what is refused at once; rows, keys and captured records, and what is said of them."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.tidewire.bulk.test_publication import Kept
from tests.tidewire.commands.in_memory import InMemory, Refusals, connected, refusals, run
from tidewire.bulk.publication import Published
from tidewire.commands import publish as module
from tidewire.terminal import Terminal

DDL = "CREATE TABLE stock (symbol VARCHAR PRIMARY KEY, price DECIMAL(12,2))"


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Refusals:
    return refusals(monkeypatch, capfd, tmp_path, module)


@pytest.mark.parametrize(
    "arguments", [[], ["stock", "--raw", "f"], ["--raw", "f", "--delete"], ["stock", "rows", "--raw", "f", "--delete"]]
)
def test_either_a_table_or_records_as_they_are(refused: Refusals, arguments: list[str]) -> None:
    assert "name either a TABLE, or --raw FILE without --delete" in refused.of("publish", *arguments)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--rate", "0"], "--rate"),
        (["--from-line", "0"], "--from-line"),
        (["--timeout", "0.5"], "--timeout"),
        (["--raw", " "], "expected a path, got ' '"),
        (["--raw", "none.jsonl"], "`none.jsonl` cannot be read: No such file"),
        (["--raw", "."], "`.` cannot be read: Is a directory"),
    ],
)
def test_what_cannot_be(refused: Refusals, arguments: list[str], said: str) -> None:
    assert said in refused.of("publish", *(["stock"] if arguments[0] != "--raw" else []), *arguments)


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Kept:
    monkeypatch.chdir(tmp_path)
    made = Kept()
    connected(monkeypatch, module, InMemory(DDL), Producer=lambda *_: made)
    return made


def lines(*texts: str) -> str:
    Path("rows.jsonl").write_text("".join(f"{text}\n" for text in texts))
    return "rows.jsonl"


GOOD, BAD = ['{"symbol":"A","price":1.5}', '{"symbol":"B","price":2}'], '{"symbol":"C","price":1.555}'


def test_rows(kept: Kept, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("publish", "stock", lines(*GOOD)) == 0
    assert [record.topic for record in kept.records] == ["stock", "stock"]
    assert [json.loads(record.key or b"") for record in kept.records] == [{"symbol": "A"}, {"symbol": "B"}]
    assert capfd.readouterr().out.startswith("2 row(s) published in ")
    assert run("publish", "stock", lines(*GOOD), "--from-line", "2", "--json") == 0
    said = json.loads(capfd.readouterr().out)
    assert (said["table"], said["rows"], said["skipped"]) == ("stock", 1, 0)


def test_keys_to_delete(kept: Kept, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("publish", "stock", lines('"A"', '{"symbol":"B"}'), "--delete") == 0
    assert [record.value for record in kept.records] == [None, None]
    assert capfd.readouterr().out.startswith("2 row(s) deleted in ")


def test_a_bad_line_stops_it_or_is_left_out(kept: Kept, capfd: pytest.CaptureFixture[str]) -> None:
    file = lines(GOOD[0], BAD, GOOD[1])
    assert run("publish", "stock", file) == 2
    out, err = capfd.readouterr()
    assert out == "" and "line 2: " in err and "1 row(s) before it were published" in " ".join(err.split())
    assert run("publish", "stock", file, "--skip-bad") == 0
    out, err = capfd.readouterr()
    assert out.endswith(", 1 bad line(s) left out\n") and err.startswith("line 2 is left out: ")
    assert len(kept.records) == 3


def test_a_table_that_is_not_there(kept: Kept, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("publish", "stick", lines(*GOOD)) == 2
    assert "there is no table `stick`" in capfd.readouterr().err and not kept.records


def test_who_is_not_answered_is_told_how_to_go_on(kept: Kept, capfd: pytest.CaptureFixture[str]) -> None:
    kept.left = 1
    file = lines(*GOOD)
    assert run("publish", "stock", file, "--skip-bad", "--timeout", "7", "--json") == 1
    out, err = capfd.readouterr()
    assert json.loads(out) == {"table": "stock", "rows": 1, "unsure": 1, "from_line": 2} and kept.abandoned
    [command] = [line for line in err.splitlines() if "--from-line" in line]
    assert shlex.split(command.partition("Go on: ")[2]) == [
        *("tidewire", "publish", "stock", file, "--skip-bad", "--timeout", "7.0"),
        *("--bootstrap", "127.0.0.1:1", "--from-line", "2"),
    ]


def test_what_is_read_from_standard_input_must_be_said_again() -> None:
    told = module._how("stock", Path("-"), {"--delete": True, "--rate": None, "--raw": None}, 9)
    assert told == "Go on with the same lines: tidewire publish stock - --delete --from-line 9"
    assert (
        module._how(None, Path("-"), {"--raw": Path("a b")}, 1) == "Go on: tidewire publish --raw 'a b' --from-line 1"
    )


def test_captured_records_go_where_they_came_from(kept: Kept, capfd: pytest.CaptureFixture[str]) -> None:
    captured = [{"topic": "stock", "key": "k", "value": "v"}, {"topic": "stock", "partition": 1, "value": None}]
    assert run("publish", "--raw", lines(*map(json.dumps, captured))) == 0
    assert [(record.partition, record.key, record.value) for record in kept.records] == [
        (None, b"k", b"v"),
        (1, None, None),
    ]
    assert capfd.readouterr().out.startswith("2 record(s) published in ")


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"topic": "none", "value": "v"}, "does not have the topic `none`"),
        ({"topic": "stock", "partition": 2, "value": "v"}, "topic `stock` has 2 partition(s)"),
        ({"value": "v"}, "topic"),
    ],
)
def test_records_that_have_no_place(
    kept: Kept, capfd: pytest.CaptureFixture[str], record: dict[str, object], said: str
) -> None:
    assert run("publish", "--raw", lines(json.dumps(record))) == 2
    assert said in " ".join(capfd.readouterr().err.split()) and not kept.records


def test_it_says_now_and_then_how_far_it_is(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    clock = 0.0
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock))
    tick = module._Ticker(Terminal())
    for clock, rows, sent in (
        (1.9, 5, 5),
        (2.0, 4_000, 4_000),
        (3.9, 5_000, 6_000),
        (4.0, 5_000, 6_000),
        (6.0, 5_000, 6_000),
    ):
        tick(Published(rows, sent, seconds=clock))
    assert capfd.readouterr().err.splitlines() == [
        "4,000 rows written so far, 2,000 rows/s",
        "5,000 rows written so far, 1,250 rows/s; 1,000 more are sent and not acknowledged yet",
        "5,000 rows written so far, 833 rows/s; 1,000 more are sent and not acknowledged yet, and nothing for 2 s",
    ]
