"""Publishing many rows: JSON lines, checked one by one, through the bulk producer, at a chosen rate.

Lines are written in order, and what counts is what the broker has acknowledged (`bulk/acknowledged_lines.py`). It
stops at the first line that cannot be taken, when the broker does not acknowledge for as long as the producer waits,
and at Ctrl-C. Then the error says up to which line all is surely written, of how many records behind it nobody can say,
and the line to go on from (rows are upserts: one that is published twice changes nothing).
With `skip_bad`, bad lines are left out, told and counted.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from catalog.schema.relation import Relation
from connectors.json.reader import read_json
from connectors.json.writer import encode_key, encode_row
from connectors.kafka.failure import BrokerUnavailable, KafkaFailure
from connectors.kafka.producer import Producer
from connectors.record import OutRecord
from state.errors import TidewireError, UserError
from tidewire.bulk.acknowledged_lines import AcknowledgedLines
from tidewire.bulk.raw_record import read_raw_line
from tidewire.client.client import key_of

_OPEN_MOST = 50_000
"""Records that may wait for their acknowledgement."""
_SERVE_SECONDS = 0.2
_EVERY_SECONDS = 0.02
_LEAVE_SECONDS = 5.0
_SHOWN_CHARACTERS = 80


class PublicationStopped(TidewireError):
    """Not all lines were published.

    Fields: `written`, how many rows are surely written; `unsure`, of how many sent behind them nobody can say;
    `line`, from which one goes on.
    """

    code = "publication_stopped"

    def __init__(self, why: str, lines: AcknowledgedLines, how: Callable[[int], str]) -> None:
        self.written = lines.written
        self.unsure = lines.open
        self.line = lines.next_line
        first = "No row is surely written"
        if self.written:
            first = f"{self.written:,} row(s), all up to line {self.line - 1}, are surely written"
        rest = f"; of the next {self.unsure:,} nobody can say" if self.unsure else ", and nothing behind them"
        super().__init__(f"{why}\n{first}{rest}. {how(self.line)}")


class NotAcknowledged(PublicationStopped):
    """The broker has refused what was sent, or has not acknowledged it in time."""

    code = "not_acknowledged"
    retry_helps = True


class PublicationInterrupted(PublicationStopped):
    """Ctrl-C."""

    code = "interrupted"
    exit_code = 130


class BadLine(UserError):
    """A line of the input cannot be published. Fields: `line` (from 1), `published` (rows before it)."""

    code = "bad_line"

    def __init__(self, line: int, why: str, published: int) -> None:
        self.line = line
        self.published = published
        super().__init__(
            f"line {line}: {why}.\n{published} row(s) before it were published, nothing after it. Correct the line "
            f"and publish from it on with --from-line {line}, or leave bad lines out with --skip-bad."
        )


Line = tuple[int, OutRecord | str]
"""The number of a line, and its record, or why there is none."""


@dataclass(slots=True)
class Published:
    """How many rows are acknowledged, how many were sent, and how many lines left out."""

    rows: int = 0
    sent: int = 0
    skipped: int = 0
    seconds: float = 0.0


def records_of(relation: Relation, lines: Iterable[bytes], delete: bool, from_line: int = 1) -> Iterator[Line]:
    """Yield each line of rows (or of keys to delete) that is not blank, from `from_line` on."""
    for number, line in _from(from_line, lines):
        try:
            yield number, _record(relation, read_json(line), delete)
        except ValueError as error:
            yield number, str(error).rstrip(".")


def raw_records_of(lines: Iterable[bytes], from_line: int = 1) -> Iterator[Line]:
    """Yield each line of records that were captured (`tidewire/bulk/raw_record.py`), from `from_line` on."""
    for number, line in _from(from_line, lines):
        try:
            yield number, read_raw_line(line)
        except ValueError as error:
            yield number, str(error).rstrip(".")


def publish_records(
    records: Iterable[Line],
    producer: Producer,
    *,
    from_line: int = 1,
    rate: float | None = None,
    skip: Callable[[int, str], None] | None = None,
    tick: Callable[[Published], None] = lambda _: None,
    how: Callable[[int], str] = "Go on from line {}.".format,
) -> Published:
    """Publish what `records_of` or `raw_records_of` yields, in order, at most `rate` a second.

    `skip(line, why)` is told of each bad line; without it the first one raises BadLine. `tick` is called every 20 ms,
    or every 200 ms while nothing happens; `how` says how to go on from a line.
    *Cost*: 30 us a row of ten columns.

    Raises BadLine, and PublicationStopped when the broker refuses or does not acknowledge for as long as the producer
    waits, or at Ctrl-C. Nothing more is written afterwards.
    """
    run = _Run(producer, from_line, rate, tick)
    try:
        for line, record in records:
            if isinstance(record, OutRecord):
                run.send(line, record)
            elif skip is not None:
                skip(line, record)
                run.pass_over(line)
            else:
                run.drain()
                raise BadLine(line, record, run.done.rows)
        run.drain()
    except KafkaFailure as failure:
        run.leave(0.0 if isinstance(failure, BrokerUnavailable) else _LEAVE_SECONDS)
        raise NotAcknowledged(str(failure), run.lines, how) from failure
    except KeyboardInterrupt:
        run.leave(_LEAVE_SECONDS)
        raise PublicationInterrupted("stopped by Ctrl-C.", run.lines, how) from None
    return run.done


class _Run:
    """One publication on its way."""

    def __init__(self, producer: Producer, first: int, rate: float | None, tick: Callable[[Published], None]) -> None:
        self.lines = AcknowledgedLines(first)
        self.done = Published()
        self._producer = producer
        self._rate = rate
        self._tick = tick
        self._began = self._next = time.monotonic()

    def send(self, line: int, record: OutRecord) -> None:
        """Send a record when its time has come. Raises KafkaFailure, also of an earlier one."""
        if self._rate:
            due = self._began + self.done.sent / self._rate
            while (wait := due - time.monotonic()) > 0:
                self._serve(min(wait, _SERVE_SECONDS))
        while self.lines.open >= _OPEN_MOST:
            self._serve(_SERVE_SECONDS)
        self._producer.send(record, self.lines.sent(line))
        self.done.sent += 1
        if time.monotonic() > self._next:
            self._serve(0.0)

    def pass_over(self, line: int) -> None:
        """Count a line that is left out."""
        self.done.skipped += 1
        self.lines.passed(line)

    def drain(self) -> None:
        """Wait until all is acknowledged. Raises KafkaFailure."""
        self._serve(0.0)
        while self.lines.open:
            self._serve(_SERVE_SECONDS)

    def leave(self, seconds: float) -> None:
        """Hear for some seconds what is acknowledged yet, and write nothing more."""
        until = time.monotonic() + seconds
        with contextlib.suppress(KafkaFailure, KeyboardInterrupt):
            while self.lines.open and time.monotonic() < until:
                self._serve(_SERVE_SECONDS)
        self._producer.abandon()

    def _serve(self, seconds: float) -> None:
        self._producer.serve(seconds)
        self.done.rows = self.lines.acknowledged
        now = time.monotonic()
        self.done.seconds, self._next = now - self._began, now + _EVERY_SECONDS
        self._tick(self.done)


def _from(first: int, lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    return ((number, line) for number, line in enumerate(lines, 1) if number >= first and line.strip())


def _record(relation: Relation, document: object, delete: bool) -> OutRecord:
    if delete:
        key = key_of(relation, document)
        return OutRecord(relation.topic, None, _key(relation, key), None)
    if not isinstance(document, dict):
        raise ValueError("expected a JSON object, a row of the table")
    return OutRecord(relation.topic, None, _key(relation, document), encode_row(relation, document))


def _key(relation: Relation, members: Mapping[str, object]) -> bytes | None:
    """Return the key of a row. Raises ValueError: where a column is missing, a wrong name is the likely reason."""
    try:
        return encode_key(relation, members)
    except ValueError:
        columns = [column.name for column in relation.declared]
        unknown = next((name for name in members if name not in columns), None)
        if unknown is None:
            raise
        raise ValueError(
            f"table `{relation.name}` has the columns {', '.join(columns)}, got `{unknown[:_SHOWN_CHARACTERS]}`; "
            "correct the name"
        ) from None
