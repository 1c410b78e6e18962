"""Reads the options of a CREATE TABLE: WITH ('topic'='stock', 'format'='json', 'absent'='null').

topic     the Kafka topic that feeds the table; by default the table's name
format    how its records are written; `json` by default (a row as a JSON object, a tombstone deletes)
absent    what a member that a row lacks means: `null` (default), `error` (a dead letter), `keep` (the stored value)
null.range   what NULL in a range column means: `nothing` (default), as in SQL, or `everything`, no constraint
buckets, bucket.by   into how many shards the table is parted, and by what (`catalog/schema/bucket_options.py`)

and those of the format (`catalog/schema/format_options.py`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.tokenizer_core import Token

from catalog.schema.bucket_options import read_bucket_by, read_buckets
from catalog.schema.format_options import FORMATS, OptionFault, known_options, read_format_options
from catalog.schema.relation import Column
from catalog.sql.errors import near
from catalog.sql.repair import near_word
from catalog.sql.statement_text import Span, StatementText

ABSENT = ("null", "error", "keep")
NULL_RANGE = ("nothing", "everything")
OPTIONS = ("topic", "format", "absent", "buckets", "bucket.by", "null.range")

_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")


@dataclass(frozen=True, slots=True)
class TableOptions:
    """The options of one table, defaults filled in. `topic_span` is None if the topic was not named.

    `others` are those of its format, as (name, value).
    """

    topic: str
    format: str
    absent: str
    others: tuple[tuple[str, str], ...]
    topic_span: Span | None
    buckets: int
    bucket_by: tuple[str, ...]
    null_range: str


@dataclass(frozen=True, slots=True)
class _Option:
    name: str
    value: str
    name_span: Span | None
    value_span: Span | None


def read_options(
    statement: exp.Create,
    table: str,
    columns: Sequence[Column],
    key: tuple[str, ...],
    source: StatementText,
    place: exp.Expr,
) -> TableOptions:
    """Return the options of `statement`: it declares `table`, its `columns` and primary key. Raises CatalogError."""
    given = _given(statement, source)
    topic = given.get("topic")
    name = table if topic is None else topic.value
    if not _TOPIC.fullmatch(name) or name in (".", ".."):
        what = f"{name[:60]!r} is no name of a Kafka topic (1 to 249 of A-Z a-z 0-9 . _ -)"
        hint = "Name one: WITH ('topic'='...')."
        raise source.refusal("malformed", what, place if topic is None else topic.value_span, hint)
    format = _one_of(given.get("format"), FORMATS, source)
    buckets, bucket_by = _buckets(given, format, key, source)
    return TableOptions(
        topic=name,
        format=format,
        absent=_one_of(given.get("absent"), ABSENT, source),
        others=_others(format, given, columns, source, place),
        topic_span=None if topic is None else topic.value_span,
        buckets=buckets,
        bucket_by=bucket_by,
        null_range=_null_range(given.get("null.range"), table, columns, source),
    )


def _null_range(option: _Option | None, table: str, columns: Sequence[Column], source: StatementText) -> str:
    if option is not None and not any(column.type.is_range for column in columns):
        what = f"option `null.range` is about range columns, and `{table}` has none"
        raise source.refusal("unsupported", what, option.name_span, "Leave it out.")
    return _one_of(option, NULL_RANGE, source)


def _others(
    format: str, given: dict[str, _Option], columns: Sequence[Column], source: StatementText, place: exp.Expr
) -> tuple[tuple[str, str], ...]:
    """Return the options that are the format's own."""
    values = {name: option.value for name, option in given.items() if name not in OPTIONS}
    try:
        return read_format_options(format, values, columns)
    except OptionFault as fault:
        if fault.option is None:
            raise source.refusal(fault.code, fault.what, place, fault.hint) from None
        option = given[fault.option]
        at, hint = (option.value_span, fault.hint) if fault.hint else (option.name_span, _near(option.name, format))
        raise source.refusal(fault.code, fault.what, at, hint) from None


def _near(name: str, format: str) -> str:
    """Return what an unknown option may have meant."""
    known = (*OPTIONS, *known_options(format))
    meant = near(name, known)
    return (f"Did you mean `{meant[0]}`? " if meant else "") + f"Known options: {', '.join(known)}."


