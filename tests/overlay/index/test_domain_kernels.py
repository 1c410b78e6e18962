"""Chains of bunches by owner: who is found in them, who hears, against lists."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.index.domain_kernels import HEARER, NEXT, OWNER, PREV, count_heard, find, link, list_heard
from state.change_batch import I32
from tests.effort import examples

OWNERS, HEARERS, CHANNELS = 3, 4, 3
HEARS = np.array([[(channel + hearer) % 3 > 0 for hearer in range(HEARERS)] for channel in range(CHANNELS)])
MEMBERS = st.lists(st.tuples(st.integers(0, OWNERS - 1), st.integers(0, HEARERS - 1)), max_size=8, unique=True)


def linked(members: list[tuple[int, int]], cut: int) -> tuple[I32, I32]:
    """Chains of members 0, 1, ... as (owner, hearer) each, put in in two steps."""
    first, chain = np.full(OWNERS, -1, np.int32), np.full((len(members), 4), -1, np.int32)
    numbers = np.arange(len(members))
    owners, hearers = (np.array([each[i] for each in members], np.int64) for i in (0, 1))
    for some in (slice(None, cut), slice(cut, None)):
        link(numbers[some], owners[some], hearers[some], first, chain)
    return first, chain


@settings(max_examples=examples(200), deadline=None)
@given(MEMBERS, st.integers(0, 8))
def test_new_members_stand_before_the_others_of_their_owners(members: list[tuple[int, int]], cut: int) -> None:
    first, chain = linked(members, cut)
    for owner in range(OWNERS):
        mine = [i for i, (of, _) in enumerate(members) if of == owner][::-1]
        walked, before, member = list[int](), -1, int(first[owner])
        while member >= 0:
            assert chain[member, [PREV, HEARER, OWNER]].tolist() == [before, members[member][1], owner]
            walked.append(member)
            before, member = member, int(chain[member, NEXT])
        assert walked == mine


@settings(max_examples=examples(200), deadline=None)
@given(MEMBERS)
def test_a_member_is_found_by_its_hearer(members: list[tuple[int, int]]) -> None:
    first, chain = linked(members, 3)
    asked = [(owner, hearer) for owner in range(OWNERS) for hearer in range(HEARERS)]
    owners, hearers = (np.array([each[i] for each in asked]) for i in (0, 1))
    out = np.full(len(asked), 77)
    find(owners, hearers, first, chain, out)
    assert out.tolist() == [members.index(each) if each in members else -1 for each in asked]


@settings(max_examples=examples(200), deadline=None)
@given(MEMBERS, st.lists(st.tuples(st.integers(-1, OWNERS - 1), st.integers(0, CHANNELS - 1)), max_size=5))
def test_those_are_listed_who_hear_a_channel(members: list[tuple[int, int]], asked: list[tuple[int, int]]) -> None:
    first, chain = linked(members, 0)
    owners, channels = (np.array([each[i] for each in asked], np.int64) for i in (0, 1))
    counts = np.full(len(asked), 77)
    count_heard(owners, channels, HEARS, first, chain, counts)
    out = np.full(int(counts.sum()), 77)
    list_heard(owners, channels, HEARS, first, chain, out)
    wanted = [
        [i for i, (of, hearer) in enumerate(members) if of == owner and HEARS[channel, hearer]][::-1]
        for owner, channel in asked
    ]
    assert counts.tolist() == list(map(len, wanted))
    assert out.tolist() == [member for one in wanted for member in one]
