"""Groups by domain, group and shape against a dict; what is heard against every shape looked at."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.index.domain_groups import DomainGroups
from tests.effort import examples

PLACES = [(domain, group, 2 * shape + domain) for domain in (0, 1) for group in (b"a", b"b") for shape in range(4)]
HEARS = np.array([[shape % 3 != channel for shape in range(8)] for channel in range(3)])
some = st.lists(st.sampled_from(PLACES), max_size=8)


def enter(groups: DomainGroups, twin: dict, places: list) -> None:
    domains, shapes = (np.array([place[i] for place in places], np.int64) for i in (0, 2))
    numbers, new = groups.enter(domains, [place[1] for place in places], shapes)
    assert sorted(new.tolist()) == sorted(
        {number for number, place in zip(numbers.tolist(), places, strict=True) if place not in twin}
    )
    for number, place in zip(numbers.tolist(), places, strict=True):
        assert twin.setdefault(place, number) == number
    assert len(set(twin.values())) == len(twin)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.tuples(some, some), max_size=6))
def test_any_history_knows_who_hears_what(steps: list) -> None:
    groups, twin = DomainGroups(), dict[tuple[int, bytes, int], int]()
    for come, go in steps:
        enter(groups, twin, come)
        for place in go:
            if place in twin:
                groups.leave(twin.pop(place))
        groups.check(twin.values())
        assert [groups.number(*place) for place in PLACES] == [twin.get(place, -1) for place in PLACES]
        asked = [
            (domain, group, channel) for domain, group in ((0, b"a"), (1, b"b"), (0, b"c")) for channel in range(3)
        ]
        owners = np.array([groups.owner(domain, group) for domain, group, _ in asked])
        heard = groups.heard(owners, np.array([channel for *_, channel in asked]), HEARS)
        ends = np.cumsum(heard.counts)
        for (domain, group, channel), found in zip(asked, np.split(heard.bunches, ends[:-1]), strict=True):
            expected = {
                number for place, number in twin.items() if place[:2] == (domain, group) and HEARS[channel, place[2]]
            }
            assert set(found.tolist()) == expected and len(found) == len(expected)
