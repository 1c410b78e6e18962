"""Readers never see memory amid a step, and neither side starves."""

from __future__ import annotations

import threading
import time

import pytest

from overlay.process.committed_view import CommittedView, EdgeBusy


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


def test_many_questions_are_asked_in_slices_and_steps_come_in_between() -> None:
    view, steps, stop = CommittedView(), [0], threading.Event()
    inside = threading.Event()

    def work() -> None:
        while not stop.is_set():
            with view.changing():
                inside.set()
                steps[0] += 1
                time.sleep(0.001)
                inside.clear()

    def ask(number: int) -> tuple[int, int]:
        assert not inside.is_set(), "a question was asked amid a step"
        time.sleep(0.002)
        return number, steps[0]

    worker = threading.Thread(target=work)
    worker.start()
    answers = view.read_each(ask, range(200))
    stop.set()
    worker.join(120)
    assert [number for number, _ in answers] == list(range(200))
    moments = [step for _, step in answers]
    assert moments == sorted(moments) and len(set(moments)) > 5
    assert view.read_each(ask, []) == []


def test_a_step_begins_though_readers_come_back_at_once() -> None:
    view, stop, asked = CommittedView(), threading.Event(), threading.Event()

    def ask() -> None:
        while not stop.is_set():
            view.read(lambda: time.sleep(0.001))
            asked.set()

    readers = [threading.Thread(target=ask) for _ in range(3)]
    for reader in readers:
        reader.start()
    assert asked.wait(120)
    for _ in range(10):
        with view.changing():
            pass
    stop.set()
    for reader in readers:
        reader.join(120)


def test_a_question_that_fails_lets_the_next_step_begin() -> None:
    view = CommittedView()
    with pytest.raises(ZeroDivisionError):
        view.read_each(lambda number: 1 // number, [1, 0])
    with view.changing():
        pass
    assert view.read(lambda: 7) == 7
