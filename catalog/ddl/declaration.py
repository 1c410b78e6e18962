"""Reads one CREATE TABLE or CREATE STREAM: its columns, the primary key of a table, its options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from catalog.ddl.stream_options import read_stream_options
from catalog.ddl.table_options import read_options
from catalog.schema.relation import Column, Relation, derived, with_ranges
from catalog.sql.errors import suggestion
from catalog.sql.names import folded
from catalog.sql.statement_text import Span, StatementText
from catalog.types.declared_type import read_type

_LONGEST_NAME = 255
_CONSTRAINTS = (
    "DEFAULT", "UNIQUE", "CHECK", "REFERENCES", "GENERATED", "COLLATE", "COMMENT", "CONSTRAINT", "AUTO_INCREMENT",
    "FOREIGN KEY", "INDEX", "KEY", "DESC", "ASC",
)  # fmt: skip
_KEY_HINT = "Write PRIMARY KEY after a column, or PRIMARY KEY (a, b) as a last line; upserts and deletes go by it."


@dataclass(frozen=True, slots=True)
class Declaration:
    """A table or stream as one statement declares it, and where its parts stand in the text."""

    relation: Relation
    name_span: Span | None
    topic_span: Span | None
    column_spans: dict[str, Span | None]


def read_table_name(table: exp.Expr, source: StatementText) -> str:
    """Return the name of a table without schema. Raises CatalogError."""
    if table.args.get("db") is not None or not isinstance(table.this, exp.Identifier):
        what = "a table has a name of one part here"
        raise source.refusal("unsupported", what, table, "Leave out the schema, or quote the whole name.")
    return _checked(table.this, source)


def read_table(statement: exp.Create, source: StatementText, version: int) -> Declaration:
    """Read a CREATE TABLE; `version` becomes `born`. Raises CatalogError."""
    _refuse_other_forms(statement, source)
    form = "CREATE TABLE name (column TYPE, ..., PRIMARY KEY (column))"
    schema, name, reader = _read_columns(statement, source, form)
    key, columns = reader.finish(name, schema.this)
    options = read_options(statement, name, columns, key, source, schema.this)
    relation = Relation(
        name,
        with_ranges(columns),
        key,
        options.topic,
        options.format,
        options.absent,
        version,
        options.others,
        options.buckets,
        options.bucket_by,
        null_range=options.null_range,
        audience=options.audience,
    )
    return _declaration(relation, reader, options.topic_span, source.span(schema.this))


def read_stream(statement: exp.Create, source: StatementText, version: int) -> Declaration:
    """Read a CREATE STREAM; `version` becomes `born`. Raises CatalogError."""
    _refuse_other_forms(statement, source)
    form = "CREATE STREAM name (column TYPE, ...) WITH ('event_time'='...', 'lateness'='10 s')"
    schema, name, reader = _read_columns(statement, source, form)
    columns = reader.without_key()
    options = read_stream_options(statement, name, columns, source, schema.this)
    timed = [replace(c, nullable=c.nullable and c.name != options.stream.event_time) for c in columns]
    relation = Relation(
        name,
        tuple(timed),
        (),
        options.topic,
        options.format,
        options.absent,
        version,
        options.others,
        stream=options.stream,
    )
    return _declaration(relation, reader, options.topic_span, source.span(schema.this))


def _read_columns(statement: exp.Create, source: StatementText, form: str) -> tuple[exp.Schema, str, _ColumnReader]:
    """Return what declares the columns, the name before it, and the reader that has read them."""
    schema = statement.this
    if not isinstance(schema, exp.Schema):
        what = f"the {statement.args['kind'].lower()} declares no columns"
        raise source.refusal("syntax", what, schema, f"Write {form}.")
    name = read_table_name(schema.this, source)
    reader = _ColumnReader(source)
    for item in schema.expressions:
        reader.read(item)
    return schema, name, reader


def _declaration(
    relation: Relation, reader: _ColumnReader, topic_span: Span | None, name_span: Span | None
) -> Declaration:
    return Declaration(relation, name_span, topic_span or name_span, reader.spans)


def _refuse_other_forms(statement: exp.Create, source: StatementText) -> None:
    kind: str = statement.args["kind"]
    for name, value in statement.args.items():
        if value and name not in ("this", "kind", "exists", "properties", "expression"):
            word = name.upper()
            place = source.keyword((word, "OR REPLACE")) or statement.this
            what = f"CREATE ... {word} {kind} is not supported"
            hint = f"Write CREATE {kind}; to begin anew, DROP {kind} before it."
            raise source.refusal("unsupported", what, place, hint)
    if statement.args.get("expression") is not None:
        what = f"CREATE {kind} AS is not supported"
        hint = f"Declare the columns; rows come from the {kind.lower()}'s topic."
        raise source.refusal("unsupported", what, source.keyword(("AS",)) or statement.this, hint)


def _checked(identifier: exp.Expr, source: StatementText) -> str:
    name = folded(identifier) if isinstance(identifier, exp.Identifier) else ""
    span = source.span(identifier)
    if not isinstance(identifier, exp.Identifier):
        token = None if span is None else source.token_after(span[0])
        written = token.text if token is not None else identifier.name or identifier.sql().partition("(")[0].lower()
        if written[:1].isalnum() or written[:1] == "_":
            hint = f"As a name, write it in double quotes: {_in_quotes(written)}."
            place = identifier if span else source.keyword((written.upper(),))
            raise source.refusal("malformed", f"`{written[:60]}` is no name as it is written", place, hint)
    if not name or len(name) > _LONGEST_NAME or not name.isprintable():
        what = f"a name has 1 to {_LONGEST_NAME} printable characters, got {name[:40]!r}"
        raise source.refusal("malformed", what, identifier, "Choose another name.")
    return name


def _in_quotes(name: str) -> str:
    return '"' + name[:60].replace('"', '""') + '"'


class _ColumnReader:
    """Reads the items between the parentheses, one by one."""

    def __init__(self, source: StatementText) -> None:
        self._source = source
        self._columns: list[Column] = []
        self._key: list[exp.Expr] | None = None
        self._key_place: exp.Expr | None = None
        self.spans: dict[str, Span | None] = {}

    def read(self, item: exp.Expr) -> None:
        if isinstance(item, exp.Constraint) and len(item.expressions) == 1:
            item = item.expressions[0]
        if isinstance(item, exp.PrimaryKey):
            self._set_key([_key_identifier(e) for e in item.expressions], item)
        elif isinstance(item, exp.ColumnDef):
            self._read_column(item)
        elif isinstance(item, exp.Identifier):
            what = f"column `{item.name}` has no type"
            raise self._source.refusal("syntax", what, item, f"Write it after the name: {item.name} BIGINT.")
        else:
            what = "this is neither a column nor a PRIMARY KEY"
            place = item if self._source.span(item) else self._source.keyword(_CONSTRAINTS)
            raise self._source.refusal("unsupported", what, place, "Leave it out.")

    def finish(self, table: str, place: exp.Expr) -> tuple[tuple[str, ...], tuple[Column, ...]]:
        """Return the key and the columns, those of the key never nullable."""
        if self._key is None:
            raise self._source.refusal("syntax", f"table `{table}` has no primary key", place, _KEY_HINT)
        names = [c.name for c in self._columns]
        key: list[str] = []
        for identifier in self._key:
            name = folded(identifier)
            if name not in names:
                what = f"the primary key names `{name}`, which is no column of `{table}`"
                raise self._source.refusal("unknown_column", what, identifier, suggestion(name, names, "column"))
            if name in key:
                what = f"the primary key names `{name}` twice"
                raise self._source.refusal("conflict", what, identifier, "Name it once.")
            key.append(name)
        columns = tuple(Column(c.name, c.type, c.nullable and c.name not in key) for c in self._columns)
        self._check_ranges(key)
        return tuple(sorted(key, key=names.index)), columns

    def without_key(self) -> Sequence[Column]:
        """Return the columns of a stream."""
        if self._key is not None:
            what = "a stream has no primary key: each of its rows is one more, and none is changed or deleted"
            hint = "Leave it out; or declare a table, whose rows are upserted and deleted by their key."
            raise self._source.refusal("unsupported", what, self._key_place, hint)
        for column in self._columns:
            if column.type.is_range:
                what = f"`{column.name}` is {column.type}, and a stream takes no ranges"
                hint = "Give it the two ends as columns; a table takes ranges."
                raise self._source.refusal("unsupported", what, self.spans[column.name], hint)
        return self._columns

    def _check_ranges(self, key: list[str]) -> None:
        """Refuse a range in the key, and a name that stands for what is kept of a range."""
        kept = {each.name: column.name for column in self._columns for each in derived(column)}
        for column in self._columns:
            if column.type.is_range and column.name in key:
                what = f"`{column.name}` is {column.type}, and no range can be in a primary key"
                raise self._source.refusal(
                    "unsupported", what, self.spans[column.name], "Take a value that names a row."
                )
            if column.name in kept:
                what = f"`{column.name}` is what a part of the range `{kept[column.name]}` is called"
                raise self._source.refusal("conflict", what, self.spans[column.name], "Choose another name.")

    def _set_key(self, key: list[exp.Expr], place: exp.Expr) -> None:
        if self._key is not None:
            what = "the table has a primary key already"
            hint = "For a key of several columns write PRIMARY KEY (a, b) as a last line."
            raise self._source.refusal("conflict", what, place, hint)
        self._key, self._key_place = key, place

    def _read_column(self, item: exp.ColumnDef) -> None:
        name = _checked(item.this, self._source)
        if name in self.spans:
            hint = "Give it another name; unquoted names are the same in upper and lower case."
            raise self._source.refusal("conflict", f"column `{name}` is declared twice", item.this, hint)
        self.spans[name] = self._source.span(item.this)
        type_ = read_type(item, name, self._source)
        nullable = True
        for constraint in item.constraints:
            match constraint.kind:
                case exp.NotNullColumnConstraint():
                    nullable = nullable and bool(constraint.kind.args.get("allow_null"))
                case exp.PrimaryKeyColumnConstraint() if not constraint.kind.args.get("desc"):
                    self._set_key([item.this], item.this)
                case _:
                    self._refuse_constraint(item, name)
        self._columns.append(Column(name, type_, nullable))

    def _refuse_constraint(self, item: exp.ColumnDef, name: str) -> None:
        span = self._source.span(item.this)
        place = self._source.keyword(_CONSTRAINTS, span[1] if span else 0) or item.this
        what = f"only NOT NULL and PRIMARY KEY can be said of a column; of `{name}` something else is said"
        raise self._source.refusal("unsupported", what, place, "Leave it out.")


def _key_identifier(node: exp.Expr) -> exp.Expr:
    inner = node.this if isinstance(node, exp.Ordered | exp.Column) else node
    return inner if isinstance(inner, exp.Identifier) else exp.to_identifier(node.name or "?", quoted=True)
