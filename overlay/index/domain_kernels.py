"""The compiled loops of `index/domain_groups.py`, apart from the others since numba's cache knows no other file.

first     int32[d]      domain groups: the first member (-1: none)
members   int32[g, 4]   bunches of the index: NEXT and PREV member of the same domain group, its HEARER, its OWNER
hears     bool[c, h]    whether a hearer hears a channel
"""

from __future__ import annotations

import numba

from state.change_batch import I32, I64, Bool

NEXT, PREV, HEARER, OWNER = 0, 1, 2, 3


@numba.njit(cache=True)
def find(owners: I64, hearers: I64, first: I32, members: I32, out: I64) -> None:
    """Write into `out` which member of each owner has each hearer, -1 where none has."""
    for i in range(len(owners)):
        member = first[owners[i]]
        while member >= 0 and members[member, HEARER] != hearers[i]:
            member = members[member, NEXT]
        out[i] = member


@numba.njit(cache=True)
def link(numbers: I64, owners: I64, hearers: I64, first: I32, members: I32) -> None:
    """Put new members before the others of their owners."""
    for i in range(len(numbers)):
        number, owner = numbers[i], owners[i]
        after = first[owner]
        if after >= 0:
            members[after, PREV] = number
        members[number, NEXT], members[number, PREV] = after, -1
        members[number, HEARER], members[number, OWNER] = hearers[i], owner
        first[owner] = number


@numba.njit(cache=True)
def count_heard(owners: I64, channels: I64, hears: Bool, first: I32, members: I32, counts: I64) -> None:
    """Write into `counts` how many members of each owner (-1: of none) hear each channel."""
    for i in range(len(owners)):
        count = 0
        member = first[owners[i]] if owners[i] >= 0 else -1
        while member >= 0:
            count += hears[channels[i], members[member, HEARER]]
            member = members[member, NEXT]
        counts[i] = count


@numba.njit(cache=True)
def list_heard(owners: I64, channels: I64, hears: Bool, first: I32, members: I32, out: I64) -> None:
    """Write into `out` the members that `count_heard` has counted, one owner after the other."""
    count = 0
    for i in range(len(owners)):
        member = first[owners[i]] if owners[i] >= 0 else -1
        while member >= 0:
            if hears[channels[i], members[member, HEARER]]:
                out[count] = member
                count += 1
            member = members[member, NEXT]


ENTRIES = (find, link, count_heard, list_heard)
