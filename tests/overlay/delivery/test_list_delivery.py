"""What is told of a list, taken out and put in one after the other, makes the list."""

from __future__ import annotations

from itertools import combinations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from overlay.delivery.list_delivery import list_change, list_difference, list_ended, list_snapshot

rows = st.lists(st.sampled_from(["[0]", "[1]", '["a"]']), max_size=6)


def after(held: list[str], body: str) -> list[str]:
    """Take and put as the header says."""
    told, held = msgspec.json.decode(f"{{{body}}}"), list(held)
    for place, row in told["removed"]:
        assert held.pop(place) == msgspec.json.encode(row).decode()
    for place, row in told["added"]:
        assert place <= len(held)
        held.insert(place, msgspec.json.encode(row).decode())
    return held


@given(rows, rows)
def test_a_difference_makes_the_new_list_of_the_old_one_with_the_fewest_rows(old: list[str], new: list[str]) -> None:
    removed, added = list_difference(old, new)
    assert after(old, list_change(removed, added)) == new
    kept = next(
        size for size in range(len(old), -1, -1) if any(_is_within(common, new) for common in combinations(old, size))
    )
    assert len(removed) == len(old) - kept and len(added) == len(new) - kept


@given(rows)
def test_a_list_comes_from_nothing_and_goes_to_nothing(held: list[str]) -> None:
    assert after([], list_snapshot(held)) == held
    assert after(held, list_ended(held)) == []


def _is_within(part: tuple[str, ...], whole: list[str]) -> bool:
    left = iter(whole)
    return all(row in left for row in part)
