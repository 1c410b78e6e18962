"""`n` counts what a life was told."""

from typing import Any

import msgspec
import pytest

from tests.tidewire.verification.lived import lived
from tidewire.verification.compare.findings import Findings
from tidewire.verification.compare.numbers import judge_numbers, stride
from tidewire.verification.compare.report import Report
from tidewire.verification.records.forms import Delivery

LIFE, *_ = lived()


def gaps(delivered: list[Delivery]) -> int:
    findings = Findings(Report())
    judge_numbers(LIFE, delivered, findings)
    assert [fault.kind for fault in findings.report.faults] == ["gap"] * findings.report.gaps
    return findings.report.gaps


def test_from_one_on_without_a_gap() -> None:
    assert [d.n for d in LIFE.delivered] == [1, 2, 3, 4, 5]
    assert gaps(LIFE.delivered) == 0


def test_a_log_whose_beginning_is_gone_and_a_repeat_are_no_gaps() -> None:
    assert gaps(LIFE.delivered[2:]) == 0
    assert gaps([*LIFE.delivered[:3], *LIFE.delivered[1:]]) == 0


def test_one_that_is_not_there_and_a_snapshot_that_is_not_the_first() -> None:
    assert gaps([*LIFE.delivered[:2], *LIFE.delivered[3:]]) == 1
    assert gaps([msgspec.structs.replace(LIFE.delivered[0], n=2)]) == 1


@pytest.mark.parametrize(
    ("kind", "said", "expected"),
    [
        ("change", {"old": 1, "new": 2}, 1), ("resync", {"old": 1, "new": 2}, 1),
        ("resync", {"old": 1, "new": 1}, 0),
        ("resync", {"old": 0.5, "new": 0.5}, 0), ("resync", {"old": [1, 0.5], "new": [1, 0.5]}, 0),
        ("resync", {"removed": [], "added": []}, 0), ("resync", {"removed": [], "added": [1]}, 1),
    ],
)  # fmt: skip
def test_a_resync_counts_if_it_says_something_new(kind: str, said: dict[str, Any], expected: int) -> None:
    assert stride(Delivery("s", kind, 0, 1, LIFE.delivered[0].at, **said)) == expected
