from __future__ import annotations

import threading

import pytest

from streaming.engine.batch_wait import Patience, wait_of


def test_each_stop_that_cuts_a_batch_off_makes_the_next_wait_longer_up_to_a_bound() -> None:
    patience, waited = Patience(), []
    for _ in range(9):
        waited.append(patience.seconds(10.0))
        patience.stopped(finished=False)
    assert waited == [10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 640.0, 640.0, 640.0]
    patience.stopped(finished=True)
    assert patience.seconds(10.0) == 10.0


def test_who_is_asked_to_stop_has_no_more_than_the_least_from_then_on() -> None:
    stop = threading.Event()
    left = wait_of(100.0, 5.0, stop)
    assert left() == pytest.approx(100.0, abs=1.0)
    stop.set()
    assert left() == pytest.approx(5.0, abs=0.5)
    threading.Event().wait(0.1)
    assert left() < 4.95
    assert wait_of(2.0, 5.0, stop)() == pytest.approx(2.0, abs=0.5)
