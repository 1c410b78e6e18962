"""What is there when it is called is passed over later, and what comes later is not."""

from __future__ import annotations

import gc
import weakref

import pytest

from overlay.process.lasting_objects import NEW_OBJECTS, settle


class Node:
    """Refers to itself, so that only the collector can free it."""

    def __init__(self) -> None:
        self.self = self


@pytest.fixture(autouse=True)
def _threshold() -> object:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_what_is_there_is_passed_over() -> None:
    gone, lasting = weakref.ref(Node()), Node()
    settle()
    assert gone() is None
    assert lasting not in gc.get_objects()
    assert gc.get_freeze_count() > 1_000


def test_what_comes_later_is_collected() -> None:
    settle()
    later = weakref.ref(Node())
    gc.collect()
    assert later() is None


def test_few_new_objects_are_not_gone_through() -> None:
    settle()
    times = gc.get_stats()[0]["collections"]
    kept = [[] for _ in range(NEW_OBJECTS // 2)]
    assert gc.get_stats()[0]["collections"] <= times + 1
    assert len(kept) == NEW_OBJECTS // 2
