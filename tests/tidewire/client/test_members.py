"""What came and went, against the same done value by value."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.types.column_type import JsonValue
from tests.effort import examples
from tidewire.client.members import members_after

scalars = st.sampled_from([None, True, False, 0, 1, 2, 1.5, "1", "a", "é", "", '"a"', "null"])
values = st.one_of(scalars, st.lists(scalars, max_size=2))
bags = st.lists(values, max_size=12)


def slowly(held: list[JsonValue], removed: list[JsonValue], added: list[JsonValue]) -> list[JsonValue]:
    left = list(held)
    for value in removed:
        for place, one in enumerate(left):
            if json.dumps(one) == json.dumps(value):
                del left[place]
                break
    return left + added


@settings(max_examples=examples(400), deadline=None)
@given(bags, bags, bags)
def test_as_value_by_value(held: list[JsonValue], removed: list[JsonValue], added: list[JsonValue]) -> None:
    before = list(held)
    assert json.dumps(members_after(held, removed, added)) == json.dumps(slowly(held, removed, added))
    assert held == before
    assert members_after(None, removed, added) == added


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(values, unique_by=json.dumps, max_size=12), st.data())
def test_a_set_is_what_it_was_before(held: list[JsonValue], data: st.DataObject) -> None:
    """Sets, as answers of DISTINCT are, come out as they always did."""
    removed = data.draw(st.lists(st.sampled_from(held), max_size=5) if held else st.just([]))
    marks = {json.dumps(value) for value in removed}
    assert members_after(held, removed, ["new"]) == [v for v in held if json.dumps(v) not in marks] + ["new"]


def test_a_hundred_thousand_without_a_thousand() -> None:
    held: list[JsonValue] = list(range(100_000))
    left = members_after(held, held[::-100], ["new"])
    assert len(left) == 99_001 and left[:2] == [0, 1] and left[-1] == "new"
