"""The daemon that forks Spark's Python workers, with modules and kernels loaded before the first fork.

`spark.python.daemon.module=streaming.query.daemon`. Spark ends a worker that was idle for a minute: who publishes
after a pause meets a new one: forked from here it begins at once, otherwise it first imports pandas, pyarrow and
numba and loads the kernels (1.5-2.5 s, measured). What has threads at the fork takes care of it: Arrow's pools and
allocator register fork handlers, and OpenBLAS is held to one thread by Spark's OMP_NUM_THREADS.

PySpark's workers collect garbage after every task, which takes 57 ms with 160,000 objects of modules in the way; what
is there before the fork is therefore frozen, out of the collector's sight. It is set to look rarely before the modules
come: what they bring stays, and looking through it again and again was an eighth of loading them.

Compiling the kernels, which an executor without a warm cache does, takes 7 s of a core. Should the JVM die in
that time nobody would end this process: `parent_watched` does.
"""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pyspark.daemon import manager

MODULES = ("pandas", "pyarrow", "pyspark.worker", "streaming.query.adapter")
KERNELS = (
    "shard.tables", "state.row_digest", "state.filter_index", "catalog.bulk.term_columns", "state.boxes",
    "connectors.json.format", "connectors.formats.bucket",
)  # fmt: skip
_LOOK_SECONDS = 0.5
_NEW_OBJECTS = 50_000
"""So many new objects of a worker are gone through together (as in `overlay/process/lasting_objects.py`)."""


def preload(modules: Sequence[str] = MODULES, kernels: Sequence[str] = KERNELS) -> list[str]:
    """Import `modules` and load the compiled `kernels`; return what failed, as messages.

    A failure ends nothing: the worker that needs the module will say in its own words what is wrong.
    """
    failed = []
    for name in (*modules, *kernels):
        try:
            module = importlib.import_module(name)
            if name in kernels:
                module.warm()
        except Exception as error:
            failed.append(f"tidewire: `{name}` could not be loaded before the fork: {error!r}")
    return failed


@contextmanager
def parent_watched() -> Iterator[None]:
    """Exit at once if the parent process dies meanwhile; by a timer signal, as no thread may be there at a fork."""
    parent = os.getppid()

    def look(*_: object) -> None:
        if os.getppid() != parent:
            os._exit(0)

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, _LOOK_SECONDS, _LOOK_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


if __name__ == "__main__":
    gc.set_threshold(_NEW_OBJECTS)
    with parent_watched():
        for message in preload():
            print(message, file=sys.stderr)
    gc.freeze()
    manager()
