"""Say what is waited for where a step takes longer than a person likes to look at nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SILENT_SECONDS = 1.0


@contextmanager
def waiting_for(what: str, say: Callable[[str], None], silent: float | None = None) -> Iterator[None]:
    """Run a block; if it is still running after `silent` seconds (1), say once "waiting for `what`".

    *Cost*: a thread, 60 us.
    """
    over = threading.Event()

    def watch() -> None:
        if not over.wait(SILENT_SECONDS if silent is None else silent):
            say(f"waiting for {what}")

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
