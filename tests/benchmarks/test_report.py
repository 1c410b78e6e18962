import json

from benchmarks.bench import Sizes
from benchmarks.report import GOALS, SHOWN, as_table, lines, write


def test_structures_are_spread_and_goals_judged() -> None:
    figures = {
        "match_over_floor": 0.9,
        "match_over_copy": 0.59,
        "latency_ms": {"p50": 1_000, "p99": 3_001, "note": "not a number"},
        "unknown": 1,
    }
    assert lines(figures) == [
        ("match_over_floor", "0.9", ">= 0.9", "yes"),
        ("match_over_copy", "0.59", ">= 0.6", "no"),
        ("latency_ms.p50", "1,000", "<= 1,000", "yes"),
        ("latency_ms.p99", "3,001", "<= 3,000", "no"),
    ]
    assert as_table(figures).row_count == 4


def test_what_has_a_goal_is_shown() -> None:
    assert {path.split(".")[0] for path in GOALS} <= set(SHOWN)


def test_what_is_written_can_be_read(tmp_path) -> None:
    target = tmp_path / "results" / "latest.json"
    write({"match_over_floor": 0.9, "rows": Sizes().rows}, target)
    assert json.loads(target.read_text()) == {"match_over_floor": 0.9, "rows": 50_000}
    assert [path.name for path in target.parent.iterdir()] == ["latest.json"]
