"""Reads the options of a CREATE TABLE: WITH ('topic'='stock', 'format'='json', 'absent'='null').

topic     the Kafka topic that feeds the table; by default the table's name
format    how its records are written; `json` by default (a row as a JSON object, a tombstone deletes)
absent    what a member that a row lacks means: `null` (default), `error` (a dead letter), `keep` (the stored value)
null.range   what NULL in a range column means: `nothing` (default), as in SQL, or `everything`, no constraint
audience  who is told of the rows (`catalog/ddl/audience_option.py`); everybody by default
buckets, bucket.by   into how many shards the table is parted, and by what (`catalog/ddl/bucket_options.py`)

and those of the format (`catalog/schema/format_options.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from catalog.ddl.audience_option import read_audience
from catalog.ddl.bucket_options import read_bucket_by, read_buckets
from catalog.ddl.given_options import FeedOptions, GivenOptions
from catalog.schema.format_options import FORMATS
from catalog.schema.relation import Audience, Column
from catalog.sql.statement_text import StatementText

ABSENT = ("null", "error", "keep")
NULL_RANGE = ("nothing", "everything")
OPTIONS = ("topic", "format", "absent", "buckets", "bucket.by", "null.range", "audience")


@dataclass(frozen=True, slots=True)
class TableOptions(FeedOptions):
    """The options of one table, defaults filled in."""

    buckets: int
    bucket_by: tuple[str, ...]
    null_range: str
    audience: Audience


def read_options(
    statement: exp.Create,
    table: str,
    columns: Sequence[Column],
    key: tuple[str, ...],
    source: StatementText,
    place: exp.Expr,
) -> TableOptions:
    """Return the options of `statement`: it declares `table`, its `columns` and primary key. Raises CatalogError."""
    given = GivenOptions.of(statement, source, OPTIONS, place)
    topic, topic_span = given.topic(table)
    format = given.one_of("format", FORMATS)
    buckets, bucket_by = _buckets(given, format, key)
    audience = read_audience(given, table, columns)
    return TableOptions(
        topic=topic,
        format=format,
        absent=given.one_of("absent", ABSENT),
        others=given.of_format(format, columns),
        topic_span=topic_span,
        buckets=buckets,
        bucket_by=bucket_by,
        null_range=_null_range(given, table, any(c.type.is_range for c in columns) or bool(audience)),
        audience=audience,
    )


def _null_range(given: GivenOptions, table: str, concerned: bool) -> str:
    option = given.get("null.range")
    if option is not None and not concerned:
        what = f"option `null.range` is about range columns and an audience, and `{table}` has none"
        raise given.source.refusal("unsupported", what, option.name_span, "Leave it out.")
    return given.one_of("null.range", NULL_RANGE)


def _buckets(given: GivenOptions, format: str, key: tuple[str, ...]) -> tuple[int, tuple[str, ...]]:
    buckets, by, source = given.get("buckets"), given.get("bucket.by"), given.source
    if buckets is None and by is None:
        return 1, ()
    if buckets is None or by is None:
        there, lacks = ("bucket.by", "buckets") if buckets is None else ("buckets", "bucket.by")
        what = f"option `{there}` is given without `{lacks}`"
        raise source.refusal(
            "malformed", what, given.options[there].name_span, "Say both: 'buckets'='8', 'bucket.by'='...'."
        )
    if format != "json":
        what = f"a table of format `{format}` has no buckets: a truncate or a change of key concerns several"
        raise source.refusal("unsupported", what, buckets.name_span, "Leave `buckets` and `bucket.by` out.")
    number = read_buckets(buckets.value, buckets.value_span, source)
    return number, read_bucket_by(by.value, key, by.value_span, source)
