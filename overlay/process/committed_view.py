"""Let other threads look at an edge's memory, only at moments when it equals what is committed.

The edge's thread is inside `changing` from the first record it feeds in until the transaction is committed (or the
memory dropped). A reader waits for the end of that, and the edge's thread lets waiting readers go first, but only for
`COURTESY` seconds: then the next reader is the one that waits. Who has many questions asks them in slices, and between
two of them others have their turn. So neither side starves: readers cost a step at most `COURTESY` seconds, a slice
of `SLICE` and one question.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from state.errors import TidewireError

K = TypeVar("K")
T = TypeVar("T")
COURTESY = 0.05
SLICE = 0.01


class EdgeBusy(TidewireError):
    """An edge's step takes longer than a reader wanted to wait."""

    code = "edge_busy"
    retry_helps = True


class CommittedView:
    """A turnstile between one writer and many short readers."""

    def __init__(self) -> None:
        self._turn = threading.Condition()
        self._changing = False
        self._steps = 0
        self._waiting = 0
        self._due = float("inf")

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Keep readers out while memory is ahead of the log. For one thread only."""
        # Said before the lock is asked for: a reader that comes back at once may get it again and again before us.
        self._due = time.monotonic() + COURTESY
        with self._turn:
            self._turn.wait_for(lambda: not self._waiting, self._due - time.monotonic())
            self._changing, self._due = True, float("inf")
            self._steps += 1
        try:
            yield
        finally:
            with self._turn:
                self._changing = False
                self._turn.notify_all()

    @property
    def steps(self) -> int:
        """How many steps have begun: what two questions see is the same if this is. To be asked within a question."""
        return self._steps

    def read(self, question: Callable[[], T], timeout: float = 10.0) -> T:
        """Return `question()`, asked between two steps, which waits for it. Raises EdgeBusy after `timeout` seconds."""
        with self._turn:
            self._waiting += 1
            try:
                if not self._turn.wait_for(self._open, timeout):
                    raise EdgeBusy(f"the edge is in the middle of a step for more than {timeout:g} s. Ask again.")
                return question()
            finally:
                self._waiting -= 1
                self._turn.notify_all()

    def read_each(self, question: Callable[[K], T], about: Sequence[K], timeout: float = 10.0) -> list[T]:
        """Return `question` of each, all of them asked between steps, though not always between the same two.

        Raises EdgeBusy where a slice of them had to wait for `timeout` seconds.
        """
        answers: list[T] = []

        def a_slice() -> None:
            until = time.monotonic() + SLICE
            for one in about[len(answers) :]:
                answers.append(question(one))
                if time.monotonic() >= until:
                    return

        while len(answers) < len(about):
            self.read(a_slice, timeout)
        return answers

    def _open(self) -> bool:
        return not self._changing and time.monotonic() < self._due
