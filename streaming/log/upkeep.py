"""Keeps the log's files few: OPTIMIZE after so many commits or so much time, VACUUM once a day.

Both run in a thread of their own: a batch that is written meanwhile waits for neither, and conflicts with neither, as
an append reads no file. Without them the table's snapshot, and with it every batch, would grow with the number of
batches ever written.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from state.errors import TidewireError
from streaming.log.table import LogTable

COMMITS = 200
_VACUUM_SECONDS = 86_400.0
_LOG = logging.getLogger("tidewire.log")


class LogUpkeep:
    """Decides when. `note` is told of commits; whatever becomes due runs in the background, one at a time."""

    def __init__(
        self, table: LogTable, keep_hours: int, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._table = table
        self._keep_hours = keep_hours
        self._seconds = seconds
        self._clock = clock
        self._commits = 0
        self._compacted = clock()
        self._vacuumed = float("-inf")
        self._thread: threading.Thread | None = None

    def note(self, commits: int) -> None:
        """Count `commits` more; start what is due, unless something still runs."""
        self._commits += commits
        due = self._commits >= COMMITS or (self._commits > 1 and self._clock() - self._compacted >= self._seconds)
        if due and (self._thread is None or not self._thread.is_alive()):
            self._commits, self._compacted = 0, self._clock()
            self._thread = threading.Thread(target=self._work, name="tidewire-log-upkeep", daemon=True)
            self._thread.start()

    def join(self) -> None:
        """Wait for what is running."""
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        try:
            files = self._table.compact()
            _LOG.info("%d files of the log were put together", files)
            if self._clock() - self._vacuumed >= _VACUUM_SECONDS:
                self._table.vacuum(self._keep_hours)
                self._vacuumed = self._clock()
        except (TidewireError, PySparkException, Py4JError, OSError) as problem:
            _LOG.warning("the log's files could not be put together: %s", problem)
