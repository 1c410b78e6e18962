from __future__ import annotations

import platform

import psutil
import pytest

from overlay.process.memory_trim import SECONDS, Rests, give_back


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told")
def test_memory_that_was_freed_below_what_is_used_is_given_back() -> None:
    process = psutil.Process()
    pieces = [bytes(2_000) for _ in range(50_000)]
    kept = pieces.pop()
    full = process.memory_info().rss
    pieces.clear()
    give_back()
    assert full - process.memory_info().rss > 50_000_000 and len(kept) == 2_000


def test_it_is_given_back_once_when_nothing_comes_any_more() -> None:
    rests = Rests()
    turns = [(False, 0), (True, 1), (True, 2), (False, 3), (False, 4), (False, 90)]
    assert [rests.turn(*turn) for turn in turns] == [False, False, False, True, False, False]


def test_a_little_all_the_time_does_not_give_back_all_the_time() -> None:
    rests = Rests()
    given = [rests.turn(number % 2 == 0, number * SECONDS / 10) for number in range(100)]
    assert sum(given) == 10
