"""Where a DISTINCT becomes too large."""

import pytest

from tests.tidewire.verification.recompute.test_bag_answers import bag
from tidewire.verification.compare import quota
from tidewire.verification.compare.quota import RowQuota, first_over, whole_is_over
from tidewire.verification.recompute.answers import RowAnswers, SetAnswers
from tidewire.verification.recompute.ranked_column import Measure
from tidewire.verification.records.policy import Step


def steps(*values: str) -> SetAnswers:
    measure = Measure.of("VARCHAR", sorted(values))
    return SetAnswers(measure, [Step(seq, frozenset(), frozenset({value})) for seq, value in enumerate(values, 1)])


def test_the_number_of_values_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quota, "VALUES", 2)
    assert first_over(steps("a", "b", "c"), 0, 9) == 3
    assert first_over(steps("a", "b", "c"), 0, 2) is None
    assert first_over(steps("a", "b"), 0, 9) is None


def test_the_bytes_of_texts_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quota, "TEXT_BYTES", 10)
    assert first_over(steps("éé", "b"), 0, 9) == 2
    assert first_over(RowAnswers([], ()), 0, 9) is None


def test_of_rows_only_what_is_told_at_once_counts() -> None:
    answers = bag(*((key, 9, key, 1) for key in range(1, 6)))
    assert first_over(answers, 0, 9) is None and not whole_is_over(answers, 8)
    few = RowQuota(rows=4)
    assert first_over(answers, 0, 9, few) == 9 and first_over(answers, 0, 8, few) is None
    assert whole_is_over(answers, 8, few) and not whole_is_over(answers, 4, few)
    assert first_over(answers, 0, 9, RowQuota(rows=5, bytes=29)) == 9
