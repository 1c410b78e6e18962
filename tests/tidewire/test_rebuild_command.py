from __future__ import annotations

import json
from pathlib import Path

import pytest

from streaming.checkpoint.files import LocalFiles
from streaming.checkpoint.generation import Generations
from tests.connectors.small_log import Published, small_log
from tidewire import cli


def test_it_asks_the_engine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, checkpoint = small_log(tmp_path), tmp_path / "checkpoint"
    log.commit([Published("stock", 0, 0, None, b"x", 0)])
    given = ["--log-table", log.uri, "--checkpoint", str(checkpoint)]
    assert cli.run(["rebuild", "Stock", *given, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer == {"table": "stock", "log_version": 0, "checkpoint": f"{checkpoint}/rebuilt-1"}
    assert Generations(LocalFiles(checkpoint), str(checkpoint)).read().rebuild == "stock"


def test_without_a_log_or_a_checkpoint_here(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["rebuild", "stock", "--log-table", str(tmp_path / "none")]) == 2
    assert "there is no log" in capsys.readouterr().err
    assert cli.run(["rebuild", "stock", "--checkpoint", "s3a://b/c"]) == 2
    assert "is not on this machine" in capsys.readouterr().err
