"""The catalog's language: a text of statements about tables, streams, joins and views turns one catalog into the next.

The catalog at version v is the fold of `apply_ddl` over the records 0 to v of the catalog topic. A text is applied
whole or not at all. What a CREATE TABLE does to a table that exists:

    identical definition                         nothing; `born` stays
    the same, and nullable columns appended      the table grows; `born` stays, old rows hold NULL there
    anything else                                refused, with what differs and what to do
    CREATE TABLE IF NOT EXISTS                   nothing, as in SQL

A table that was dropped and created again is another one: `born` is the version that created it. CREATE STREAM and DROP
STREAM do the same of streams. What CREATE JOIN and its like do is in `cell_ddl.py`, CREATE VIEW and DROP VIEW in
`view_ddl.py`.

A table on a topic of tidewire's own or of Kafka's is refused. Earlier versions took it, and a record of the catalog
topic must go on meaning what it meant: in `fold_ddl` such a table is set aside, and all else of the text holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sqlglot import exp

from catalog.ddl.catalog_text import parts_of
from catalog.ddl.cell_ddl import Cells, CellStatement, create_join, is_kept_name, refuse_streams
from catalog.ddl.ddl_mistakes import SUPPORTED, explained_ddl
from catalog.ddl.declaration import Declaration, read_stream, read_table, read_table_name
from catalog.ddl.evolution import evolve
from catalog.ddl.schema_columns import unreadable
from catalog.ddl.stream_statement import STREAM
from catalog.ddl.view_ddl import Views, is_view
from catalog.ddl.view_topic import written_to
from catalog.schema.catalog import Catalog
from catalog.schema.cell import Cell
from catalog.schema.internal_topics import owner_of
from catalog.schema.relation import Column, Relation, audience_text
from catalog.schema.stream import HOUR, Stream
from catalog.schema.view import View, create_view
from catalog.sql.errors import CatalogError, suggestion
from catalog.sql.names import quoted
from catalog.sql.own_stack import on_own_stack
from catalog.sql.statement_text import Span, StatementText
from catalog.types.time_span import span_text
from catalog.view.refusals import Refusals

_FED = ("TABLE", STREAM)
"""What topics feed."""


def apply_ddl(catalog: Catalog, text: str, version: int) -> Catalog:
    """Return `catalog` after the statements of `text`, as version `version`. Pure and deterministic.

    Raises CatalogError, which underlines the place; then nothing of the text is applied. Codes: `syntax`,
    `unsupported`, `unsupported_type`, `unknown_table`, `unknown_column`, `conflict`, `malformed`.
    """
    return _applied(catalog, text, version, new=True)


def fold_ddl(catalog: Catalog, text: str, version: int) -> Catalog:
    """Return `catalog` after a text of the catalog topic, which an earlier version may have taken.

    As `apply_ddl`, but a table of which no record can ever be a row stays, since the other tables of its text would be
    lost with it, and one on a topic that is not free is set aside. Nobody can declare either any more. A cell for which
    there is no room is one that the engine refuses.
    """
    return _applied(catalog, text, version, new=False)


def _applied(catalog: Catalog, text: str, version: int, new: bool) -> Catalog:
    if version <= catalog.version:
        raise ValueError(f"version {version} does not come after {catalog.version}")
    source = StatementText(text, CatalogError)
    try:
        return on_own_stack(lambda: _folded(catalog, source, version, new))
    except CatalogError as error:
        raise (explained_ddl(source, error) if new else error) from None
    except RecursionError:
        hint = "Declare it without brackets and options that are not needed."
        raise source.refusal("syntax", "the text is nested too deeply", hint=hint) from None


def _folded(catalog: Catalog, source: StatementText, version: int, new: bool) -> Catalog:
    statements = list(parts_of(source))
    if not statements:
        raise source.refusal("syntax", "the text holds no statement", hint=SUPPORTED)
    folding = _Folding(catalog, source, version, new)
    for statement in statements:
        folding.apply(statement)
    return folding.catalog()


class _Folding:
    """A catalog to which the statements of one text are applied, one after the other."""

    def __init__(self, catalog: Catalog, source: StatementText, version: int, new: bool) -> None:
        self._relations = {**catalog.relations, **catalog.aside}
        self._cells, self._views = Cells.of(catalog), Views.of(catalog)
        self._prefix, self._source = catalog.prefix, source
        self._version, self._new = version, new

    def apply(self, statement: exp.Expr | CellStatement) -> None:
        """Do what a statement says. Raises CatalogError."""
        if isinstance(statement, CellStatement):
            self._views.check_cell(statement, self._source)
            refuse_streams(statement, self._readable(), self._source)
            self._serve(statement)
        elif isinstance(statement, exp.Create) and statement.kind in _FED:
            self._create_fed(statement)
        elif isinstance(statement, exp.Drop) and statement.kind in _FED:
            for name in _drop(self._relations, self._views, statement, self._source):
                self._cells.forget(name)
        elif isinstance(statement, exp.Create) and is_view(statement):
            view = self._views.create(statement, self._readable(), self._source, self._version, self._prefix)
            if view is not None and view.cell:
                self._serve(_cell_of(view, self._source.span(statement.this)))
        elif isinstance(statement, exp.Drop) and is_view(statement):
            self._views.drop(statement, self._relations, self._source)
        else:
            place = self._source.first_token(statement)
            raise self._source.refusal("unsupported", "this statement is not part of a catalog", place, SUPPORTED)

    def catalog(self) -> Catalog:
        """Return the catalog as it is now."""
        free, aside = map(MappingProxyType, _parted(self._relations, self._prefix))
        cells, unserved = MappingProxyType(self._cells.made), MappingProxyType(self._cells.refused)
        return Catalog(self._version, free, self._prefix, aside, cells, unserved, MappingProxyType(self._views.made))

    def _readable(self) -> dict[str, Relation]:
        return _parted(self._relations, self._prefix)[0]

    def _serve(self, statement: CellStatement) -> None:
        self._cells.apply(statement, self._readable(), self._source, self._version, self._new)

    def _create_fed(self, statement: exp.Create) -> None:
        """Enter a table or stream."""
        read = read_stream if statement.kind == STREAM else read_table
        declaration = read(statement, self._source, self._version)
        name = declaration.relation.name
        if self._new:
            _refuse_internal_topic(declaration, self._source, self._prefix)
            _refuse_kept_name(declaration, self._relations, self._source)
        _refuse_name_of_view(declaration, self._views.made, self._source)
        before = self._relations.get(name)
        spare = bool(statement.args.get("exists"))
        entered = _create(self._relations, declaration, spare, self._views.made, self._source)
        if entered and self._new:
            _check_readable(declaration, self._source)
        if before is not None and before != self._relations[name]:
            self._views.grown(self._relations[name], self._readable(), self._version)


def _parted(relations: Mapping[str, Relation], prefix: str) -> tuple[dict[str, Relation], dict[str, Relation]]:
    """Part tables that can be read from those that stand on a topic which is not free."""
    aside = {name: r for name, r in relations.items() if owner_of(r.topic, prefix) is not None}
    return {name: relation for name, relation in relations.items() if name not in aside}, aside


def to_ddl(declared: Relation | Cell | View) -> str:
    """Return the canonical statement for what is declared: `apply_ddl` of it declares the same."""
    if isinstance(declared, View):
        return create_view(declared)
    return create_join(declared.tables) if isinstance(declared, Cell) else _fed_ddl(declared)


def _fed_ddl(relation: Relation) -> str:
    lines = [_column_ddl(c, c.name in relation.key) for c in relation.declared]
    if relation.stream is None:
        lines.append(f"PRIMARY KEY ({', '.join(quoted(name) for name in relation.key)})")
    options = {"topic": relation.topic, "format": relation.format, "absent": relation.absent}
    if relation.null_range != "nothing":
        options["null.range"] = relation.null_range
    if relation.audience:
        options["audience"] = audience_text(relation.audience).replace("'", "''")
    options |= {name: value.replace("'", "''") for name, value in relation.options}
    if relation.bucket_by:
        by = ", ".join(quoted(name) for name in relation.bucket_by).replace("'", "''")
        options |= {"buckets": str(relation.buckets), "bucket.by": by}
    options |= {} if relation.stream is None else _stream_options(relation.stream)
    shown = ", ".join(f"'{name}'='{value}'" for name, value in options.items())
    body = ",\n  ".join(lines)
    return f"CREATE {relation.noun.upper()} {quoted(relation.name)} (\n  {body}\n) WITH ({shown})"


def _stream_options(stream: Stream) -> dict[str, str]:
    spans = {"lateness": stream.lateness, "ahead": stream.ahead, "idle": stream.idle, "keep": stream.keep}
    if stream.ahead == HOUR:
        del spans["ahead"]
    given = {name: span_text(span) for name, span in spans.items() if span is not None}
    return {"event_time": stream.event_time.replace("'", "''"), **given}


def _column_ddl(column: Column, in_key: bool) -> str:
    not_null = "" if column.nullable or in_key else " NOT NULL"
    return f"{quoted(column.name)} {column.type}{not_null}"


def _refuse_internal_topic(declaration: Declaration, source: StatementText, prefix: str) -> None:
    topic = declaration.relation.topic
    owner = owner_of(topic, prefix)
    if owner is not None:
        what = f"topic `{topic}` is {owner}'s own, and no {declaration.relation.noun} can be read from it"
        hint = "Name the topic that the rows are published to: WITH ('topic'='...')."
        raise source.refusal("conflict", what, declaration.topic_span, hint)


def _refuse_kept_name(declaration: Declaration, relations: Mapping[str, Relation], source: StatementText) -> None:
    name = declaration.relation.name
    if is_kept_name(name) and name not in relations:
        hint = "Choose another name; joins, stages of views and what serves them are called so."
        raise source.refusal("conflict", f"the name `{name[:60]}` is kept", declaration.name_span, hint)


def _refuse_name_of_view(declaration: Declaration, views: Mapping[str, View], source: StatementText) -> None:
    name = declaration.relation.name
    if name in views:
        hint = f"Choose another name, or DROP VIEW {quoted(name)} before it."
        raise source.refusal("conflict", f"there is a view `{name}`", declaration.name_span, hint)


def _cell_of(view: View, place: Span | None) -> CellStatement:
    """Return the statement that makes the cell in which a view is computed."""
    span = place or (0, 0)
    return CellStatement("CREATE", tuple([(table, span) for table in view.tables]), "", span)


def _create(
    relations: dict[str, Relation],
    declaration: Declaration,
    spare: bool,
    views: Mapping[str, View],
    source: StatementText,
) -> bool:
    """Enter a declaration; with `spare`, only where there is nothing of its name. Return whether it was entered."""
    new = declaration.relation
    old = relations.get(new.name)
    if old is not None and old.noun != new.noun:
        hint = f"Choose another name, or DROP {old.noun.upper()} {quoted(new.name)} before it."
        raise source.refusal("conflict", f"there is a {old.noun} `{new.name}`", declaration.name_span, hint)
    if old is not None and spare:
        return False
    for other in relations.values():
        if other.topic == new.topic and other.name != new.name:
            what = f"topic `{new.topic}` already feeds {other.noun} `{other.name}`"
            drop = f"DROP {other.noun.upper()} {quoted(other.name)}"
            hint = f"One topic feeds one {other.noun}: give `{new.name}` another 'topic', or {drop}."
            raise source.refusal("conflict", what, declaration.topic_span, hint)
    view = written_to(new.topic, views)
    if view is not None:
        what = f"view `{view}` is written to topic `{new.topic}`, and a table of it would read what this catalog makes"
        hint = f"Ask the view {quoted(view)} itself, or declare a view of it."
        raise source.refusal("conflict", what, declaration.topic_span, hint)
    relations[new.name] = new if old is None else evolve(old, declaration, source)
    return True


def _check_readable(declaration: Declaration, source: StatementText) -> None:
    fault = unreadable(declaration.relation)
    if fault is not None:
        place = declaration.name_span if fault.column is None else declaration.column_spans[fault.column]
        code = "malformed" if fault.column is None else "unknown_column"
        raise source.refusal(code, fault.what, place, fault.hint)


def _drop(relations: dict[str, Relation], views: Views, statement: exp.Drop, source: StatementText) -> list[str]:
    """Take out the tables of a DROP TABLE, or the streams of a DROP STREAM; return those that there were."""
    dropped: dict[str, exp.Expr] = {}
    kind = statement.args["kind"]
    noun = kind.lower()
    for name, value in statement.args.items():
        if value and name not in ("exists", "tables", "this", "kind"):
            word = name.upper()
            place = source.keyword((word,)) or statement
            raise source.refusal("unsupported", f"DROP {kind} ... {word} is not supported", place, SUPPORTED)
    for table in statement.args.get("tables") or [statement.this]:
        name = read_table_name(table, source)
        known = "view" if name in views.made else relations[name].noun if name in relations else ""
        if known == noun:
            dropped[name] = table
        elif known:
            hint = f"Write DROP {known.upper()} {quoted(name)}."
            raise source.refusal("unknown_table", f"`{name}` is a {known}", table, hint)
        elif not statement.args.get("exists"):
            near = suggestion(name, [each for each, relation in relations.items() if relation.noun == noun], noun)
            hint = f"{near} DROP {kind} IF EXISTS drops nothing without complaint."
            raise source.refusal("unknown_table", f"there is no {noun} `{name}`", table, hint)
    views.check_readers(dropped, Refusals(source, statement))
    for name in dropped:
        del relations[name]
    return list(dropped)
