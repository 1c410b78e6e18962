"""Deliveries of questions of views against a naive engine: right ones are clean, and each that is not is found."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import deep_examples
from tests.tidewire.verification.simulated_engine import home
from tests.tidewire.verification.simulated_views import AskedOfView, AskedRowsOfView, SimulatedViews, simulate_views
from tests.tidewire.verification.test_joins_judged import another_cause, another_topic
from tests.tidewire.verification.test_rows_judged import FAULTS as FAULTS_OF_ROWS
from tests.tidewire.verification.test_rows_judged import (
    Told,
    deliveries,
    find_each,
    history,
    judged,
    renumbered,
    replaced,
)
from tests.tidewire.verification.told_journal import FAULTS
from tidewire.verification.verify import verify


@pytest.mark.deep
@settings(max_examples=deep_examples(60), deadline=None)
@given(st.integers(0, 10**9))
def test_right_deliveries_are_clean(seed: int) -> None:
    report = verify(simulate_views(seed).journal())
    assert report.clean and report.unjudged == 0, report.faults
    assert report.right == report.deliveries


ROWS_FAULTS = FAULTS_OF_ROWS | {"another topic": another_topic, "another cause": another_cause}
simulate_rows_of_views = partial(simulate_views, rows=True)


@pytest.mark.deep
@pytest.mark.parametrize("fault", ROWS_FAULTS)
def test_each_fault_of_rows_is_found(fault: str) -> None:
    find_each(ROWS_FAULTS[fault], simulate_rows_of_views, ["a", "b", "c", "d"])


@pytest.mark.deep
@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_found(fault: str) -> None:
    tried = 0
    for seed in range(400):
        choose, engine = random.Random(seed), history(simulate_views, seed)
        journal = engine.journal()
        places = [(r.partition, r.offset) for r in journal.deliveries.all() if b'"kind": "change"' in (r.value or b"")]
        if not places:
            continue
        FAULTS[fault](journal, *choose.choice(places))
        assert not verify(journal).clean, seed
        tried += 1
        if tried == deep_examples(40):
            return
    raise AssertionError("too few histories")


# the bank: a transfer changes two balances, and their sum never ------------------------------------------------------

DEBITS = "SELECT x AS account, SUM(y) AS debit FROM p GROUP BY x"
CREDITS = "SELECT id AS account, SUM(y) AS credit FROM p GROUP BY id"
BALANCE = "SELECT c.account, c.credit - d.debit AS balance FROM v c JOIN w d ON c.account = d.account"


def bank() -> SimulatedViews:
    """Return an engine with balances of three accounts, each of which pays to the next."""
    engine = SimulatedViews()
    for name, query in {"v": CREDITS, "w": DEBITS, "u": BALANCE}.items():
        engine.create(name, query)
    engine.subscribe("total", AskedOfView("SUM(balance)", view="u"))
    engine.subscribe("rows", AskedRowsOfView(("account", "balance"), view="u"))
    engine.run_batch()
    for id in range(3):
        engine.publish_row("p", {"id": id, "g": None, "x": (id + 1) % 3, "y": 10})
    engine.run_batch()
    engine.publish_row("p", {"id": 1, "g": None, "x": 2, "y": 25})
    engine.run_batch()
    return engine


def of(engine: SimulatedViews, id: str) -> list[Told]:
    return [one for one in deliveries(engine, home(id)) if one["id"] == id]


def test_a_total_that_nobody_ever_had_is_extra() -> None:
    engine = bank()
    total, told = of(engine, "total"), deliveries(engine, home("total"))
    assert total[-1]["new"] == 0
    assert judged(engine, home("total"), told).clean
    last = max(i for i, one in enumerate(told) if one["id"] == "total")
    at = of(engine, "rows")[-1]["at"]
    halves = [
        told[last] | {"n": told[last]["n"] + 1 + i, "old": (0, -15)[i], "new": (-15, 0)[i], "at": at} for i in (0, 1)
    ]
    report = judged(engine, home("total"), [*told[: last + 1], *halves, *told[last + 1 :]])
    assert report.extra == 2


def test_a_change_of_two_rows_is_told_at_once_and_under_its_own_cause() -> None:
    engine = bank()
    told, partition = deliveries(engine, home("rows")), home("rows")
    last = max(i for i, one in enumerate(told) if one["id"] == "rows")
    assert told[last]["removed"] == [[1, 0], [2, 0]] and told[last]["added"] == [[1, 15], [2, -15]]
    half = replaced(told, last, removed=[[1, 0]], added=[[1, 15]])
    assert judged(engine, partition, half).wrong == 1
    old_cause = told[last - 1]["at"] | {"batch": told[last]["at"]["batch"]}
    report = judged(engine, partition, replaced(told, last, at=old_cause))
    assert not report.clean and report.missed == 1
    lost = renumbered([*told[:last], *told[last + 1 :]], last, told[last], -1)
    assert judged(engine, partition, lost).missed == 1


@pytest.mark.parametrize("reason", ["view dropped", "unsubscribed"])
def test_a_view_that_is_dropped_ends_what_asks_for_it(reason: str) -> None:
    engine = bank()
    engine.drop("u")
    engine.run_batch()
    told = deliveries(engine, home("rows"))
    last = max(i for i, one in enumerate(told) if one["id"] == "rows")
    assert told[last]["reason"] == "view dropped" and judged(engine, home("rows"), told).clean
    report = judged(engine, home("rows"), replaced(told, last, reason=reason))
    assert report.clean == (reason == "view dropped")
    assert judged(engine, home("rows"), [*told[:last], *told[last + 1 :]]).unanswered == 1


def test_an_end_of_a_view_that_stands_is_wrong() -> None:
    engine = bank()
    told = [one for one in deliveries(engine, home("rows")) if one["id"] == "rows"]
    end: dict[str, Any] = {
        "kind": "ended",
        "n": told[-1]["n"] + 1,
        "removed": [],
        "added": [],
        "reason": "view dropped",
    }
    report = judged(engine, home("rows"), [*deliveries(engine, home("rows")), told[-1] | end])
    assert report.wrong == 1 and "its view was not dropped" in report.faults[0].note


def test_a_view_that_was_dropped_and_made_again_is_another_one() -> None:
    engine = SimulatedViews()
    engine.create("v", "SELECT g, COUNT(*) AS n FROM p GROUP BY g")
    engine.subscribe("a", AskedOfView("SUM(n)", view="v"))
    engine.publish_row("p", {"id": 1, "g": "u", "x": 1, "y": 1})
    engine.run_batch()
    engine.drop("v")
    engine.run_batch()
    engine.create("v", "SELECT g, COUNT(*) + 5 AS n FROM p GROUP BY g")
    engine.subscribe("a", AskedOfView("SUM(n)", view="v"))
    engine.run_batch()
    assert [one["new"] for one in of(engine, "a")] == [None, 1, None, 6]
    assert verify(engine.journal()).clean
