"""Whether what was said is what should have been, as JSON values."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tidewire.verification.recompute.answers import Answers
from tidewire.verification.recompute.bag_answers import BagAnswers
from tidewire.verification.recompute.list_answers import ListAnswers, Rows
from tidewire.verification.records.forms import Delivery, Said


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same value: true is not 1, 1 is 1.0, "1.50" is not "1.5".

    >>> same(True, 1), same([1, None], [1.0, None]), same({"old": 1}, {"old": 2})
    (False, True, False)
    """
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def says(d: Delivery, expected: Said, answers: Answers, before: Any) -> bool:
    """Whether a delivery says what it should. `before` is what was shown last, of answers that are lists.

    A bag's rows are in the order of their texts; of a list it counts where what is said leads.
    """
    if answers.form is not None and "added" not in d.said:
        return False
    if isinstance(answers, BagAnswers):
        rows = [_bag(side) == _bag(expected[name]) for name, side in _sides(d.said)]
        return d.in_text_order and all(rows) and same(_marks(d.said), _marks(expected))
    if isinstance(answers, ListAnswers):
        held = () if "whole" in d.said else before
        led = [led_to(held, *(side for _, side in _sides(said))) for said in (d.said, expected)]
        return led[0] is not None and same(*led) and same(_marks(d.said), _marks(expected))
    return same(d.said, expected)


def leads_to(said: Said, value: Any) -> bool:
    """Whether what is said of a value, or of a set, that is not known before can have led to `value`."""
    if "added" not in said:
        return same(said["new"], value)
    return isinstance(value, frozenset) and value.issuperset(said["added"]) and value.isdisjoint(said["removed"])


def may_say(d: Delivery, answers: Answers, value: Any) -> bool:
    """Whether a resync of an answer that is not known before may say this, where the answer is `value` now."""
    if not isinstance(answers, BagAnswers | ListAnswers):
        return leads_to(d.said, value)
    if "same" in d.said:
        return same(d.said, {"same": True, "removed": [], "added": []})
    return says(d, answers.anew(value), answers, ())


def led_to(old: Rows, removed: list[Any], added: list[Any]) -> list[Any] | None:
    """Return what a list becomes by a difference; None if that does not fit it.

    >>> led_to((("a",), ("b",)), [[0, ["a"]]], [[1, ["c"]]])
    [['b'], ['c']]
    """
    rows: list[Any] = [list(row) for row in old]
    if not all(isinstance(one, list) and len(one) == 2 and type(one[0]) is int for one in (*removed, *added)):
        return None
    before, least = len(rows), 0
    for place, row in removed:
        if not 0 <= place < before or not same(rows[place], row):
            return None
        del rows[place]
        before = place
    for place, row in added:
        if not least <= place <= len(rows):
            return None
        rows.insert(place, row)
        least = place + 1
    return rows


def _sides(said: Said) -> list[tuple[str, list[Any]]]:
    return [(name, said[name]) for name in ("removed", "added")]


def _marks(said: Said) -> Said:
    return {name: value for name, value in said.items() if name not in ("removed", "added")}


def _bag(rows: list[Any]) -> Counter[Any]:
    return Counter(map(_hashable, rows))


def _hashable(value: Any) -> Any:
    """Return what is equal for the same JSON values, and only for them."""
    if isinstance(value, list):
        return tuple(map(_hashable, value))
    return repr(value) if isinstance(value, dict) else (isinstance(value, bool), value)
