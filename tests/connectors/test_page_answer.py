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


@pytest.mark.parametrize("last", ["ended", "unknown", "elsewhere", "refused", "reset"])
def test_no_answer_outlives_what_ends_it(browser: Any, beating: Beating, last: str) -> None:
    page = opened(browser, beating.edge.url)
    answer = {"id": "s", "kind": "answer", "status": "live", "version": 0, "n": 1, "answer": 5, "sql": "SELECT"}
    known = page.evaluate(FOLD, [answer, {"kind": last, "id": "s"}])
    assert known == {"kind": last, "id": "s", "sql": "SELECT"}
    change = {"id": "s", "kind": "snapshot", "version": 1, "n": 0, "new": None}
    known = page.evaluate(FOLD, [answer, {"kind": last, "id": "s"}, change])
    assert (known["kind"], known["answer"], known["version"]) == ("answer", None, 1)
