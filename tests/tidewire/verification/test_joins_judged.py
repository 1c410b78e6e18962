"""Deliveries of joins against a naive engine: right ones are clean, and each that is not is found."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import deep_examples
from tests.tidewire.verification.simulated_engine import home
from tests.tidewire.verification.simulated_joins import FORMS, AskedJoin, SimulatedJoins, simulate_joins
from tests.tidewire.verification.test_rows_judged import FAULTS, deliveries, find_each, judged, replaced
from tidewire.verification.verify import verify

Told = dict[str, Any]


@pytest.mark.deep
@settings(max_examples=deep_examples(60), deadline=None)
@given(st.integers(0, 10**9))
def test_right_deliveries_are_clean(seed: int) -> None:
    report = verify(simulate_joins(seed).journal())
    assert report.clean and report.unjudged == 0, report.faults
    assert report.right == report.deliveries


def another_topic(told: list[Told], i: int) -> list[Told] | None:
    """Name a record of another table as the cause."""
    if told[i]["kind"] != "change":
        return None
    at = told[i]["at"]
    return replaced(told, i, at=at | {"topic": "points" if at["topic"] != "points" else "quotes"})


def another_cause(told: list[Told], i: int) -> list[Told] | None:
    if told[i]["kind"] != "change":
        return None
    at = told[i]["at"]
    return replaced(told, i, at=at | {"offset": at["offset"] + 1})


def a_pair_too_many(told: list[Told], i: int) -> list[Told] | None:
    """Add a row that another delivery has: two rows that do not meet."""
    mine = [row for side in ("removed", "added") for row in told[i][side]]
    others = [row for one in told if one["id"] == told[i]["id"] for row in one["added"] if row not in mine]
    return replaced(told, i, added=sorted([*told[i]["added"], others[0]], key=repr)) if others else None


JOIN_FAULTS = FAULTS | {
    "another topic": another_topic,
    "another cause": another_cause,
    "a pair too many": a_pair_too_many,
}


@pytest.mark.deep
@pytest.mark.parametrize("fault", JOIN_FAULTS)
def test_each_fault_is_found(fault: str) -> None:
    find_each(JOIN_FAULTS[fault], simulate_joins, ["a", "b", "c", "d"])


def engine_with(asked: AskedJoin, joined: bool = True) -> SimulatedJoins:
    engine = SimulatedJoins()
    if joined:
        engine.declare(f"CREATE JOIN {', '.join(asked.over.cell)}")
    engine.subscribe("a", asked)
    engine.run_batch()
    return engine


PAIR = AskedJoin(over=FORMS[0], columns_shown=("p.id", "q.id"))


def test_one_record_that_makes_many_pairs_is_one_delivery() -> None:
    engine = engine_with(PAIR)
    for id in range(3):
        engine.publish_row("q", {"id": id, "g": "u", "x": "1", "z": None})
    engine.run_batch()
    engine.publish_row("p", {"id": 0, "g": "u", "x": 1, "y": None})
    engine.run_batch()
    told = deliveries(engine, home("a"))
    assert [one["added"] for one in told] == [[], [[0, 0], [0, 1], [0, 2]]]
    assert told[1]["at"]["topic"] == "points" and judged(engine, home("a"), told).clean
    split = [told[0], told[1] | {"added": told[1]["added"][:2]}, told[1] | {"added": told[1]["added"][2:], "n": 3}]
    report = judged(engine, home("a"), split)
    assert (report.wrong, report.extra) == (1, 1)


def test_a_question_that_waits_for_its_cell_begins_with_it() -> None:
    engine = engine_with(PAIR, joined=False)
    engine.publish_row("q", {"id": 1, "g": "u", "x": "1", "z": None})
    engine.publish_row("p", {"id": 2, "g": "u", "x": 1, "y": None})
    engine.run_batch()
    assert verify(engine.journal()).unanswered == 1
    engine.declare("CREATE JOIN q, p")
    engine.run_batch()
    [told] = deliveries(engine, home("a"))
    assert (told["added"], told["at"]["batch"]) == ([[2, 1]], 1)
    assert judged(engine, home("a"), [told]).clean
    early = told | {"at": told["at"] | {"batch": 0}}
    assert not judged(engine, home("a"), [early]).clean


@pytest.mark.parametrize(("reason", "right"), [("cell dropped", 1), ("table dropped", 1), ("unsubscribed", 0)])
def test_a_join_that_is_dropped_ends_what_asks_for_it(reason: str, right: int) -> None:
    engine = engine_with(PAIR)
    engine.declare("DROP JOIN p, q")
    engine.run_batch()
    told = deliveries(engine, home("a"))
    assert [one["kind"] for one in told] == ["snapshot", "ended"]
    assert judged(engine, home("a"), [told[0], told[1] | {"reason": reason}]).clean == bool(right)
    report = judged(engine, home("a"), told[:1])
    assert report.unanswered == 1 and "its join was dropped" in report.faults[0].note


def test_an_end_for_a_join_that_stands_is_wrong() -> None:
    engine = engine_with(PAIR)
    told = deliveries(engine, home("a"))
    end = {"id": "a", "kind": "ended", "version": 0, "n": 2, "removed": [], "added": [], "reason": "cell dropped"}
    report = judged(engine, home("a"), [*told, end | {"at": told[0]["at"]}])
    assert report.wrong == 1 and "its tables are joined still" in report.faults[0].note
