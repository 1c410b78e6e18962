"""What is told of a bag, applied in order, makes the bag, however often a row stands in it."""

from __future__ import annotations

from collections import Counter

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from overlay.delivery.bag_delivery import bag_change, bag_change_tail, bag_snapshot, rows_text
from overlay.delivery.delivery import changed, delivery
from overlay.delivery.long_delivery import added_in_parts, cut

rows = st.lists(st.sampled_from(['["a",1]', '["a",null]', '["é",1]', '["b,]",2]']), max_size=6)


def said(body: str) -> dict[str, list[object]]:
    return msgspec.json.decode(f"{{{body}}}")


@given(rows, rows)
def test_a_change_takes_from_the_bag_and_adds_to_it(old: list[str], new: list[str]) -> None:
    before, after = Counter(old), Counter(new)
    body = bag_change(list((before - after).elements()), list((after - before).elements()))
    told = {name: Counter(map(msgspec.json.encode, members)) for name, members in said(body).items()}
    held = Counter(row.encode() for row in old) - told["removed"] + told["added"]
    assert held == Counter(row.encode() for row in new)
    for members in said(body).values():
        texts = [msgspec.json.encode(row).decode() for row in members]
        assert texts == sorted(texts)


def test_a_shared_tail_is_the_same_change() -> None:
    body = bag_change(['["a"]'], ['["b"]'], (0, 2))
    tail = bag_change_tail(rows_text(['["a"]']), rows_text(['["b"]']), "{}", (0, 2))
    assert f'{{"id":"x","n":2{tail}'.encode() == changed('{"id":"x"', 2, body, "{}")


@given(rows, st.integers(1, 400))
def test_parts_are_those_of_the_whole_delivery(added: list[str], most: int) -> None:
    def make(rows: list[str]) -> bytes:
        return delivery('"é"', "snapshot", 3, 1, bag_snapshot(rows), '{"epoch":1}', '"SELECT"')

    assert added_in_parts(make, sorted(added), most) == cut(make(added), most)
