"""What is there when it is called is passed over later, and what comes later is not."""

from __future__ import annotations

import gc
import weakref

import pytest

from overlay.process.lasting_objects import settle


class Node:
    """Refers to itself, so that only the collector can free it."""

    def __init__(self) -> None:
        self.self = self


@pytest.fixture(autouse=True)
def _thawed() -> object:
    yield
    gc.unfreeze()


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
