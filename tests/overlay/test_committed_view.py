"""Readers never see memory amid a step, and neither side starves."""

from __future__ import annotations

import threading
import time

import pytest

from overlay.committed_view import CommittedView, EdgeBusy


def test_a_reader_waits_for_the_end_of_the_step() -> None:
    view, value = CommittedView(), [0]
    seen: list[int] = []
    with view.changing():
        value[0] = 1
        reader = threading.Thread(target=lambda: seen.append(view.read(lambda: value[0])))
        reader.start()
        time.sleep(0.05)
        assert seen == []
        value[0] = 2
    reader.join(120)
    assert seen == [2]


def test_a_reader_gives_up() -> None:
    view = CommittedView()
    with view.changing(), pytest.raises(EdgeBusy, match=r"more than 0\.01 s"):
        view.read(lambda: 1, timeout=0.01)
    assert view.read(lambda: 1) == 1


def test_a_reader_comes_in_between_steps_that_follow_at_once() -> None:
    view, stop, done = CommittedView(), threading.Event(), threading.Event()

    def work() -> None:
        while not stop.is_set():
            with view.changing():
                time.sleep(0.002)

    def ask() -> None:
        for _ in range(20):
            view.read(lambda: None)
        done.set()

    threads = [threading.Thread(target=work), threading.Thread(target=ask)]
    for thread in threads:
        thread.start()
    assert done.wait(120)
    stop.set()
    for thread in threads:
        thread.join(120)


def test_a_failed_step_lets_readers_in() -> None:
    view = CommittedView()
    with pytest.raises(RuntimeError), view.changing():
        raise RuntimeError
    assert view.read(lambda: 7) == 7
