from decimal import Decimal

import pytest

from tidewire.scenario.script import ScenarioError, read_scenario

TITLE = '{"scenario": "s", "needs": ["range_min", "teleport"]}\n'


def write(tmp_path, text):
    path = tmp_path / "s.jsonl"
    path.write_text(text)
    return path


def test_a_file_is_a_title_and_steps_with_their_lines(tmp_path):
    text = TITLE + '\n{"restart": true}\n{"expect": "a", "rows": [[9007199254740993]]}\n'
    scenario = read_scenario(write(tmp_path, text))
    assert scenario.name == "s" and scenario.unsupported == {"teleport"}
    assert [(line, step.verb) for line, step in scenario.steps] == [(3, "restart"), (4, "expect")]
    assert scenario.steps[1][1].rows == [[9007199254740993]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("{}\n", "line 1"),
        (TITLE + '{"publish": "t", "restart": true}\n', "line 2: a step has exactly one of"),
        (TITLE + '{"notified": 3}\n', "found none"),
        (TITLE + '{"expct": "a"}\n', "unknown field `expct`"),
        (TITLE + "{\n", "line 2"),
        (TITLE + '{"publish": "t", "rows": [{"a": 1e99999999999999999999}]}', "line 2: .*an exponent beyond 999,999"),
        (TITLE + '{"publish": "t", "rows": ' + "[" * 30_000, "line 2: .*nested more than 64 deep"),
        (TITLE + '{"subscribe": "\\ud800", "sql": ""}', "line 2: .*lacks the other half"),
        (TITLE + '{"expect": "a", "notified": ' + "9" * 5_000 + "}", "line 2: "),
    ],
)
def test_what_is_no_scenario_is_said_with_its_line(tmp_path, text, message):
    with pytest.raises(ScenarioError, match=message):
        read_scenario(write(tmp_path, text))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ScenarioError, match=r"nothing\.jsonl.*No such file"):
        read_scenario(tmp_path / "nothing.jsonl")


def test_rows_and_answers_keep_their_fractions(tmp_path):
    rows = '"rows": [{"a": 12345678901234567890.12, "b": 1.10}]}\n'
    text = "\ufeff" + TITLE + '{"publish": "t", ' + rows + '{"expect": "a", "rows": [[0.1, "x", 5]]}'
    published, expected = (step.rows for _, step in read_scenario(write(tmp_path, text)).steps)
    assert [str(value) for value in published[0].values()] == ["12345678901234567890.12", "1.10"]
    assert expected == [[Decimal("0.1"), "x", 5]]
