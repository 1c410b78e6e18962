"""Whether windows were gone: in which epochs, and what is not known."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.tidewire.verification.lived import lived
from tidewire.verification.compare.finality import Finality
from tidewire.verification.compare.findings import Findings
from tidewire.verification.compare.gone_windows import GoneWindows
from tidewire.verification.compare.recomputed import Recomputed
from tidewire.verification.compare.report import Report
from tidewire.verification.input.ordering import TakenRecords
from tidewire.verification.input.stream_walk import Mark
from tidewire.verification.records.batches import Batches, Position
from tidewire.verification.records.journal import Record
from tidewire.verification.records.lifetimes import Life
from tidewire.verification.records.question import Unreadable

LIFE, *_ = lived()
BATCHES = Batches(
    Record(0, n, 0, None, b'{"epoch":%d,"batch":%d,"catalog":0,"start":{},"end":{"t":{"0":1}}}' % at)
    for n, at in enumerate([(1, 0), (1, 1), (4, 0)])
)


def finality(upto: int, exact: bool = True, gone: int | None = 10) -> Finality:
    return Finality(5, [Mark(0, upto, upto, 1)], exact, gone)


GONE, KEPT, UNSURE, NEVER = finality(10), finality(9), finality(10, exact=False), finality(10, gone=None)


def windows(by_epoch: Mapping[int, Finality | None], report: Report | None = None) -> GoneWindows:
    """`by_epoch`: what is recomputed in each; an epoch that is not there cannot be."""

    def recompute(life: Life, at: Position) -> Recomputed:
        assert at in ((1, 1), (4, 0)), "the last batch of an epoch says what had gone by then"
        if at.epoch not in by_epoch:
            raise Unreadable("input is gone")
        return Recomputed(TakenRecords(at.epoch), None, finality=by_epoch[at.epoch])

    return GoneWindows(BATCHES, recompute, Findings(report or Report()))


@pytest.mark.parametrize(
    ("by_epoch", "gone"),
    [
        ({1: GONE, 4: KEPT}, True),
        ({1: KEPT, 4: GONE}, True),
        ({1: KEPT, 4: KEPT}, False),
        ({1: KEPT, 4: NEVER}, False),
        ({4: KEPT}, False),
        ({1: UNSURE, 4: KEPT}, False),
        ({1: UNSURE, 4: None}, None),
        ({}, None),
    ],
)
def test_in_any_epoch(by_epoch: dict[int, Finality | None], gone: bool | None) -> None:
    assert windows(by_epoch).were_gone(LIFE) is gone


@pytest.mark.parametrize(("since", "gone"), [(1, True), (2, False), (4, False), (5, None)])
def test_since_an_epoch(since: int, gone: bool | None) -> None:
    assert windows({1: GONE, 4: KEPT}).were_gone(LIFE, since) is gone


@pytest.mark.parametrize(
    ("by_epoch", "wrong", "unjudged"), [({1: KEPT, 4: KEPT}, 1, 0), ({1: KEPT, 4: GONE}, 0, 0), ({}, 0, 1)]
)
def test_a_refusal_is_wrong_where_all_is_kept(by_epoch: dict[int, Finality | None], wrong: int, unjudged: int) -> None:
    report = Report()
    windows(by_epoch, report).judge_refused(LIFE)
    assert (report.wrong, report.unjudged, report.right) == (wrong, unjudged, 0)
    assert [fault.note for fault in report.faults] == ["refused with window_gone"] * wrong
