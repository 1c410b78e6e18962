"""Publishing many rows: JSON lines, checked one by one, through the bulk producer, at a chosen rate.

Lines are written in order. At the first line that cannot be taken everything before it is flushed and stands in
the topic, and nothing after it is read: the error says the line's number and how many rows were written, so one can
correct the line and go on from there (rows are upserts: publishing from the start again changes nothing either).
With `skip_bad`, bad lines are left out, told and counted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from catalog.relation import Relation
from connectors.json_reader import read_json
from connectors.json_writer import encode_key, encode_row
from connectors.kafka import Producer
from connectors.record import OutRecord
from state.errors import UserError
from tidewire.client import key_of
from tidewire.raw_record import read_raw_line


class BadLine(UserError):
    """A line of the input cannot be published. Fields: `line` (from 1), `published` (rows before it)."""

    code = "bad_line"

    def __init__(self, line: int, why: str, published: int) -> None:
        self.line = line
        self.published = published
        super().__init__(
            f"line {line}: {why}.\n{published} row(s) before it were published, nothing after it. "
            "Correct the line and publish from it on, or leave bad lines out with --skip-bad."
        )


Line = tuple[int, OutRecord | str]
"""The number of a line, and its record, or why there is none."""


@dataclass(slots=True)
class Published:
    """How many rows were written and how many lines left out."""

    rows: int = 0
    skipped: int = 0
    seconds: float = 0.0


def records_of(relation: Relation, lines: Iterable[bytes], delete: bool) -> Iterator[Line]:
    """Yield each line of rows (or of keys to delete) that is not blank."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield number, _record(relation, read_json(line), delete)
        except ValueError as error:
            yield number, str(error).rstrip(".")


def raw_records_of(lines: Iterable[bytes]) -> Iterator[Line]:
    """Yield each line of records that were captured (`tidewire/raw_record.py`)."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield number, read_raw_line(line)
        except ValueError as error:
            yield number, str(error).rstrip(".")


def publish_records(
    records: Iterable[Line],
    producer: Producer,
    *,
    rate: float | None = None,
    skip: Callable[[int, str], None] | None = None,
    tick: Callable[[Published], None] = lambda _: None,
) -> Published:
    """Publish what `records_of` or `raw_records_of` yields, in order, at most `rate` a second.

    `skip(line, why)` is told of each bad line; without it the first one raises BadLine. `tick` is called after
    every row. *Cost*: 30 us a row of ten columns.
    """
    done, began = Published(), time.monotonic()
    for number, record in records:
        if isinstance(record, str):
            if skip is None:
                producer.flush()
                raise BadLine(number, record, done.rows)
            skip(number, record)
            done.skipped += 1
            continue
        if rate:
            time.sleep(max(0.0, began + done.rows / rate - time.monotonic()))
        producer.send(record)
        done.rows += 1
        done.seconds = time.monotonic() - began
        tick(done)
    producer.flush()
    done.seconds = time.monotonic() - began
    return done


def _record(relation: Relation, document: object, delete: bool) -> OutRecord:
    if delete:
        return OutRecord(relation.topic, None, encode_key(relation, key_of(relation, document)), None)
    if not isinstance(document, dict):
        raise ValueError("expected a JSON object, a row of the table")
    return OutRecord(relation.topic, None, encode_key(relation, document), encode_row(relation, document))
