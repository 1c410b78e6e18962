"""Scenarios of rows say what DuckDB answers: so nobody's mistake is both in the engine and in what it is asked for."""

import json
from pathlib import Path

import pytest

from tests.scenarios.right_answers import mistakes

KINDS = ("filter", "bestk", "join", "view", "stream")
FILES = [path for kind in KINDS for path in sorted(Path(__file__).parent.glob(f"{kind}*.jsonl"))]
PLAIN = [path for path in FILES if "raw" not in json.loads(path.read_text().splitlines()[0])["needs"]]


@pytest.mark.parametrize("path", PLAIN, ids=lambda path: path.stem)
def test_a_scenario_expects_what_is_right(path: Path) -> None:
    assert list(mistakes(path)) == []


def test_a_wrong_row_a_wrong_order_and_a_wrong_number_are_mistakes(tmp_path: Path) -> None:
    begin = [
        '{"scenario": "s", "needs": []}',
        "{\"catalog\": \"CREATE TABLE t (k INTEGER PRIMARY KEY, v VARCHAR) WITH ('format'='json')\"}",
        '{"subscribe": "a", "sql": "SELECT v, k FROM t ORDER BY v, k LIMIT 2 NOTIFY EVERY CHANGE"}',
        '{"publish": "t", "rows": [{"k": 1, "v": "b"}, {"k": 2, "v": "a"}]}',
    ]
    path = tmp_path / "s.jsonl"
    for expected, wrong in [
        ({"rows": [["a", 2], ["b", 1]], "ordered": True, "notified": 3}, ""),
        ({"rows": [["b", 1], ["a", 2]], "ordered": True}, "line 5: a: expected"),
        ({"rows": [["a", 2]], "ordered": True}, "line 5: a: expected"),
        ({"rows": [["a", 2], ["b", "1"]], "ordered": True}, "line 5: a: expected"),
        ({"rows": [["a", 2], ["b", 1]]}, "`ordered` belongs to best-k"),
        ({"rows": [["a", 2], ["b", 1]], "ordered": True, "notified": 2}, "expected 2 notifications, is 3"),
    ]:
        path.write_text("\n".join([*begin, json.dumps({"expect": "a"} | expected)]))
        assert wrong in "".join(mistakes(path)) and bool(wrong) == bool(list(mistakes(path)))
