"""Versions in order: the same rows hold at each moment, and nothing begins where nothing changes."""

from __future__ import annotations

import random

from tests.effort import examples
from tests.tidewire.verification.recompute.drawn_versions import MOMENTS, check_apart, drawn_versions, held
from tidewire.verification.recompute.version import Version, settled


def test_the_same_rows_hold_at_each_moment_and_no_version_says_what_the_one_before_did() -> None:
    choose = random.Random(3)
    for _ in range(examples(2_000)):
        drawn = drawn_versions(choose, [["a", "b"]], keys=3)
        drawn += [version._replace(end=version.start) for version in drawn[:1]]
        made = settled(drawn)
        check_apart(made)
        assert made == sorted(made, key=lambda one: one.start)
        for moment in MOMENTS:
            shown = [sorted((one.key, one.row) for one in held(some, moment)) for some in (drawn, made)]
            assert shown[0] == shown[1]
        for one in made:
            assert not any(other.key == one.key and other.start == one.end and other.row == one.row for other in made)


def test_a_gap_keeps_equal_rows_apart_and_so_does_another_key() -> None:
    one, gap, other = Version(1, 3, (1,), ("a",)), Version(4, 6, (1,), ("a",)), Version(3, 4, (2,), ("a",))
    assert settled([gap, other, one]) == [one, other, gap]


def test_three_that_follow_one_another_are_one() -> None:
    parts = [Version(start, start + 2, (1,), (None,)) for start in (5, 1, 3)]
    assert settled(parts) == [Version(1, 7, (1,), (None,))]
    assert settled([]) == settled([Version(3, 3, (1,), ("a",))]) == []
