"""What a tab that comes late is told: the answer that all messages so far come to."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from tests.connectors.page_world import Beating, opened

pytestmark = pytest.mark.stack
FOLD = """async (messages) => {
    const { after } = await import("/page.answer.js");
    return messages.reduce(after, undefined);
}"""
VALUES = [None, 0, "0", "", "a", [1, None], ["a", "b"], 1.5]


def differences(dice: random.Random, held: list[Any]) -> tuple[list[Any], list[Any]]:
    return dice.sample(held, dice.randrange(len(held) + 1)), dice.choices(VALUES, k=dice.randrange(5))


def bag(values: list[Any]) -> Counter[str]:
    return Counter(map(repr, values))


@pytest.mark.parametrize("kind", ["change", "resync"])
def test_differences_come_to_the_values_that_hold(browser: Any, beating: Beating, kind: str) -> None:
    page, dice = opened(browser, beating.edge.url), random.Random(kind)
    for _ in range(20):
        held = dice.choices(VALUES, k=dice.randrange(6))
        begins = dice.choice(
            [{"kind": "answer", "status": "live", "answer": held}, {"kind": "snapshot", "added": held}]
        )
        told: list[dict[str, Any]] = [{"id": "s", "version": 0, "n": 1, "sql": "SELECT", **begins}]
        for n in range(2, 2 + dice.randrange(6)):
            removed, added = differences(dice, held)
            for one in removed:
                held = held[: held.index(one)] + held[held.index(one) + 1 :]
            held = held + added
            told.append({"id": "s", "kind": kind, "version": 0, "n": n, "removed": removed, "added": added})
        known = page.evaluate(FOLD, told)
        assert bag(known.pop("answer")) == bag(held)
        assert {
            "kind": "answer",
            "status": "live",
            "id": "s",
            "version": 0,
            "n": told[-1]["n"],
            "sql": "SELECT",
        } == known


def rows_of(known: dict[str, Any]) -> Counter[str]:
    return bag(known["answer"])


def test_rows_of_a_bag_and_of_a_list(browser: Any, beating: Beating) -> None:
    page = opened(browser, beating.edge.url)

    def told(kind: str, n: int, **said: Any) -> dict[str, Any]:
        return {"id": "s", "kind": kind, "version": 0, "n": n, "removed": [], "added": []} | said

    first = told("snapshot", 1, form="bag", added=[["a", 1], ["a", 1], ["b", None]])
    going = [first, told("change", 2, removed=[["a", 1]]), told("change", 3, removed=[["b", None]], added=[["c", 2]])]
    known = page.evaluate(FOLD, going)
    assert (known["form"], rows_of(known)) == ("bag", bag([["a", 1], ["c", 2]]))
    known = page.evaluate(FOLD, [*going, told("resync", 3, same=True), told("resync", 4, form="bag", whole=True)])
    assert (known["form"], known["answer"], known["n"]) == ("bag", [], 4)
    none = told("snapshot", 1, form="bag", snapshot="none")
    known = page.evaluate(FOLD, [none, told("change", 2, added=[["c", 2]])])
    assert known["form"] == "bag" and known.get("answer") is None
    answer = {"id": "s", "kind": "answer", "status": "live", "version": 0, "n": 1, "form": "bag", "key": [0]}
    known = page.evaluate(
        FOLD,
        [answer | {"answer": [[1, "x"], [2, "x"]]}, told("change", 2, key=[0], removed=[[1, "y"]], added=[[2, "z"]])],
    )
    assert known["answer"] == [[2, "z"]]
    listed = told("snapshot", 1, form="list", added=[[0, ["a"]], [1, ["b"]], [2, ["c"]]])
    change = told("change", 2, removed=[[2, ["c"]], [0, ["a"]]], added=[[0, ["c"]], [2, ["d"]]])
    known = page.evaluate(FOLD, [listed, change])
    assert known["answer"] == [["c"], ["b"], ["d"]]


@pytest.mark.parametrize("last", ["ended", "unknown", "elsewhere", "refused", "reset"])
def test_no_answer_outlives_what_ends_it(browser: Any, beating: Beating, last: str) -> None:
    page = opened(browser, beating.edge.url)
    answer = {"id": "s", "kind": "answer", "status": "live", "version": 0, "n": 1, "answer": 5, "sql": "SELECT"}
    known = page.evaluate(FOLD, [answer, {"kind": last, "id": "s"}])
    assert known == {"kind": last, "id": "s", "sql": "SELECT"}
    change = {"id": "s", "kind": "snapshot", "version": 1, "n": 0, "new": None}
    known = page.evaluate(FOLD, [answer, {"kind": last, "id": "s"}, change])
    assert (known["kind"], known["answer"], known["version"]) == ("answer", None, 1)
