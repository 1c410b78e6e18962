"""What a second CREATE TABLE or CREATE STREAM may change of one that exists: nothing, or append nullable columns."""

from __future__ import annotations

import dataclasses

from catalog.ddl.declaration import Declaration
from catalog.schema.format_options import REGISTRY, reading
from catalog.schema.relation import Relation, audience_text
from catalog.sql.errors import SqlError
from catalog.sql.names import quoted
from catalog.sql.statement_text import Span, StatementText
from catalog.types.range_value import EVERYTHING
from catalog.types.time_span import span_text


def evolve(old: Relation, declaration: Declaration, source: StatementText) -> Relation:
    """Return the table as it is after the declaration; `born` stays. Raises CatalogError with code `conflict`."""
    new = declaration.relation
    kept = new.declared[: len(old.declared)]
    for i, column in enumerate(old.declared):
        if i >= len(kept) or kept[i].name != column.name:
            raise _missing(old, declaration, i, source)
        span = declaration.column_spans[column.name]
        if kept[i].type != column.type:
            what = f"column `{column.name}` is {column.type} and cannot become {kept[i].type}"
            raise _refused(old, what, span, source)
    _check_properties(old, declaration, source)
    for before, after in zip(old.declared, kept, strict=True):
        if before.nullable != after.nullable:
            what = f"column `{before.name}` {_null(before.nullable)} and cannot change that"
            raise _refused(old, what, declaration.column_spans[before.name], source)
    for column in new.declared[len(old.declared) :]:
        if not column.nullable:
            what = f"column `{column.name}` is appended as NOT NULL, but the rows that exist have no value for it"
            raise _refused(old, what, declaration.column_spans[column.name], source, "Leave out NOT NULL.")
        if column.type.is_range and new.null_range == "everything":
            what = f"range `{column.name}` is appended where a row without one is meant to have {EVERYTHING}"
            hint = "Rows that exist have none: append it to a table without 'null.range'='everything'."
            raise _refused(old, what, declaration.column_spans[column.name], source, hint)
    return dataclasses.replace(new, born=old.born)


def _check_properties(old: Relation, declaration: Declaration, source: StatementText) -> None:
    new = declaration.relation
    properties = [
        ("primary key", f"({', '.join(old.key)})", f"({', '.join(new.key)})"),
        ("topic", old.topic, new.topic),
        ("format", old.format, new.format),
        ("option absent", old.absent, new.absent),
        ("option null.range", *_null_ranges(old, new)),
        ("option audience", _said(audience_text(old.audience) or None), _said(audience_text(new.audience) or None)),
        ("number of buckets", str(old.buckets), str(new.buckets)),
        ("option bucket.by", f"({', '.join(old.bucket_by)})", f"({', '.join(new.bucket_by)})"),
    ]
    properties += _of_streams(old, new)
    was, becomes = reading(old, old.declared), reading(new, old.declared)
    properties += [(name, was.get(name, "not given"), becomes.get(name, "not given")) for name in was | becomes]
    properties = [one for one in properties if not _more_schemas(*one)]
    for name, before, after in properties:
        if before != after:
            what = f"the {name} of `{old.name}` is {before} and cannot become {after}"
            span = declaration.topic_span if name == "topic" else declaration.name_span
            raise _refused(old, what, span, source)


def _of_streams(old: Relation, new: Relation) -> list[tuple[str, str, str]]:
    """Return what the options of a stream are and become."""
    if old.stream is None or new.stream is None:
        return []
    names = [field.name for field in dataclasses.fields(old.stream)]
    return [(f"option {name}", _said(getattr(old.stream, name)), _said(getattr(new.stream, name))) for name in names]


def _said(value: str | int | None) -> str:
    return "not given" if value is None else span_text(value) if isinstance(value, int) else value


def _null_ranges(old: Relation, new: Relation) -> tuple[str, str]:
    """Return what NULL means to the ranges and the audience that there were: without such it may be said anew."""
    return (old.null_range if old.has_ranges or old.audience else new.null_range), new.null_range


def _more_schemas(name: str, before: str, after: str) -> bool:
    """Whether framed records may now be of further schemas; those that were listed stay."""
    return before == "not given" and (name.startswith("option schema.") or (name, after) == ("option schema", REGISTRY))


def _missing(old: Relation, declaration: Declaration, i: int, source: StatementText) -> SqlError:
    name, new = old.declared[i].name, declaration.relation
    if name not in declaration.column_spans:
        return _refused(
            old, f"{old.noun} `{old.name}` has a column `{name}`, which is left out", declaration.name_span, source
        )
    first = new.declared[i].name
    what = f"column `{first}` stands before `{name}`; columns keep their order, and new ones come last"
    return _refused(old, what, declaration.column_spans[first], source, "Write the new columns at the end.")


def _null(nullable: bool) -> str:
    return "may be NULL" if nullable else "is NOT NULL"


def _refused(
    old: Relation, what: str, span: Span | None, source: StatementText, instead: str | None = None
) -> SqlError:
    hint, kind = instead or f"A {old.noun} can only grow, by nullable columns at its end.", old.noun.upper()
    anew = "with an empty table" if old.stream is None else "with rows from now on"
    hint += f" To begin anew {anew}, write DROP {kind} {quoted(old.name)} before the CREATE {kind}."
    return source.refusal("conflict", what, span, hint)
