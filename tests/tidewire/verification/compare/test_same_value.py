"""JSON values that are the same, and differences that lead somewhere."""

from typing import Any

import pytest

from tests.tidewire.verification.recompute.test_bag_answers import bag
from tidewire.verification.compare.same_value import leads_to, led_to, may_say, same, says
from tidewire.verification.recompute.list_answers import ListAnswers
from tidewire.verification.records.forms import Delivery, Where


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


BAG = bag((1, None, 1, 7), (2, None, 2, 7))
LIST = ListAnswers([])


def delivery(**members: Any) -> Delivery:
    return Delivery("s", "change", 1, 2, Where(0, 0), **members)


def test_rows_of_a_bag_are_the_same_as_often_in_the_order_of_texts() -> None:
    expected = {"removed": [], "added": [[1, 7], [1, 7], [2, 7]]}
    assert says(delivery(removed=[], added=[[2, 7.0], [1, 7], [1, 7]]), expected, BAG, None)
    assert not says(delivery(removed=[], added=[[1, 7], [2, 7], [2, 7]]), expected, BAG, None)
    assert not says(delivery(removed=[], added=[[1, 7], [True, 7], [2, 7]]), expected, BAG, None)
    assert not says(delivery(removed=[], added=expected["added"], in_text_order=False), expected, BAG, None)
    assert not says(delivery(removed=[], added=expected["added"], form="bag"), expected, BAG, None)
    assert not says(delivery(old=None, new=1), expected, BAG, None)
    assert not says(delivery(removed=[], added=[1, {}, [[]]]), expected, BAG, None)


def test_of_a_list_it_counts_where_a_difference_leads() -> None:
    before, expected = (("a",), ("b",)), {"removed": [[0, ["a"]]], "added": [[1, ["a"]]]}
    assert says(delivery(removed=[[1, ["b"]]], added=[[0, ["b"]]]), expected, LIST, before)
    assert says(delivery(removed=[[1, ["b"]], [0, ["a"]]], added=[[0, ["b"]], [1, ["a"]]]), expected, LIST, before)
    for removed, added in [
        ([[0, ["b"]]], [[0, ["b"]]]), ([], [[0, ["b"]]]), ([[0, ["a"]], [1, ["b"]]], [[0, ["b"]], [1, ["a"]]]),
        ([[1, ["b"]]], [[-1, ["b"]]]), ([[1, ["b"]]], [[5, ["b"]]]), ([["b"]], [["b"]]), ([[1, ["b"]], [1, ["b"]]], []),
        ([[1, ["b"]], [0, ["a"]]], [[1, ["a"]], [0, ["b"]]]), ([[True, ["b"]]], [[0, ["b"]]]),
    ]:  # fmt: skip
        assert not says(delivery(removed=removed, added=added), expected, LIST, before)
    assert led_to((), [], [[0, ["a"]], [0, ["b"]]]) is None


def test_a_resync_of_rows_that_are_not_known_before() -> None:
    held = BAG.shown(BAG.at(2))
    assert may_say(delivery(same=True, removed=[], added=[]), BAG, held)
    assert may_say(delivery(form="bag", whole=True, removed=[], added=[[1, 7], [2, 7]]), BAG, held)
    assert not may_say(delivery(form="bag", whole=True, removed=[], added=[[1, 7]]), BAG, held)
    assert not may_say(delivery(same=True, removed=[], added=[[1, 7]]), BAG, held)
    assert may_say(delivery(form="list", whole=True, removed=[], added=[[0, ["a"]]]), LIST, (("a",),))
