import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from tidewire.commands.scenario import scenario
from tidewire.scenario.pure import PureEngine

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


GOOD = TITLE + TABLE + '{"subscribe": "a", "sql": "SELECT MIN(y) FROM t"}\n{"expect": "a", "rows": [[null]]}\n'
BAD_FILES = {
    "none": None,
    "empty": "",
    "cut": TITLE + '{"publish": "t", "rows": [',
    "two verbs": TITLE + '{"publish": "t", "expect": "a"}\n',
    "long exponent": TITLE + '{"expect": "a", "rows": [[1e99999999999999999999]]}\n',
    "deep": TITLE + '{"expect": "a", "rows": ' + "[" * 100_000 + "\n",
    "raw": TITLE + '{"publish": "t", "raw": [{"value": {"base64": "%"}}]}\n',
    "bytes": b"\xff\xfe",
    "folder": "folder",
}


@pytest.mark.parametrize("kind", BAD_FILES)
def test_all_files_are_read_before_any_is_run(tmp_path, monkeypatch, kind):
    monkeypatch.setattr("tidewire.commands.scenario.run_scenario", lambda *_: pytest.fail("it was run"))
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    good.write_text(GOOD)
    content = BAD_FILES[kind]
    if content == "folder":
        bad.mkdir()
    elif content is not None:
        bad.write_bytes(content if isinstance(content, bytes) else content.encode())
    result = run("--json", good, bad, good)
    report = json.loads(result.stdout)
    assert (result.exit_code, report["passed"], report["failed"]) == (2, 0, 1)
    assert report["failures"][0]["file"] == str(bad) and str(bad) in report["failures"][0]["got"]
    assert report["unfinished"] == [str(good), str(good)]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("broken")])
@pytest.mark.parametrize("where", ["publish", "deliveries", "__init__"])
def test_the_report_is_printed_whatever_happens(tmp_path, monkeypatch, error, where):
    """The engine fails in the second of three files."""
    files = [tmp_path / f"{number}.jsonl" for number in range(3)]
    for file in files:
        file.write_text(GOOD + '{"publish": "t", "rows": [{"id": 1}]}\n')
    entered, whole = [], getattr(PureEngine, where)

    def broken(*arguments):
        entered.append(where)
        if len(entered) == 2:
            raise error
        return whole(*arguments)

    monkeypatch.setattr(PureEngine, where, broken)
    result = run("--json", *files)
    report = json.loads(result.stdout)
    if isinstance(error, KeyboardInterrupt):
        assert (result.exit_code, report["passed"], report["failed"]) == (130, 1, 0)
        assert report["unfinished"] == [str(files[1]), str(files[2])]
    else:
        assert (result.exit_code, report["passed"], report["failed"], report["unfinished"]) == (1, 2, 1, [])
        assert report["failures"][0]["file"] == str(files[1]) and "RuntimeError: broken" in report["failures"][0]["got"]


def test_an_expectation_is_shown_as_it_stands_in_the_file(tmp_path):
    path = tmp_path / "wrong.jsonl"
    path.write_text(GOOD.replace("[[null]]", "[[12345678901234567890.12]]"))
    assert '{"rows":[[12345678901234567890.12]]}' in run(path).output
