"""A call that is bounded returns, raises, or is given up."""

from __future__ import annotations

import threading

import pytest

from connectors.kafka.bounded_call import CallStuckError, bounded


def test_what_a_call_returns_or_raises_comes_through() -> None:
    assert bounded(lambda: 7, 5) == 7
    assert bounded(lambda: None, 5) is None
    with pytest.raises(ZeroDivisionError):
        bounded(lambda: 1 // 0, 5)


def test_a_call_that_does_not_return_is_given_up() -> None:
    forever = threading.Event()
    with pytest.raises(CallStuckError, match=r"0\.05 s"):
        bounded(forever.wait, 0.05)
    forever.set()