def _buckets(
    given: dict[str, _Option], format: str, key: tuple[str, ...], source: StatementText
) -> tuple[int, tuple[str, ...]]:
    buckets, by = given.get("buckets"), given.get("bucket.by")
    if buckets is None and by is None:
        return 1, ()
    if buckets is None or by is None:
        there, lacks = ("bucket.by", "buckets") if buckets is None else ("buckets", "bucket.by")
        what = f"option `{there}` is given without `{lacks}`"
        raise source.refusal("malformed", what, given[there].name_span, "Say both: 'buckets'='8', 'bucket.by'='...'.")
    if format != "json":
        what = f"a table of format `{format}` has no buckets: a truncate or a change of key concerns several"
        raise source.refusal("unsupported", what, buckets.name_span, "Leave `buckets` and `bucket.by` out.")
    number = read_buckets(buckets.value, buckets.value_span, source)
    return number, read_bucket_by(by.value, key, by.value_span, source)


def _given(statement: exp.Create, source: StatementText) -> dict[str, _Option]:
    properties = statement.args.get("properties")
    given: dict[str, _Option] = {}
    for item in properties.expressions if properties is not None else []:
        option = _option(item, statement, source)
        if option.name in given:
            what = f"option `{option.name}` is given twice"
            raise source.refusal("conflict", what, option.name_span, "Give it once.")
        given[option.name] = option
    return given


def _option(item: exp.Expr, statement: exp.Create, source: StatementText) -> _Option:
    """Return the option of one property. sqlglot has a class of its own for an unquoted `format`."""
    if isinstance(item, exp.FileFormatProperty):
        name, value = "format", item.this
    elif isinstance(item, exp.Property) and type(item) is exp.Property:
        name, value = item.name.lower(), item.args.get("value")
    else:
        place = _stray(statement, source) or item
        hint = f"Leave it out. Known options: WITH ({', '.join(repr(o) + '=...' for o in OPTIONS)})."
        raise source.refusal("unsupported", "a table takes nothing but options in WITH (...)", place, hint)
    if not (isinstance(value, exp.Literal) and value.is_string):
        what = f"the value of option `{name}` is no string"
        known = isinstance(value, exp.Expr) and source.span(value) is not None
        at = value if known else _value_of(name, source) or _stray(statement, source)
        raise source.refusal("syntax", what, at, f"Write it in single quotes: '{name}'='...'.")
    span = source.span(value)
    return _Option(name, value.name, _before(source, span) or span, span)


def _stray(statement: exp.Create, source: StatementText) -> Token | None:
    """Return the first word of a CREATE TABLE that belongs neither to the columns nor to WITH (...)."""
    tokens = [t for t in source.tokens if t.start >= source.first_token(statement).start]
    depth, closed = 0, False
    for at, token in enumerate(tokens):
        word = token.text.upper()
        if at == 1 and word != "TABLE":
            return token
        depth += {"(": 1, ")": -1}.get(word, 0)
        if closed and depth == 0 and word not in ("WITH", ")", ";"):
            return token
        closed = closed or (word == ")" and depth == 0)
    return None


def _value_of(name: str, source: StatementText) -> Token | None:
    """Return where the value of an option stands, where the tree does not say it."""
    tokens = source.tokens
    places = [at for at in range(len(tokens) - 2) if tokens[at].text.lower() == name and tokens[at + 1].text == "="]
    return tokens[places[0] + 2] if places else source.keyword(("WITH",))


def _before(source: StatementText, span: Span | None) -> Span | None:
    """Return where the name before `= value` stands."""
    before = [t for t in source.tokens if span is not None and t.end < span[0]][-2:]
    return (before[0].start, before[0].end + 1) if len(before) == 2 else None


def _one_of(option: _Option | None, known: tuple[str, ...], source: StatementText) -> str:
    """Return the option's value; the first known one if it is not given."""
    if option is None:
        return known[0]
    value = option.value.lower()
    if value not in known:
        what = f"{option.name} {option.value[:60]!r} is not known"
        meant = near_word(value, known)
        hint = (f"Did you mean {meant}? " if meant else "") + f"Known: {', '.join(known)}."
        raise source.refusal("unsupported", what, option.value_span, hint)
    return value
