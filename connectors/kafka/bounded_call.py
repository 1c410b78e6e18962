"""Call what ought to return in time by its own time-out, and does not always."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class CallStuckError(Exception):
    """The call has not returned; its thread waits on, and what it works with must not be used any more."""


def bounded(call: Callable[[], T], seconds: float) -> T:
    """Return `call()`, or raise what it raises. *Cost*: a thread, 60 us.

    Raises:
        CallStuckError: it did not return within `seconds`. Its thread is a daemon, which keeps no process alive.
    """
    values: list[T] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            values.append(call())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not values:
        raise CallStuckError(f"a call has not returned within {seconds:g} s")
    return values[0]
