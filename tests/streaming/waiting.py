"""Waits in tests."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def eventually(
    what: Callable[[], Any], seconds: float = 120, failure: Callable[[], BaseException | None] = lambda: None
) -> Any:
    """Return the first true value of `what`; fail after `seconds`, or at once with what `failure` returns."""
    deadline = time.monotonic() + seconds
    pause = 0.005
    while True:
        found = what()
        if found:
            return found
        problem = failure()
        if problem is not None:
            raise problem
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(pause)
        pause = min(0.1, pause * 1.3)
