"""That an answer is final is told where it is due, once, and right; each fault alone."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.tidewire.verification.lived import lived
from tidewire.verification.compare.anchors import Anchor
from tidewire.verification.compare.finality import Finality
from tidewire.verification.compare.finals import judge_final
from tidewire.verification.compare.findings import Findings
from tidewire.verification.compare.recomputed import Recomputed
from tidewire.verification.compare.report import Report
from tidewire.verification.input.ordering import TakenRecords
from tidewire.verification.input.stream_walk import Mark
from tidewire.verification.recompute.answers import RowAnswers, SetAnswers
from tidewire.verification.recompute.ranked_column import Measure
from tidewire.verification.records.forms import Delivery
from tidewire.verification.records.policy import EVERY_CHANGE, Policy
from tidewire.verification.records.question import Item

LIFE, *_ = lived()
SNAPSHOT, CHANGE, *_ = LIFE.delivered
END = "1970-01-01T00:00:01"
MARKS = [Mark(0, 0, 0, 1), Mark(1, 999_999, 0, 2), Mark(2, 1_000_000, 0, 3), Mark(3, 2_000_000, 0, None)]
"""The window ends with the first second: it is complete in batch 2."""
SEVEN = RowAnswers([(Item("count", None), None)], (7,))
LATE = 9


def told_final(batch: int = 2, upto: str | None = END, **said: Any) -> Delivery:
    at = msgspec.structs.replace(CHANGE.at, batch=batch, upto=upto, topic=None, partition=None, offset=None)
    return msgspec.structs.replace(CHANGE, kind="final", at=at, **{"old": 7, "new": 7, **said})


def judged(
    final: Delivery | None,
    *,
    when: int | None = 1_000_000,
    exact: bool = True,
    gone: int | None = None,
    until: int = LATE,
    policy: Policy = EVERY_CHANGE,
    states: tuple[Any, Any] = ((7,), (7,)),
    ended: Delivery | None = None,
    snapshot: str | None = END,
) -> tuple[int, int, int, int, int]:
    """Return how many are right, wrong, missed, extra and not judged."""
    report = Report()
    anchor = Anchor(SNAPSHOT.at.position, msgspec.structs.replace(SNAPSHOT, final_at=snapshot), final=final)
    finality = Finality(when, MARKS, exact, gone)
    recomputed = Recomputed(TakenRecords(3), SEVEN, policy, None, finality)
    judge_final(Findings(report), LIFE, anchor, recomputed, until, states, ended)
    return report.right, report.wrong, report.missed, report.extra, report.unjudged


RIGHT, WRONG, MISSED, EXTRA = (1, 0, 0, 0, 0), (0, 1, 0, 0, 0), (0, 0, 1, 0, 0), (0, 0, 0, 1, 0)
NOTHING = (0, 0, 0, 0, 0)


def test_where_it_is_due_and_right() -> None:
    assert judged(told_final()) == RIGHT


@pytest.mark.parametrize(
    "final", [told_final(old=6), told_final(new=8), told_final(upto="1970-01-01T00:00:02"), told_final(batch=3)]
)
def test_what_it_says_must_be_right_and_so_must_its_batch(final: Delivery) -> None:
    assert judged(final) == WRONG


@pytest.mark.parametrize("batch", [0, 1])
def test_too_early(batch: int) -> None:
    assert judged(told_final(batch)) == EXTRA


def test_what_is_never_final() -> None:
    assert judged(told_final(), when=None, snapshot=None) == EXTRA
    assert judged(None, when=None, snapshot=None) == NOTHING


@pytest.mark.parametrize(("until", "found"), [(1, NOTHING), (2, MISSED), (LATE, MISSED)])
def test_it_is_missed_once_its_batch_must_have_been_told(until: int, found: tuple[int, ...]) -> None:
    assert judged(None, until=until) == found


@pytest.mark.parametrize(("batch", "found"), [(1, NOTHING), (2, NOTHING), (3, MISSED)])
def test_a_life_that_ended_by_then_need_not_be_told(batch: int, found: tuple[int, ...]) -> None:
    ended = msgspec.structs.replace(CHANGE, kind="ended", at=msgspec.structs.replace(CHANGE.at, batch=batch))
    assert judged(None, ended=ended) == found
    other = msgspec.structs.replace(ended, at=msgspec.structs.replace(ended.at, epoch=4))
    assert judged(None, ended=other) == MISSED


def test_where_silences_are_not_known_it_may_come_later_and_is_not_missed() -> None:
    assert judged(None, exact=False) == NOTHING
    assert judged(told_final(batch=3), exact=False) == RIGHT
    assert judged(told_final(batch=1), exact=False) == EXTRA
    assert judged(told_final(batch=3, new=8), exact=False) == WRONG


def test_what_min_change_has_held_back_is_told_with_it() -> None:
    least = Policy("least", 5)
    assert judged(told_final(old=3), policy=least, states=((3,), (7,))) == RIGHT
    assert judged(told_final(), policy=least, states=((3,), (7,))) == WRONG
    assert judged(told_final(old=3), states=((3,), (7,))) == WRONG


def test_the_snapshot_says_when_it_becomes_final() -> None:
    assert judged(told_final(), snapshot=None) == (1, 1, 0, 0, 0)
    assert judged(told_final(), snapshot="1970-01-01T00:00:02") == (1, 1, 0, 0, 0)


@pytest.mark.parametrize(("gone", "wrong"), [(None, 0), (1, 0), (0, 1)])
def test_no_snapshot_is_due_of_windows_that_were_gone_by_then(gone: int | None, wrong: int) -> None:
    """It stands at batch 0, when the stream was complete up to 0."""
    assert judged(None, gone=gone, until=1) == (0, wrong, 0, 0, 0)
    assert judged(None, gone=gone, until=1, exact=False) == NOTHING


def test_without_a_finality_nothing_is_judged() -> None:
    report = Report()
    for final in (None, told_final()):
        anchor = Anchor(SNAPSHOT.at.position, SNAPSHOT, final=final)
        judge_final(Findings(report), LIFE, anchor, Recomputed(TakenRecords(3), SEVEN), LATE, ((7,), (7,)), None)
    assert report == Report(unjudged=1)


def test_sets_are_told_as_no_difference() -> None:
    held = msgspec.structs.replace(told_final(), old=msgspec.UNSET, new=msgspec.UNSET, removed=[], added=[])
    more = msgspec.structs.replace(held, added=["u"])
    measure = Measure.of("VARCHAR", ["u"])
    for final, right in ((held, 1), (more, 0)):
        report = Report()
        anchor = Anchor(SNAPSHOT.at.position, None, final=final)
        recomputed = Recomputed(TakenRecords(3), SetAnswers(measure), finality=Finality(1_000_000, MARKS, True))
        judge_final(Findings(report), LIFE, anchor, recomputed, LATE, (frozenset({0}), frozenset({0})), None)
        assert (report.right, report.wrong) == (right, 1 - right)
