"""Reads the options of a CREATE STREAM: WITH ('topic'='trades', 'event_time'='ts', 'lateness'='10 s').

event_time   the column, a TIMESTAMP, that says when a row happened; it is never NULL
lateness     how much later than others of its partition a row may come
ahead        how far its event time may be after the time of its record; '1 h' by default
idle         after how long a partition in which nothing comes is taken to be silent; never by default
keep         how long after its end a window is kept; for ever by default
topic, format, absent   as of a table (`given_options.py`), and the options of the format

Spans are written with a unit (`catalog/types/time_span.py`). `absent` cannot be `keep`, since no row is stored, and no
format is taken whose records change rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from catalog.ddl.given_options import FeedOptions, GivenOptions
from catalog.schema.format_options import FORMATS
from catalog.schema.relation import Column
from catalog.schema.stream import HOUR, Stream
from catalog.sql.errors import suggestion
from catalog.sql.names import quoted
from catalog.sql.statement_text import StatementText
from catalog.types.column_type import Kind
from catalog.types.time_span import read_span

OPTIONS = ("topic", "format", "absent", "event_time", "lateness", "ahead", "idle", "keep")
_ABSENT = ("null", "error")
_OF_CHANGES = "debezium-json"
_OF_TABLES = {
    "buckets": "A stream has one: how late a row is says the whole partition that it comes in.",
    "bucket.by": "A stream has one: how late a row is says the whole partition that it comes in.",
}
_TIMES = "Spans are written like '10 s', '5 min', '1 h', '7 days'."


@dataclass(frozen=True, slots=True)
class StreamOptions(FeedOptions):
    """The options of one stream, defaults filled in."""

    stream: Stream


def read_stream_options(
    statement: exp.Create, name: str, columns: Sequence[Column], source: StatementText, place: exp.Expr
) -> StreamOptions:
    """Return the options of `statement`, which declares stream `name` of `columns`. Raises CatalogError."""
    given = GivenOptions.of(statement, source, OPTIONS, place)
    topic, topic_span = given.topic(name)
    format = given.one_of("format", FORMATS)
    _refuse_of_tables(given, format)
    others = given.of_format(format, columns)
    stream = Stream(
        event_time=_event_time(given, columns),
        lateness=_span(given, "lateness", least=0),
        ahead=HOUR if given.get("ahead") is None else _span(given, "ahead", least=0),
        idle=None if given.get("idle") is None else _span(given, "idle"),
        keep=None if given.get("keep") is None else _span(given, "keep"),
    )
    return StreamOptions(topic, format, given.one_of("absent", _ABSENT), others, topic_span, stream)


def _refuse_of_tables(given: GivenOptions, format: str) -> None:
    for name, hint in _OF_TABLES.items():
        option = given.get(name)
        if option is not None:
            what = f"a stream has no option `{name}`"
            raise given.source.refusal("unsupported", what, option.name_span, f"Leave it out. {hint}")
    absent = given.get("absent")
    if absent is not None and absent.value.lower() == "keep":
        hint = "Leave it out, and an absent member is NULL; or write 'absent'='error'."
        what = "a stream stores no rows, of which an absent member could keep the value"
        raise given.fault("absent", "unsupported", what, hint)
    if format == _OF_CHANGES:
        hint = "Declare a table: CREATE TABLE ... PRIMARY KEY (...). A stream takes json, csv, avro and protobuf."
        what = f"records of `{format}` change and delete rows, and a row of a stream stays as it came"
        raise given.fault("format", "unsupported", what, hint)


def _event_time(given: GivenOptions, columns: Sequence[Column]) -> str:
    option = given.get("event_time")
    times = [column.name for column in columns if column.type.kind is Kind.TIMESTAMP]
    shown = times[0] if times else "ts"
    if option is None:
        hint = f"Write 'event_time'='{shown}'" + (", a column of type TIMESTAMP." * (not times) or ".")
        raise given.fault("event_time", "malformed", "nothing says which column has the time of an event", hint)
    names = {column.name: column for column in columns}
    column = names.get(option.value) or names.get(option.value.lower())
    if column is None:
        what = f"event_time names `{option.value[:60]}`, which is no column of the stream"
        raise given.fault("event_time", "unknown_column", what, suggestion(option.value, names, "column"))
    if column.type.kind is not Kind.TIMESTAMP:
        what = f"event_time names `{column.name}`, which is {column.type}, and an event's time is a TIMESTAMP"
        hint = f"Write 'event_time'='{shown}'." if times else f"Declare it so: {quoted(column.name)} TIMESTAMP."
        raise given.fault("event_time", "type_mismatch", what, hint)
    return column.name


def _span(given: GivenOptions, name: str, least: int = 1) -> int:
    option = given.get(name)
    if option is None:
        what = f"nothing says by how much a row may come later than others: option `{name}` is missing"
        hint = f"Write '{name}'='10 s', or '0 s' where the times in each partition never go back. {_TIMES}"
        raise given.fault(name, "malformed", what, hint)
    span = read_span(option.value)
    if span is None or span < least:
        what = f"{name} is a span of time{' of more than 0' * (least > 0)}, got {option.value[:60]!r}"
        raise given.fault(name, "malformed", what, f"{_TIMES} The longest has 36500 days.")
    return span
