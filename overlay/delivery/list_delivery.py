"""What deliveries say of an answer that is a list of rows, which best-k questions have: rows with their places.

    held       a b c d
    change     "removed":[[3,d],[1,b]],"added":[[0,e]]      take out from behind, then put in from the front
    holds      e a c

    snapshot   "form":"list","removed":[],"added":[[0,a],[1,b]]
    change     "removed":[[1,["B","9.50"]]],"added":[[0,["B","9.75"]]]      a row that moves is removed and added
    resync     "same":true,"removed":[],"added":[]                          what is held is right; `n` stays as it was
               "form":"list","whole":true,"removed":[],"added":[…]          what is held is void
    final      "removed":[],"added":[]                                      what is held stays
    ended      "removed":[…],"added":[]                                     all rows, as they were held

A member is `[place, row]`, the places counted from 0: in `removed` those of the list before, descending, in `added`
those of the list afterwards, ascending. So whoever takes and puts one after the other is right at the end. A row is an
array in the order of the SELECT list (`overlay/delivery/row_text.py`), and holds no array: so no row of a bag can be
taken for a member of a list.

All functions but `list_difference` return a delivery's body, as `overlay/delivery/delivery.py` has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

FORM = "list"
LIST_SAME = '"same":true,"removed":[],"added":[]'
_FORM = f'"form":"{FORM}"'

Placed = tuple[int, str]
"""The place of a row, and its text."""


def list_change(removed: Iterable[Placed], added: Iterable[Placed]) -> str:
    """Return what a change says of rows with places in the old list and in the new one."""
    return f'"removed":{_members(sorted(removed, reverse=True))},"added":{_members(sorted(added))}'


def list_snapshot(rows: Sequence[str]) -> str:
    """Return what a snapshot says of the list."""
    return f"{_FORM},{list_change((), enumerate(rows))}"


def list_whole(rows: Sequence[str]) -> str:
    """Return what a resync says whose list is not what was told before."""
    return f'{_FORM},"whole":true,{list_change((), enumerate(rows))}'


def list_ended(rows: Sequence[str]) -> str:
    """Return what an end says of the list that was held."""
    return list_change(enumerate(rows), ())


def list_difference(old: Sequence[str], new: Sequence[str]) -> tuple[list[Placed], list[Placed]]:
    """Return what is to be removed from `old` and added so that it becomes `new`: as few rows as possible.

    >>> list_difference(["a", "b", "c"], ["c", "a", "b"])
    ([(2, 'c')], [(0, 'c')])

    Cost: O(n m) for the n and m rows that stand between the common beginning and the common end.
    """
    first = _common(old, new)
    most = min(len(old), len(new)) - first
    last = _common(old[::-1][:most], new[::-1][:most])
    before, after = old[first : len(old) - last], new[first : len(new) - last]
    kept_before, kept_after = _kept(before, after)
    return (
        [(first + place, text) for place, text in enumerate(before) if place not in kept_before],
        [(first + place, text) for place, text in enumerate(after) if place not in kept_after],
    )


def _members(placed: Iterable[Placed]) -> str:
    return f"[{','.join([f'[{place},{text}]' for place, text in placed])}]"


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many of the first rows are the same."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


def _kept(old: Sequence[str], new: Sequence[str]) -> tuple[set[int], set[int]]:
    """Return the places, in either list, of a longest common subsequence."""
    longest = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i in range(len(old) - 1, -1, -1):
        for j in range(len(new) - 1, -1, -1):
            same = 1 + longest[i + 1][j + 1] if old[i] == new[j] else 0
            longest[i][j] = max(same, longest[i + 1][j], longest[i][j + 1])
    kept_old, kept_new, i, j = set[int](), set[int](), 0, 0
    while i < len(old) and j < len(new):
        if old[i] == new[j] and longest[i][j] == 1 + longest[i + 1][j + 1]:
            kept_old.add(i)
            kept_new.add(j)
            i, j = i + 1, j + 1
        elif longest[i + 1][j] >= longest[i][j + 1]:
            i += 1
        else:
            j += 1
    return kept_old, kept_new
