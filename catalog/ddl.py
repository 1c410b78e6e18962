"""The catalog's language: a text of CREATE TABLE and DROP TABLE statements turns one catalog into the next.

The catalog at version v is the fold of `apply_ddl` over the records 0 to v of the catalog topic. A text is applied
whole or not at all. What a CREATE TABLE does to a table that exists:

    identical definition                         nothing; `born` stays
    the same, and nullable columns appended      the table grows; `born` stays, old rows hold NULL there
    anything else                                refused, with what differs and what to do
    CREATE TABLE IF NOT EXISTS                   nothing, as in SQL

A table that was dropped and created again is another one: `born` is the version that created it.
"""

from __future__ import annotations

from types import MappingProxyType

from sqlglot import exp

from catalog.declaration import Declaration, read_table, read_table_name
from catalog.errors import CatalogError, suggestion
from catalog.evolution import evolve
from catalog.names import quoted
from catalog.relation import Catalog, Column, Relation
from catalog.schema_columns import unreadable
from catalog.statement_text import StatementText

_SUPPORTED = "Supported: CREATE TABLE [IF NOT EXISTS] and DROP TABLE [IF EXISTS], separated by `;`."


def apply_ddl(catalog: Catalog, text: str, version: int, recorded: bool = False) -> Catalog:
    """Return `catalog` after the statements of `text`, as version `version`. Pure and deterministic.

    `recorded`: the text stands in the catalog's topic. A table of which no record can ever be a row is then taken, as
    earlier versions took it, for else the other tables of its text were lost; nobody can declare it any more.

    Raises CatalogError, which underlines the place; then nothing of the text is applied. Codes: `syntax`,
    `unsupported`, `unsupported_type`, `unknown_table`, `unknown_column`, `conflict`, `malformed`.
    """
    if version <= catalog.version:
        raise ValueError(f"version {version} does not come after {catalog.version}")
    source = StatementText(text, CatalogError)
    if not source.statements:
        raise source.refusal("syntax", "the text holds no statement", hint=_SUPPORTED)
    relations = dict(catalog.relations)
    for statement in source.statements:
        if isinstance(statement, exp.Create) and statement.kind == "TABLE":
            declared = _create(relations, statement, source, version)
            if declared is not None and not recorded:
                _check_readable(declared, source)
        elif isinstance(statement, exp.Drop) and statement.kind == "TABLE":
            _drop(relations, statement, source)
        else:
            place = source.first_token(statement)
            raise source.refusal("unsupported", "this statement is not part of a catalog", place, _SUPPORTED)
    return Catalog(version, MappingProxyType(relations))


def to_ddl(relation: Relation) -> str:
    """Return the canonical CREATE TABLE of `relation`: `apply_ddl` of it declares the same table."""
    lines = [_column_ddl(c, c.name in relation.key) for c in relation.columns]
    lines.append(f"PRIMARY KEY ({', '.join(quoted(name) for name in relation.key)})")
    options = {"topic": relation.topic, "format": relation.format, "absent": relation.absent}
    options |= {name: value.replace("'", "''") for name, value in relation.options}
    if relation.bucket_by:
        by = ", ".join(quoted(name) for name in relation.bucket_by).replace("'", "''")
        options |= {"buckets": str(relation.buckets), "bucket.by": by}
    shown = ", ".join(f"'{name}'='{value}'" for name, value in options.items())
    body = ",\n  ".join(lines)
    return f"CREATE TABLE {quoted(relation.name)} (\n  {body}\n) WITH ({shown})"


def _column_ddl(column: Column, in_key: bool) -> str:
    not_null = "" if column.nullable or in_key else " NOT NULL"
    return f"{quoted(column.name)} {column.type}{not_null}"


def _create(
    relations: dict[str, Relation], statement: exp.Create, source: StatementText, version: int
) -> Declaration | None:
    """Add what a CREATE TABLE declares, and return it; None where the table is there and left as it is."""
    declaration = read_table(statement, source, version)
    new = declaration.relation
    old = relations.get(new.name)
    if old is not None and statement.args.get("exists"):
        return None
    for other in relations.values():
        if other.topic == new.topic and other.name != new.name:
            what = f"topic `{new.topic}` already feeds table `{other.name}`"
            hint = f"One topic feeds one table: give `{new.name}` another 'topic', or DROP TABLE {quoted(other.name)}."
            raise source.refusal("conflict", what, declaration.topic_span, hint)
    relations[new.name] = new if old is None else evolve(old, declaration, source)
    return declaration


def _check_readable(declaration: Declaration, source: StatementText) -> None:
    fault = unreadable(declaration.relation)
    if fault is not None:
        place = declaration.name_span if fault.column is None else declaration.column_spans[fault.column]
        code = "malformed" if fault.column is None else "unknown_column"
        raise source.refusal(code, fault.what, place, fault.hint)


def _drop(relations: dict[str, Relation], statement: exp.Drop, source: StatementText) -> None:
    for name, value in statement.args.items():
        if value and name not in ("exists", "tables", "this", "kind"):
            word = name.upper()
            place = source.keyword((word,)) or statement
            raise source.refusal("unsupported", f"DROP TABLE ... {word} is not supported", place, _SUPPORTED)
    for table in statement.args.get("tables") or [statement.this]:
        name = read_table_name(table, source)
        if name in relations:
            del relations[name]
        elif not statement.args.get("exists"):
            hint = suggestion(name, relations, "table") + " DROP TABLE IF EXISTS drops nothing without complaint."
            raise source.refusal("unknown_table", f"there is no table `{name}`", table, hint)
