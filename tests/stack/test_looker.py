"""What a look at rows is held to."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.stack.looker import Look, agreeing
from tidewire.client.records import At, Delivery, Row

AT = At(0, 0)
A, B = ("a",), ("b",)


def told(n: int, removed: list[Row], added: list[Row], snapshot: str | None = None) -> Delivery:
    kind = "snapshot" if n == 1 else "change"
    return Delivery("s", kind, 7, n, AT, removed=[*removed], added=[*added], form="bag", snapshot=snapshot)


def look(n: int, *rows: Row) -> Look:
    return Look(7, n, Counter(rows))


def test_looks_agree_with_what_was_told_up_to_them() -> None:
    deliveries = [told(1, [], [A]), told(2, [], [B]), told(3, [A], [])]
    assert agreeing("s", [look(3, B), look(1, A), look(2, A, B)], deliveries) == 3


def test_the_first_look_begins_what_began_empty_handed() -> None:
    deliveries = [told(1, [], [], "none"), told(2, [], [B]), told(3, [A], [])]
    assert agreeing("s", [look(2, A, B), look(3, B)], deliveries) == 1


def test_other_rows_and_deliveries_that_are_not_there_fail() -> None:
    deliveries = [told(1, [], [A])]
    with pytest.raises(AssertionError, match="held"):
        agreeing("s", [look(1, B)], deliveries)
    with pytest.raises(AssertionError, match=r"a look at \(7, 2\)"):
        agreeing("s", [look(2, A)], deliveries)
