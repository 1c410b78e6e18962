"""Asks for the cells that joins need which are held back: a plain `CREATE JOIN` in the topic `catalog` for each.

The statement is no part of a step's transaction, whose markers would count as versions of the catalog; it is written
once the record that waits is committed, and changes nothing where it is there already. So it is written again by
whoever holds the record back after a restart or a takeover; here, once for as long as anybody waits, or again after
`RETRY_SECONDS` where it could not be written. The answer is a version of the catalog, which all edges are told.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Set
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol

from structlog.typing import FilteringBoundLogger

from catalog.ddl.cell_ddl import create_join
from connectors.kafka.failure import KafkaFailure
from connectors.record import OutRecord
from connectors.topics import Topics

Tables = tuple[str, ...]
RETRY_SECONDS = 30.0


class Writer(Protocol):
    """A producer."""

    def write(self, record: OutRecord) -> Future[int]:
        """Queue a record; the future comes true in `serve`."""
        ...

    def serve(self, seconds: float) -> None:
        """Let futures come true."""
        ...

    def abandon(self) -> None:
        """Write nothing more of what is queued."""
        ...


@dataclass(slots=True)
class _Asked:
    """A statement on its way (`written`), written (None), or not written, to be tried again after `again`."""

    written: Future[int] | None
    again: float = float("inf")


class CellRequests:
    """Those of one edge process, from its one thread. `writer` makes the producer when one is needed first.

    Cost of a turn in which nothing is new: a comparison of two small sets.
    """

    def __init__(
        self,
        topics: Topics,
        writer: Callable[[], Writer],
        log: FilteringBoundLogger,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._topic = topics.catalog
        self._make_writer = writer
        self._writer: Writer | None = None
        self._log = log
        self._clock = clock
        self._asked: dict[Tables, _Asked] = {}

    def ask(self, wanted: Set[Tables]) -> None:
        """Ask for the cells of these sets of tables, which committed records wait for; of others nothing is known."""
        self._asked = {tables: asked for tables, asked in self._asked.items() if tables in wanted}
        self._hear()
        now = self._clock()
        for tables in sorted(wanted):
            if tables not in self._asked or self._asked[tables].again <= now:
                self._asked[tables] = self._write(tables)

    def forget(self) -> None:
        """Nobody here waits any more; who does again asks again."""
        self._asked.clear()

    def close(self) -> None:
        """Write nothing more: who holds the records after this process asks again. Cost: 1 s where no broker answers.

        A producer that still has to tell of a record is never collected, nor are its threads.
        """
        self.forget()
        if self._writer is not None:
            self._writer.abandon()

    def _write(self, tables: Tables) -> _Asked:
        statement = create_join(tables)
        self._log.info("asks for a cell", statement=statement)
        try:
            self._writer = self._writer or self._make_writer()
            return _Asked(self._writer.write(OutRecord(self._topic, 0, None, statement.encode())))
        except KafkaFailure as failure:
            return self._not_written(tables, failure)

    def _hear(self) -> None:
        """Let what was written come true; what was not is tried again later."""
        under_way = {tables: asked.written for tables, asked in self._asked.items() if asked.written is not None}
        if self._writer is not None and under_way:
            self._writer.serve(0)
        for tables, written in under_way.items():
            if written.done():
                failure = written.exception()
                self._asked[tables] = _Asked(None) if failure is None else self._not_written(tables, failure)

    def _not_written(self, tables: Tables, failure: BaseException) -> _Asked:
        self._log.warning("a cell could not be asked for", statement=create_join(tables), reason=str(failure))
        return _Asked(None, self._clock() + RETRY_SECONDS)
