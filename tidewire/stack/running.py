"""A stack of one's own for as long as a block lasts: for demos, scenarios and tests."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tidewire.settings import Settings
from tidewire.stack.child import Child
from tidewire.stack.data_directory import DataDirectory
from tidewire.stack.embedded import PROGRAM, child_environment
from tidewire.stack.failure import ChildFailedError
from tidewire.stack.supervisor import STOP_SECONDS

_STOP_SECONDS = 2 * STOP_SECONDS + 5.0
"""First engine and edges may take that long, then the broker."""


@contextmanager
def running_stack(
    settings: Settings, patience: float = 600.0, program: Sequence[str] = PROGRAM
) -> Iterator[dict[str, Any]]:
    """Run `tidewire up` in a process of its own; yield its status once it is ready, and stop it afterwards.

    With `broker_port` and `http_port` 0 it takes free ports; the status says which. It cannot outlive this process.
    *Cost*: about 15 s to start and 3 s to stop.

    Raises:
        ChildFailedError: it ended before it was ready, or was not ready within `patience` seconds.
    """
    directory = DataDirectory(settings.data_dir)
    log = directory.logs / "up.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    child = Child("up", [*program, "up"], log, Path.cwd(), child_environment(settings))
    try:
        yield _await_ready(child, directory, patience)
    finally:
        child.stop(_STOP_SECONDS)


def _await_ready(child: Child, directory: DataDirectory, patience: float) -> dict[str, Any]:
    deadline = time.monotonic() + patience
    while True:
        status = directory.read_status()
        if status is not None and status["pid"] == child.pid and status["state"] == "ready":
            return status
        if not child.alive:
            raise ChildFailedError(f"the stack did not start (exit code {child.exit_code}):\n{child.tail()}")
        if time.monotonic() > deadline:
            raise ChildFailedError(f"the stack was not ready within {patience:g} s. Its log:\n{child.tail()}")
        time.sleep(0.1)
