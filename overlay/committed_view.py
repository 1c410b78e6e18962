"""Let other threads look at an edge's memory, only at moments when it equals what is committed.

The edge's thread is inside `changing` from the first record it feeds in until the transaction is committed (or the
memory dropped). A reader waits for the end of that, and the edge's thread lets waiting readers go first, so that
neither starves: readers cost a step at most `COURTESY` seconds.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from state.errors import TidewireError

T = TypeVar("T")
COURTESY = 0.05


class EdgeBusy(TidewireError):
    """An edge's step takes longer than a reader wanted to wait."""

    code = "edge_busy"
    retry_helps = True


class CommittedView:
    """A turnstile between one writer and many short readers."""

    def __init__(self) -> None:
        self._turn = threading.Condition()
        self._changing = False
        self._waiting = 0

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Keep readers out while memory is ahead of the log. For one thread only."""
        with self._turn:
            self._turn.wait_for(lambda: not self._waiting, COURTESY)
            self._changing = True
        try:
            yield
        finally:
            with self._turn:
                self._changing = False
                self._turn.notify_all()

    def read(self, question: Callable[[], T], timeout: float = 10.0) -> T:
        """Return `question()`, asked between two steps. *Raises* EdgeBusy after `timeout` seconds."""
        with self._turn:
            self._waiting += 1
            try:
                if not self._turn.wait_for(lambda: not self._changing, timeout):
                    raise EdgeBusy(f"the edge is in the middle of a step for more than {timeout:g} s. Ask again.")
                return question()
            finally:
                self._waiting -= 1
                self._turn.notify_all()
