from benchmarks import bestk_cost
from benchmarks.report import GOALS, lines


def test_all_figures_are_shown_with_their_goals() -> None:
    figures = bestk_cost.measure(2_000, 1)
    shown = {path: goal for path, _, goal, _ in lines(figures)}
    assert {path.split(".")[0] for path in shown} == set(figures)
    assert {path for path, goal in shown.items() if goal} == {path for path in GOALS if path.split(".")[0] in figures}
