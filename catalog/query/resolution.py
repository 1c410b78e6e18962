"""What names in a statement stand for in a catalog, and what is said where they stand for nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from catalog.query.statement_names import Name, Star
from catalog.query.unsupported import SUPPORTED
from catalog.schema.catalog import Catalog
from catalog.schema.relation import Column, Relation, bound_of
from catalog.schema.stream import Stream
from catalog.sql.errors import SqlError, suggestion
from catalog.sql.names import quoted
from catalog.sql.statement_text import StatementText


class Scope(Protocol):
    """What the names of columns in a statement stand for: columns of `relation`."""

    @property
    def relation(self) -> Relation:
        """The relation whose rows are asked for."""

    def column(self, name: Name) -> Column:
        """Return the column of this name. Raises the text's error, `unknown_column`."""

    def columns(self, star: Star) -> Sequence[Column]:
        """Return what a star stands for."""


@dataclass(frozen=True, slots=True)
class TableScope:
    """The names of a statement over one table."""

    relation: Relation
    text: StatementText

    def column(self, name: Name) -> Column:
        """Return the column of this name. Raises the text's error, `unknown_column`."""
        return column_of(self.relation, name, self.text)

    def columns(self, star: Star) -> Sequence[Column]:
        """Return all columns."""
        return self.relation.declared


def relation_of(catalog: Catalog, name: Name, text: StatementText) -> Relation:
    """Return the table or view of this name. Raises the text's error: `unknown_table`, `unsupported` for a stream."""
    relation = catalog.named(name.text)
    if relation is None:
        hint = suggestion(name.text, catalog.names, "table")
        raise text.refusal("unknown_table", f"there is no table `{name.text}`", name.span, hint)
    if relation.stream is not None:
        raise _of_stream(catalog, relation, relation.stream, name, text)
    return relation


def _of_stream(catalog: Catalog, relation: Relation, stream: Stream, name: Name, text: StatementText) -> SqlError:
    views = [view.name for view in catalog.views.values() if view.tables == (relation.name,)]
    group = f"GROUP BY DATE_TRUNC('hour', {quoted(stream.event_time)})"
    hint = f"Declare a view: CREATE VIEW v AS SELECT ... FROM {quoted(relation.name)} {group}, and ask that."
    if views:
        hint = f"Ask a view of it: {', '.join(f'`{view}`' for view in views)}. Or declare another."
    what = f"a question about stream `{relation.name}`, whose rows nobody stores, is not supported"
    return text.refusal("unsupported", what, name.span, hint)


def column_of(relation: Relation, name: Name, text: StatementText) -> Column:
    """Return the column of this name. Raises the text's error, `unknown_column`."""
    try:
        column = relation.column(name.text)
        if not column.is_end:
            return column
    except KeyError:
        pass
    if bound := bound_of(name.text):
        raise refuse_bound(relation, *bound, name, text)
    hint = suggestion(name.text, [c.name for c in relation.declared], "column")
    what = f"{_kind(relation)} `{relation.name}` has no column `{name.text}`"
    raise text.refusal("unknown_column", what, name.span, hint)


def _kind(relation: Relation) -> str:
    return relation.noun if relation.topic else "join" if relation.home else "view"


def refuse_bound(relation: Relation, function: str, of: str, name: Name, text: StatementText) -> SqlError:
    """Return the refusal of lower() or upper() of what is no range of `relation`."""
    column = next((column for column in relation.declared if column.name == of), None)
    if column is None:
        hint = suggestion(of, [c.name for c in relation.declared], "column")
        what = f"{_kind(relation)} `{relation.name}` has no column `{of}`"
        return text.refusal("unknown_column", what, name.span, hint)
    what = f"`{of}` is {column.type}, and {function.upper()}() of it is not supported"
    hint = f"It is the bound of a range; other columns stand as they are.\n{SUPPORTED}"
    return text.refusal("unsupported", what, name.span, hint)


def check_buckets(relation: Relation, table: Name, equal: set[str], text: StatementText) -> None:
    """Refuse what no single shard of `relation` can answer; `equal` are the columns that are compared by `=`."""
    free = [name for name in relation.bucket_by if name not in equal]
    if free:
        by = " and ".join(f"`{name}`" for name in relation.bucket_by)
        what = f"`{relation.name}` is kept in {relation.buckets} buckets by {by}, and a question must say by = which"
        missing = " AND ".join(f"{quoted(name)} = ..." for name in free)
        hint = f"Add {missing} to the WHERE; for questions about every row declare a table without 'buckets'."
        raise text.refusal("unsupported", what, table.span, hint)
