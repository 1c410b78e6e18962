"""JSON values that are the same, and differences that lead somewhere."""

import pytest

from tidewire.verification.compare.same_value import leads_to, same


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (1, 1.0, True), (True, 1, False), (0, False, False), (None, None, True), (None, 0, False),
        ("1.50", "1.5", False),
        ([1, None], [1.0, None], True), ([1], [1, 1], False), ({"old": 1}, {"old": 1.0}, True),
        ({"old": 1}, {"new": 1}, False),
        ({"old": [True]}, {"old": [1]}, False),
    ],
)  # fmt: skip
def test_same(one: object, other: object, expected: bool) -> None:
    assert same(one, other) is same(other, one) is expected


def test_a_new_value_must_be_the_answer() -> None:
    assert leads_to({"old": 3, "new": 1}, 1.0) and not leads_to({"old": 1, "new": 3}, 1)


def test_what_was_added_must_be_there_and_what_was_removed_must_not() -> None:
    held = frozenset({1, 2})
    assert leads_to({"removed": [3], "added": [1]}, held) and leads_to({"removed": [], "added": []}, held)
    assert not leads_to({"removed": [2], "added": []}, held) and not leads_to({"removed": [], "added": [3]}, held)
