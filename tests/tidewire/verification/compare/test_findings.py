"""What is counted, and how faults name their place."""

import msgspec

from tests.tidewire.verification.lived import lived
from tidewire.verification.compare.findings import Findings, name, shown, written
from tidewire.verification.compare.report import Report

LIFE, *_ = lived()
SNAPSHOT, CHANGE, *_ = LIFE.delivered


def test_names_and_places() -> None:
    assert name(LIFE) == f"`s` version {LIFE.version}"
    assert shown(SNAPSHOT) == "snapshot n = 1 in epoch 3, batch 0"
    assert shown(CHANGE) == "change n = 2 by points/1/0 in epoch 3, batch 1"
    assert written({"old": 1, "new": 2}, 1) == {"old": 1, "new": 2}
    assert written({"old": 1, "new": 2}, 3) == {"old": 1, "new": 2, "changes": 3}


def test_right_and_wrong() -> None:
    findings = Findings(Report())
    findings.count(LIFE, CHANGE, True, "the value", {})
    findings.count(LIFE, CHANGE, False, "the value", {"new": 7})
    [fault] = findings.report.faults
    assert (findings.report.right, findings.report.wrong) == (1, 1)
    assert (fault.kind, fault.note, fault.expected) == ("wrong", f"the value: {shown(CHANGE)}", {"new": 7})


def test_only_a_change_stands_for_several() -> None:
    findings = Findings(Report())
    findings.count(LIFE, msgspec.structs.replace(SNAPSHOT, changes=2), True, "the value", {})
    findings.count(LIFE, msgspec.structs.replace(CHANGE, changes=2), True, "the value", {})
    assert (findings.report.right, findings.report.wrong) == (1, 1)


def test_extra_ones_and_repeats() -> None:
    findings = Findings(Report())
    findings.extra(LIFE, CHANGE, "not due")
    findings.extra(LIFE, CHANGE, "a repeat", duplicate=True)
    assert (findings.report.extra, findings.report.duplicates) == (2, 1)
