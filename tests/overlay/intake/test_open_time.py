from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from overlay.intake.open_time import LONGEST_SECONDS, QUICK_STEPS, OpenTime

STEPS = st.lists(st.tuples(st.booleans(), st.floats(0, 500)), max_size=60)


def test_each_step_that_was_too_long_doubles_it_up_to_a_limit() -> None:
    time = OpenTime(10.0)
    assert [time.aborted(0.9 * time.seconds) and time.seconds for _ in range(6)] == [20, 40, 80, 160, 320, 320]
    assert not OpenTime(10.0).aborted(7.9)


@given(STEPS)
def test_whatever_came_before_short_steps_bring_it_back(steps: list[tuple[bool, float]]) -> None:
    time = OpenTime(10.0)
    for done, took in steps:
        before = time.seconds
        changed = time.committed(took) if done else time.aborted(took)
        assert changed or time.seconds == before
        assert 10.0 <= time.seconds <= LONGEST_SECONDS
    raised = time.seconds > 10.0
    changes = [time.committed(0.1) for _ in range(QUICK_STEPS)]
    assert sum(changes) == raised and time.seconds == 10.0


def test_a_long_step_begins_the_count_anew() -> None:
    time = OpenTime(10.0)
    time.aborted(9.0)
    assert not any(time.committed(0.1) for _ in range(QUICK_STEPS - 1))
    assert not time.committed(5.0)
    assert not any(time.committed(0.1) for _ in range(QUICK_STEPS - 1))
    assert time.committed(0.1)
