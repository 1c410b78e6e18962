"""Reads how a table is parted into shards: WITH ('buckets'='8', 'bucket.by'='exchange').

buckets     how many shards keep the table's rows, 2 to `MAX_BUCKETS`
bucket.by   columns of the primary key, names as in SQL with commas between: rows equal in them are kept together

Only what is part of the primary key can be told from a record's Kafka key, deletes included, and only of such a column
it is sure that a row never moves to another shard.
"""

from __future__ import annotations

import re

from catalog.sql.errors import suggestion
from catalog.sql.names import quoted
from catalog.sql.statement_text import Span, StatementText

MAX_BUCKETS = 1_024

_NAME = re.compile(r'\s*(?:"((?:[^"]|"")+)"|([^",\s]+))\s*(?:,|$)')


def read_buckets(value: str, span: Span | None, source: StatementText) -> int:
    """Return the number of buckets. Raises CatalogError."""
    if not re.fullmatch("[0-9]{1,9}", value, re.ASCII) or not 2 <= int(value) <= MAX_BUCKETS:
        what = f"buckets is a whole number from 2 to {MAX_BUCKETS}, got {value[:60]!r}"
        raise source.refusal("malformed", what, span, "Leave the option out for a table in one piece.")
    return int(value)


def read_bucket_by(value: str, key: tuple[str, ...], span: Span | None, source: StatementText) -> tuple[str, ...]:
    """Return the columns that `value` lists, in the order of `key`, the primary key. Raises CatalogError."""
    names = _names(value)
    if not names or len(set(names)) < len(names):
        what = f"bucket.by lists columns of the primary key, each once, got {value[:60]!r}"
        raise source.refusal("malformed", what, span, f"Write 'bucket.by'='{', '.join(map(quoted, key))}'.")
    for name in names:
        if name not in key:
            what = f"bucket.by names `{name}`, which is no column of the primary key"
            hint = "A record must tell its bucket by its Kafka key alone. " + suggestion(name, key, "key column")
            raise source.refusal("conflict", what, span, hint)
    return tuple(name for name in key if name in names)


def _names(value: str) -> list[str]:
    """Return the names that `value` lists; none of them if it is no list of names.

    >>> _names('Exchange, "Trading Day"'), _names("a,,b")
    (['exchange', 'Trading Day'], [])
    """
    names, at = [], 0
    while at < len(value):
        found = _NAME.match(value, at)
        if found is None:
            return []
        names.append(found[2].lower() if found[1] is None else found[1].replace('""', '"'))
        at = found.end()
    return [] if value.rstrip().endswith(",") else names
