"""Deliveries as lines for a person."""

from __future__ import annotations

from typing import Any

import pytest

from tidewire.client.records import At, Delivery
from tidewire.commands.subscribe import describe_delivery, describe_told
from tidewire.history.backtest import Told


def line(**said: Any) -> str:
    return describe_delivery(Delivery("s", said.pop("kind", "change"), 3, 2, At(0, 7), **said))


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ({"old": 1, "new": "a"}, '1 -> "a"'),
        ({"removed": [1], "added": ["a", None]}, '+"a" +null -1'),
        ({"removed": [("a", 1)], "added": [("b", None)]}, '+["b",null] -["a",1]'),
        ({"removed": [(2, ("a",))], "added": [(0, ("b",))], "changes": 3}, '+[0,["b"]] -[2,["a"]] (3 changes)'),
        ({"kind": "resync", "same": True, "removed": [], "added": []}, "the same rows"),
        ({"kind": "resync", "whole": "look", "removed": [], "added": []}, "rows to be looked up"),
        ({"kind": "snapshot", "snapshot": "none", "removed": [], "added": []}, "rows to be looked up"),
    ],
)
def test_what_changed(said: dict[str, Any], shown: str) -> None:
    kind = said.get("kind", "change")
    assert line(**said) == f"s  {kind} 2: {shown}  epoch 0 batch 7"


def test_of_many_rows_the_first_are_shown() -> None:
    many = [(n,) for n in range(1_030)]
    assert line(removed=[], added=many).endswith("+[18] +[19] … (1,010 more)  epoch 0 batch 7")
    assert "more" not in line(removed=[], added=list(range(100)))
    told = describe_told(Told(2, "change", removed=[], added=many[:1]))
    assert told == "would have been told: change 2: +[0]"


def test_rows_of_the_past_that_are_not_told_are_to_be_looked_up() -> None:
    told = describe_told(Told(1, "snapshot", removed=[], added=[], form="bag", snapshot="none"))
    assert told == "would have been told: snapshot 1: rows to be looked up"
