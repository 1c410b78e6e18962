"""Deliveries taken in order make the answer, in whatever form they come; one that is missing makes none."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.delivery.bag_delivery import (
    BAG_ENDED,
    BAG_SAME,
    bag_change,
    bag_snapshot,
    bag_snapshot_none,
    bag_whole,
    bag_whole_look,
)
from overlay.delivery.delivery import delivery, moved
from overlay.delivery.list_delivery import LIST_SAME, list_change, list_difference, list_snapshot, list_whole
from overlay.delivery.long_delivery import cut
from overlay.delivery.packed_deliveries import PACKED_KEY, PackedDeliveries
from tidewire.client.delivery_reader import DeliveryReader
from tidewire.client.held_answer import HeldAnswer
from tidewire.client.records import Delivery

ROWS = ["[0]", '["a"]', "[null]", '["é",1.5]']
rows = st.lists(st.sampled_from(ROWS), max_size=5)
states = st.lists(rows, min_size=1, max_size=5)
AT = '{"epoch":1,"batch":2}'


def line(kind: str, n: int, body: str, version: int = 5) -> bytes:
    return delivery('"s"', kind, version, n, body, AT)


def read(packed: bool, *lines: bytes) -> list[Delivery]:
    """Return deliveries as they come from the topic, each in a record of its own or all in one."""
    records = [(b"s", one) for one in lines]
    if packed:
        made = PackedDeliveries()
        for one in lines:
            made.add(one)
        records = [(PACKED_KEY, one) for one in made.take()]
    reader = DeliveryReader()
    found = [one for key, value in records for one in reader.read(key, value)]
    return [one for one in found if isinstance(one, Delivery)]


def as_rows(texts: list[str]) -> list[tuple[object, ...]]:
    return [tuple(msgspec.json.decode(text)) for text in texts]


def bag_difference(old: list[str], new: list[str]) -> str:
    before, after = Counter(old), Counter(new)
    return bag_change(list((before - after).elements()), list((after - before).elements()))


@given(states, st.booleans(), st.integers(100, 400))
def test_a_bag(bags: list[list[str]], packed: bool, most: int) -> None:
    lines = [line("snapshot", 1, bag_snapshot(bags[0]))]
    lines += [line("change", n, bag_difference(old, new)) for n, (old, new) in enumerate(pairwise(bags), 2)]
    held = HeldAnswer()
    for told, bag in zip(read(packed, *(part for one in lines for part in cut(one, most))), bags, strict=True):
        assert held.take(told)
        assert not held.take(told), "once more is no news"
        assert held.rows == Counter(as_rows(bag)) == Counter(held.answer)
    assert held.form == "bag" and held.whole


@given(states, st.booleans())
def test_a_list(lists: list[list[str]], packed: bool) -> None:
    lines = [line("snapshot", 1, list_snapshot(lists[0]))]
    lines += [
        line("change", n, list_change(*list_difference(old, new))) for n, (old, new) in enumerate(pairwise(lists), 2)
    ]
    held = HeldAnswer()
    for told, rows in zip(read(packed, *lines), lists, strict=True):
        assert held.take(told)
        assert held.answer == as_rows(rows)
    assert held.form == "list"


@pytest.mark.parametrize("packed", [False, True])
def test_a_resync_is_the_same_or_whole(packed: bool) -> None:
    held = HeldAnswer()
    news = [
        held.take(told)
        for told in read(
            packed,
            line("snapshot", 1, bag_snapshot(["[0]", "[0]"])),
            line("resync", 1, BAG_SAME),
            line("resync", 2, bag_whole(["[1]"])),
            line("change", 3, bag_change([], ["[1]"])),
        )
    ]
    assert news == [True, False, True, True]
    assert held.answer == [(1,), (1,)]
    listed = HeldAnswer()
    for told in read(
        packed,
        line("snapshot", 1, list_snapshot(["[0]"])),
        line("resync", 1, LIST_SAME),
        line("resync", 2, list_whole(["[1]", "[2]"])),
    ):
        listed.take(told)
    assert listed.answer == [(1,), (2,)]


def test_a_row_that_goes_by_its_key_is_found_in_an_older_form() -> None:
    held = HeldAnswer()
    for told in read(
        False,
        line("snapshot", 1, bag_snapshot(['[1,"a"]', '[2,"a"]'], (0,))),
        line("change", 2, bag_change(['[1,"b"]'], [], (0,))),
        line("change", 3, bag_change([], ['[1,"c"]', '[2,"d"]'], (0,))),
    ):
        held.take(told)
    assert held.rows == Counter([(1, "c"), (2, "d")])


def test_without_a_snapshot_the_rows_are_looked_up() -> None:
    held = HeldAnswer()
    first, second, third, void = read(
        False,
        line("snapshot", 1, bag_snapshot_none()),
        line("change", 2, bag_change([], ["[1]"])),
        line("change", 3, bag_change([], ["[2]"])),
        line("resync", 4, bag_whole_look()),
    )
    assert held.take(first) and held.take(second)
    assert (held.answer, held.whole) == (None, False)
    assert not held.begin(5, 1, [])
    assert held.begin(5, 2, [[0], [1]])
    assert not held.take(second) and held.take(third)
    assert held.answer == [(0,), (1,), (2,)]
    assert held.take(void) and held.answer is None


def test_a_delivery_that_is_missing_makes_the_answer_unknown() -> None:
    held = HeldAnswer()
    told = read(
        False,
        line("snapshot", 1, bag_snapshot([])),
        line("change", 3, bag_change([], ["[1]"])),
        line("change", 4, bag_change([], ["[1]"])),
        line("snapshot", 1, bag_snapshot(["[7]"]), version=6),
        line("ended", 2, BAG_ENDED, version=6),
    )
    answers = []
    for one in told:
        held.take(one)
        answers.append(held.answer)
    assert answers == [[], None, None, [(7,)], None]
    assert held.mark == (6, 2)


def test_values_and_sets_are_held_as_ever() -> None:
    value, values = HeldAnswer(), HeldAnswer()
    for told in read(False, line("change", 7, moved("1", "2")), line("change", 9, moved("2", "[3,null]"))):
        assert value.take(told)
    assert value.answer == [3, None]
    for told in read(
        False,
        line("snapshot", 1, '"removed":[],"added":[1,2]'),
        line("change", 2, '"removed":[1],"added":[null]'),
    ):
        values.take(told)
    assert values.answer == [2, None]
