"""The index against a dict: tiny domains full of ties, both ends of the 64 bits, chains and trees with tiny leaves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.index.subscription_index import SubscriptionIndex, warm
from state.order_code import INT64_MAX, INT64_MIN
from tests.effort import examples
from tests.oracle.naive_subscription_index import NaiveSubscriptionIndex, rectangles

GROUPS = [(0, b"[1]", 0), (0, b"[1]", 3), (0, b"[2]", 0), (1, b"[]", 1)]
codes = st.sampled_from([INT64_MIN, 0, 1, 2, 3, INT64_MAX])
wide = st.integers(0, 40)
subscriptions = st.lists(st.tuples(st.sampled_from(GROUPS), codes | wide, codes | wide), max_size=30)
messages = st.lists(st.tuples(st.sampled_from(GROUPS), codes, codes, codes, codes), max_size=12)
steps = st.lists(st.tuples(subscriptions, st.lists(st.integers(0, 200), max_size=25), messages), max_size=5)


@pytest.fixture(scope="module", autouse=True)
def warmed() -> None:
    warm()


def put(index: SubscriptionIndex, twin: NaiveSubscriptionIndex, rows: list, first: int) -> None:
    slots = [slot for slot in range(first, first + len(rows)) if slot not in index]
    rows = rows[: len(slots)]
    slots = slots[: len(rows)]
    ints = [np.array([row[i] for row in rows], np.int64) for i in (1, 2)]
    domains, shapes = (np.array([row[0][i] for row in rows], np.int64) for i in (0, 2))
    index.insert(np.array(slots, np.int64), domains, [row[0][1] for row in rows], shapes, *ints)
    for slot, (where, lo, hi) in zip(slots, rows, strict=True):
        twin.insert(slot, where, lo, hi)


def ask(index: SubscriptionIndex, twin: NaiveSubscriptionIndex, rows: list) -> None:
    bounds = rectangles([row[1:] for row in rows])
    numbers = np.array([index.groups.number(*row[0]) for row in rows], np.int64)
    message, slot = index.query(numbers, *bounds)
    assert (np.diff(message) >= 0).all()
    assert sorted(zip(message.tolist(), slot.tolist(), strict=True)) == twin.query([row[0] for row in rows], bounds)


@settings(max_examples=examples(100), deadline=None)
@given(steps, st.integers(1, 4), st.integers(2, 4))
def test_any_history_answers_as_the_dict_does(steps: list, small: int, leaf: int) -> None:
    index, twin = SubscriptionIndex(small, leaf), NaiveSubscriptionIndex()
    for number, (rows, removed, asked) in enumerate(steps):
        put(index, twin, rows, 30 * number)
        for slot in removed:
            assert index.remove(slot) == twin.remove(slot)
        ask(index, twin, asked)
        index.check()
    assert sorted(index.slots()) == sorted(twin.places) and len(index) == len(twin.places)
    for slot in list(twin.places):
        assert index.remove(slot) and twin.remove(slot)
    index.check()
    assert len(index) == 0 and all(index.groups.number(*group) == -1 for group in GROUPS)


def test_many_points_in_one_spot_and_on_one_line() -> None:
    index, twin = SubscriptionIndex(4, 4), NaiveSubscriptionIndex()
    group = GROUPS[0]
    put(index, twin, [(group, 7, 7)] * 300 + [(group, 5, hi) for hi in range(300)], 0)
    ask(index, twin, [(group, 5, 5, 10, 20), (group, 7, 7, 7, 7), (group, INT64_MIN, INT64_MAX, INT64_MIN, INT64_MAX)])
    index.check()


def test_a_message_that_meets_more_than_there_was_room_for() -> None:
    index, twin = SubscriptionIndex(), NaiveSubscriptionIndex()
    put(index, twin, [(GROUPS[i % 4], i % 97, i % 89) for i in range(5_000)], 0)
    everything = (INT64_MIN, INT64_MAX, INT64_MIN, INT64_MAX)
    ask(index, twin, [(GROUPS[0], *everything), (GROUPS[2], *everything), (GROUPS[0], 0, 10, 0, 10)])
    index.check()


def test_messages_of_groups_that_nobody_is_in_meet_nobody() -> None:
    index = SubscriptionIndex()
    bounds = rectangles([(0, 9, 0, 9)] * 3)
    message, slot = index.query(np.full(3, -1, np.int64), *bounds)
    assert len(message) == len(slot) == 0
