"""Whether what was said is what should have been, as JSON values."""

from __future__ import annotations

from typing import Any

from tidewire.verification.recompute.answers import Said


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


def leads_to(said: Said, value: Any) -> bool:
    """Whether what is said of an answer that is not known before can have led to `value`."""
    if "added" not in said:
        return same(said["new"], value)
    return isinstance(value, frozenset) and value.issuperset(said["added"]) and value.isdisjoint(said["removed"])
