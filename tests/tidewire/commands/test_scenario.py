import json
from pathlib import Path

import typer
from typer.testing import CliRunner

from tidewire.commands.scenario import scenario

FILES = Path(__file__).parents[2] / "scenarios"

app = typer.Typer()
app.command()(scenario)

TITLE = '{"scenario": "s", "needs": ["range_min"]}\n'
TABLE = '{"catalog": "CREATE TABLE t (id INTEGER PRIMARY KEY, y INTEGER, s VARCHAR)"}\n'


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_files_that_hold_exit_zero():
    files = sorted(FILES.glob("*.jsonl"))[:3]
    result = run(*files)
    assert result.exit_code == 0, result.output
    assert f"{len(files)} passed, 0 failed, 0 skipped" in result.output


def test_a_failure_shows_step_expected_and_got(tmp_path):
    path = tmp_path / "wrong.jsonl"
    path.write_text(
        TITLE + TABLE + '{"subscribe": "a", "sql": "SELECT MIN(y) FROM t"}\n{"expect": "a", "rows": [[1]]}\n'
    )
    result = run(path)
    assert result.exit_code == 1
    assert "line 4: expect a" in result.output
    assert '{"rows":[[1]]}' in result.output and '{"rows":[[null]],"notified":1}' in result.output


def test_json_is_one_object_and_counts_skips(tmp_path):
    needs = tmp_path / "needs.jsonl"
    needs.write_text('{"scenario": "s", "needs": ["teleport"]}\n')
    text = tmp_path / "text.jsonl"
    text.write_text(TITLE + TABLE + '{"subscribe": "a", "sql": "SELECT SUM(s) FROM t"}\n')
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text(TITLE + TABLE + '{"subscribe": "a", "sql": "SELECT nonsense"}\n')
    result = run("--json", needs, text, wrong, FILES / "stocks.jsonl")
    report = json.loads(result.stdout)
    assert (report["passed"], report["failed"], report["skipped"]) == (1, 1, 2)
    assert set(report["failures"][0]) == {"file", "step", "expected", "got"}
    assert result.exit_code == 1
