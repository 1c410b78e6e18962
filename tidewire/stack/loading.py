"""Loads the modules of a command without the garbage collector.

What modules bring stays, and by default every 700 new objects are gone through: of loading a worker that was an eighth.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def loading() -> Iterator[None]:
    """Collect nothing within; afterwards as before."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
