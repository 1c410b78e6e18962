from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from connectors.log.mark import Gap
from connectors.log.publication_log import PublicationLog
from tests.connectors.small_log import Published, small_log
from tidewire import cli
from tidewire.history.log_overview import iso_of, overview_of


def test_range_size_topics_and_gaps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = small_log(tmp_path)
    log.commit([Published("stock", 0, 0, None, b"x", 0), Published("stock", 3, 4, None, b"x", 0)])
    log.mark = msgspec.structs.replace(log.mark, gaps=[Gap("stock", 3, 0, 4)])
    log.commit([Published("bond", 0, 0, None, b"x", 0)])
    found = overview_of(PublicationLog(log.uri))
    assert (found.earliest.version, found.newest.version, found.rows, found.files) == (0, 1, 3, 2)
    assert [(one.topic, one.ends, one.lives) for one in found.topics] == [
        ("bond", {"0": 1}, 1), ("stock", {"0": 1, "3": 5}, 1),
    ]  # fmt: skip
    assert cli.run(["log", "--log-table", log.uri, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["gaps"] == [{"topic": "stock", "partition": 3, "start": 0, "end": 4}]
    assert cli.run(["log", "--log-table", log.uri]) == 0
    out = capsys.readouterr().out
    assert "earliest version that can be replayed: 0" in out
    assert "missing: records 0 to 3 of `stock` [3] had been trimmed before they were logged" in out


def test_no_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["log", "--log-table", str(tmp_path / "none")]) == 2
    assert "there is no log at" in capsys.readouterr().err


def test_iso_of() -> None:
    assert iso_of(1_700_000_000_123) == "2023-11-14T22:13:20.123Z"
