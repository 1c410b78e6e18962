"""The daemon that forks Spark's Python workers, with modules and kernels loaded before the first fork.

`spark.python.daemon.module=streaming.daemon`. Spark ends a worker that was idle for a minute, so whoever publishes
after a pause meets a new one: forked from here it begins at once, otherwise it first imports pandas, pyarrow and
numba and loads the kernels (1.5-2.5 s, measured). What has threads at the fork takes care of it: Arrow's pools and
allocator register fork handlers, and OpenBLAS is held to one thread by Spark's OMP_NUM_THREADS.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

from pyspark.daemon import manager

MODULES = ("pandas", "pyarrow", "pyspark.worker", "streaming.adapter")
KERNELS = ("operators.range_extremum",)


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


if __name__ == "__main__":
    for message in preload():
        print(message, file=sys.stderr)
    manager()
