"""The catalog topic, read without our parser: DuckDB parses `CREATE TABLE`; only the WITH clause is ours.

A CREATE STREAM is read as a table without a primary key; its options are in `input/stream_options.py`.

A record's text is split into statements at the semicolons outside quotes and comments; of each `CREATE TABLE`, the
`WITH (...)` after the columns is cut off and read as `'name' = 'value'` pairs, unquoted names are folded to lower case,
and the rest is run by DuckDB in a scratch database, whose own catalog then says columns, types, nullability and
primary key. What does not apply (to DuckDB, or by our rules) is skipped, the whole record of it.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import duckdb

from tidewire.verification.input.column import Column
from tidewire.verification.input.debezium_units import NoUnit, units_of
from tidewire.verification.input.declared_cells import NAME as _NAME
from tidewire.verification.input.declared_cells import (
    Cells,
    NoCell,
    apply_to_cells,
    create_cell,
    drop_cells_of,
    unquoted,
)
from tidewire.verification.input.declared_views import View, Views, apply_to_views, readers_of
from tidewire.verification.input.stream_options import SPANS, NoStream, Stream, stream_of
from tidewire.verification.input.view_source import NoView, Source
from tidewire.verification.records.attributes import Audience, Pairs
from tidewire.verification.records.journal import Record
from tidewire.verification.records.lexer import is_word, lexemes, quote_names
from tidewire.verification.records.ranges import NAMES, is_range
from tidewire.verification.schemas.listed_schemas import check_schemas
from tidewire.verification.schemas.schema_fault import NoSchema

_OPTION = re.compile(r"""\s*(?:'((?:[^']|'')*)'|"([^"]*)"|([\w.]+))\s*=\s*'((?:[^']|'')*)'\s*""")
_DROP = re.compile(rf"drop\s+(table|stream)\s+(if\s+exists\s+)?({_NAME}(?:\s*,\s*{_NAME})*)\s*$", re.IGNORECASE)
_CREATE = re.compile(r"create\s+(table|stream)\s+(if\s+not\s+exists\s+)?", re.IGNORECASE)
_MARK = re.compile(r"alter\s+view\s+requires\s+stream\s*$", re.IGNORECASE)
"""What stands before statements about streams for older versions, which must not go on without them."""
_TYPES = re.compile(
    r"BOOLEAN|SMALLINT|INTEGER|BIGINT|FLOAT|DOUBLE|DECIMAL\(\d+,\d+\)|DATE|TIMESTAMP|VARCHAR|"
    r"(?!NUM)[A-Z0-9]+RANGE|NUMRANGE\(\d+,\d+\)"
)
_PAIR = rf"\s*([A-Za-z_][A-Za-z0-9_]*)\s*:\s*({_NAME})\s*"
_AUDIENCE = re.compile(rf"{_PAIR}(?:,{_PAIR})*", re.ASCII)
_RANGE = re.compile(rf"(?:{NAMES})", re.IGNORECASE)
_DIGITS = re.compile(r"\s*\(\s*([0-9]{1,2})\s*(?:,\s*([0-9]{1,2})\s*)?\)")
_STANDS_FOR = re.compile(r"ENUM\('(.*)'\)")
_OPTIONS = {
    "topic": re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}"),
    "format": re.compile("json|debezium-json|avro|protobuf|csv", re.IGNORECASE),
    "absent": re.compile("null|error|keep", re.IGNORECASE),
    "buckets": re.compile("[0-9]{1,9}"),
    "null.range": re.compile("nothing|everything", re.IGNORECASE),
    "audience": _AUDIENCE,
    "bucket.by": re.compile(rf"\s*{_NAME}\s*(?:,\s*{_NAME}\s*)*"),
}
_INTERNAL = (
    "dead-letters|acks|batches|catalog|deliveries|edge-state|engines|notifications|registrations|silences|subscriptions"
)
_DELIMITER = re.compile(r'[^"\r\n]')
_LONGEST_NAME = 255
_LISTED = "schema."
REGISTRY = "registry"
_TAB = {r"\t": "\t"}
_MOST_BUCKETS = 1_024
_VERBATIM = re.compile(r"topic|audience|event_time|placeholder|delimiter|bucket\.by|message|schema|schema\.[0-9]{1,10}")
_WORDS = {"registry", "inline"}
"""What `schema` may say beside a schema itself."""
_CONSTRAINTS = {"PRIMARY KEY", "NOT NULL"}


class NotApplied(Exception):
    """A statement that does not apply to the catalog as it stands."""


@dataclass(frozen=True)
class Table:
    """A declared table, or `stream`. `born` is the offset of the record that created it: made again it is another."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    topic: str
    absent: str
    born: int
    format: str = "json"
    options: tuple[tuple[str, str], ...] = ()
    buckets: int = 1
    bucket_by: tuple[str, ...] = ()
    null_range: str = "nothing"
    stream: Stream | None = None
    pairs: Pairs = ()

    @property
    def audience(self) -> Audience:
        """For whom its rows are."""
        return Audience(self.pairs, self.null_range == "everything")

    def option(self, name: str) -> str | None:
        """Return an option of the format."""
        return dict(self.options).get(name)

    @cached_property
    def units(self) -> dict[str, str]:
        """How values are written that do not say it themselves, by column."""
        if self.format != "debezium-json":
            return {}
        return units_of(((c.name, c.type) for c in self.columns), dict(self.options))

    @cached_property
    def schemas(self) -> dict[int, str]:
        """The schemas of framed records, by the registry's number, as far as they are listed."""
        return {int(name.removeprefix(_LISTED)): text for name, text in self.options if name.startswith(_LISTED)}

    @cached_property
    def one_schema(self) -> str | None:
        """The schema of all records, where they are not framed."""
        return None if self.asks else self.option("schema")

    @cached_property
    def asks(self) -> bool:
        """Whether a registry has the schemas that are not listed."""
        return self.option("schema") == REGISTRY

    def extends(self, other: Table) -> bool:
        """Whether this is `other` with nullable columns appended, and nothing else changed."""
        width = len(other.columns)
        appended = all(column.nullable for column in self.columns[width:])
        same = self._reading(other) == other._reading(other)
        same = same and (self.buckets, self.bucket_by) == (other.buckets, other.bucket_by)
        had, more = _has_ranges(other.columns), _has_ranges(self.columns[width:])
        same = same and self.pairs == other.pairs
        same = same and (not (had or self.pairs) or self.null_range == other.null_range)
        same = same and not (more and self.null_range == "everything")
        same = same and self.stream == other.stream
        same = same and self.asks >= other.asks and other._listed() <= self._listed()
        return same and appended and self.columns[:width] == other.columns

    def _reading(self, of: Table) -> tuple[object, ...]:
        """Return what must not change, of the columns that `of` has."""
        units = [self.units.get(column.name) for column in of.columns]
        one_schema = REGISTRY if self.asks else self.option("schema") or REGISTRY
        others = [one_schema, self.option("placeholder"), self.option("message"), self.option("delimiter")]
        return self.key, self.topic, self.absent, self.format, units, others

    def _listed(self) -> set[tuple[str, str]]:
        return {one for one in self.options if one[0].startswith(_LISTED)}


Tables = dict[str, Table]


@dataclass(slots=True)
class _Catalog:
    """What is declared at one version; `every` has the tables that nobody reads as well."""

    version: int = -1
    every: Tables = field(default_factory=dict)
    tables: Tables = field(default_factory=dict)
    cells: Cells = field(default_factory=dict)
    views: Views = field(default_factory=dict)

    @property
    def subjects(self) -> set[tuple[str, int]]:
        """What can be asked about, by (lower-case name, born)."""
        named = {(name, one.born) for some in (self.tables, self.views) for name, one in some.items()}
        return named | {(cell.name, cell.born) for cell in self.cells.values() if cell is not None}


class Declared:
    """The tables, joins and views of every catalog version. Names are compared without regard to case.

    A table on a topic of the installation's own, which `prefix` begins, or of Kafka's is read by nobody: it stands in
    the catalog of an earlier version, and can be dropped. Each statement is run in `scratch` and rolled back: who reads
    many catalogs gives them one database, as opening it costs 30 ms.
    """

    def __init__(
        self, records: Iterable[Record], prefix: str = "tw.", scratch: duckdb.DuckDBPyConnection | None = None
    ) -> None:
        self._versions = [_Catalog()]
        internal = re.compile(f"__.*|{re.escape(prefix)}(?:{_INTERNAL})")
        scratch = scratch or duckdb.connect()
        for record in records:
            if record.value is None:
                continue
            try:
                text = record.value.decode()
                self._versions.append(_applied(scratch, self._versions[-1], text, record.offset, internal))
            except (NotApplied, NoCell, NoView, UnicodeDecodeError):
                continue

    def at(self, version: int) -> Tables:
        """Return the tables in force at `version`, by lower-case name."""
        return self._at(version).tables

    def cells_at(self, version: int) -> Cells:
        """Return the cells in force at `version`."""
        return self._at(version).cells

    def views_at(self, version: int) -> Views:
        """Return the views in force at `version`, by lower-case name."""
        return self._at(version).views

    def _at(self, version: int) -> _Catalog:
        return self._versions[bisect.bisect_right(self._versions, version, key=lambda one: one.version) - 1]

    def subjects_at(self, version: int) -> set[tuple[str, int]]:
        """Return the tables, cells and views in force at `version`, by (lower-case name, born)."""
        return self._at(version).subjects

    def newest_subjects(self) -> set[tuple[str, int]]:
        """Return the tables, cells and views of the newest version there is, announced or not."""
        return self._versions[-1].subjects

    def names(self) -> set[str]:
        """Return the lower-case names of all columns that were ever declared."""
        return {
            column.name.lower()
            for one in self._versions
            for some in (one.tables, one.views)
            for declared in some.values()
            for column in declared.columns
        }

    def topics(self) -> set[str]:
        """Return the topics of all tables that were ever declared."""
        return {table.topic for table in self.every()}

    def written_topics(self) -> set[str]:
        """Return the topics that views were ever written to."""
        return {view.topic for one in self._versions for view in one.views.values() if view.topic}

    def every(self) -> list[Table]:
        """Return every declaration that ever held, the oldest first."""
        return list(dict.fromkeys(table for one in self._versions for table in one.tables.values()))

    def newest(self, name: str, born: int) -> Table:
        """Return the last declaration of the table that was created as `name` at `born`: it has all its columns."""
        found = [t for one in self._versions for t in one.tables.values() if (t.name, t.born) == (name, born)]
        return found[-1]

    def together(self, named: Sequence[tuple[str, int]]) -> list[tuple[Table, ...]]:
        """Return how some tables, known by lower-case name and `born`, were declared together, the oldest way first."""
        found: dict[tuple[Table, ...], None] = {}
        for tables in (one.tables for one in self._versions):
            if all(name in tables and tables[name].born == born for name, born in named):
                found[tuple(tables[name] for name, _ in named)] = None
        return list(found)


def _read(tables: Tables, internal: re.Pattern[str]) -> Tables:
    """Return those on topics that tables may be declared on."""
    return {name: table for name, table in tables.items() if not internal.fullmatch(table.topic)}


def _applied(
    scratch: duckdb.DuckDBPyConnection, before: _Catalog, text: str, version: int, internal: re.Pattern[str]
) -> _Catalog:
    statements = [_bare(statement) for statement in _statements(text)]
    if not statements:
        raise NotApplied("no statement")
    made = _Catalog(version, dict(before.every), {}, dict(before.cells), dict(before.views))
    for statement in statements:
        _apply(scratch, made, statement, internal)
    made.tables = _read(made.every, internal)
    return made


def _apply(scratch: duckdb.DuckDBPyConnection, made: _Catalog, statement: str, internal: re.Pattern[str]) -> None:
    if _MARK.match(statement):
        return
    drop, create = _DROP.match(statement), _CREATE.match(statement)
    tables = _read(made.every, internal)
    sources = {name: Source(table.columns, table.key, table.audience) for name, table in tables.items()}
    if drop:
        _drop(made, drop[3], bool(drop[2]), drop[1].lower() == "stream")
    elif create:
        of_stream = create[1].lower() == "stream"
        table = f"{statement[: create.start(1)]}table{statement[create.end(1) :]}"
        _declare(made, _create(scratch, table, made.version, of_stream), bool(create[2]))
    elif view := apply_to_views(made.views, statement, sources, scratch, made.version):
        if isinstance(view, View):
            _check_topic(view, tables, internal)
        if isinstance(view, View) and len(view.tables) > 1:
            create_cell(made.cells, view.tables, made.version)
    elif not apply_to_cells(made.cells, statement, tables, made.version):
        raise NotApplied(statement)
    elif any(len(view.tables) > 1 and view.tables not in made.cells for view in made.views.values()):
        raise NotApplied(f"{statement}: a view needs it")


def _check_topic(view: View, tables: Tables, internal: re.Pattern[str]) -> None:
    """Raise NotApplied if the topic that a view is written to is not free."""
    if view.topic and (internal.fullmatch(view.topic) or any(view.topic == table.topic for table in tables.values())):
        raise NotApplied(f"topic {view.topic} is not free")


def _drop(made: _Catalog, names: str, if_exists: bool, of_stream: bool) -> None:
    named = [unquoted(quoted).lower() for quoted in re.findall(_NAME, names)]
    if readers_of(made.views, [name for name in named if name in made.every]):
        raise NotApplied(f"{names} are read")
    for name in named:
        if name not in made.every and not if_exists:
            raise NotApplied(f"no table {name}")
        if name in made.every and (made.every[name].stream is not None) != of_stream:
            raise NotApplied(f"{name} is of the other kind")
        made.every.pop(name, None)
        drop_cells_of(made.cells, name)


def _declare(made: _Catalog, table: Table, if_not_exists: bool) -> None:
    tables, name = made.every, table.name.lower()
    if name in made.views:
        raise NotApplied(f"{name} is a view")
    existing = tables.get(name)
    if existing is not None and if_not_exists:
        return
    if any(table.topic == other.topic and other.name != table.name for other in tables.values()):
        raise NotApplied(f"topic {table.topic} feeds another table")
    if any(table.topic == view.topic for view in made.views.values()):
        raise NotApplied(f"a view is written to topic {table.topic}")
    if existing is None:
        tables[name] = table
    elif table.extends(existing):
        tables[name] = replace(table, born=existing.born)
    else:
        raise NotApplied(f"{name} is declared otherwise")


def _create(scratch: duckdb.DuckDBPyConnection, statement: str, version: int, of_stream: bool) -> Table:
    body, options = _split_options(statement)
    spans = {name: options.pop(name) for name in SPANS if of_stream and name in options}
    columns, constraints = _run(scratch, quote_names(_without_ranges(body), _column_names(body)))
    columns = [(table, c, _range_of(type), nullable, default) for table, c, type, nullable, default in columns]
    kinds = {kind for kind, _ in constraints}
    if not kinds <= _CONSTRAINTS or ("PRIMARY KEY" in kinds) == of_stream:
        raise NotApplied(f"constraints {kinds}")
    named = next((names for kind, names in constraints if kind == "PRIMARY KEY"), [])
    for _, column, type, _, default in columns:
        if not _TYPES.fullmatch(type) or default is not None:
            raise NotApplied(f"{column} {type} {default}")
    key = tuple(column for _, column, *_ in columns if column in named)
    declared = tuple(Column(c, type, nullable and c not in key) for _, c, type, nullable, _ in columns)
    _check_ranges(declared, key, options)
    if of_stream and "audience" in options:
        raise NotApplied("an audience of a stream")
    if of_stream and _has_ranges(declared):
        raise NotApplied("ranges in a stream")
    name = columns[0][0]
    topic = options.get("topic", name)
    if not name.isprintable() or len(name) > _LONGEST_NAME or not _OPTIONS["topic"].fullmatch(topic):
        raise NotApplied(f"table {name[:80]!r}")
    format, others = options.get("format", "json"), {n: v for n, v in options.items() if n not in _OPTIONS}
    table = Table(
        name, declared, key, topic, options.get("absent", "null"), version, format,
        tuple(sorted(others.items())), *_buckets(options, format, key), options.get("null.range", "nothing"),
        _stream(spans, declared) if of_stream else None, _pairs(options, declared),
    )  # fmt: skip
    _check_options(table)
    return table


def _has_ranges(columns: Sequence[Column]) -> bool:
    return any(is_range(column.type) for column in columns)


def _check_ranges(columns: Sequence[Column], key: Sequence[str], options: dict[str, str]) -> None:
    """Refuse ranges in a primary key, names that parts of a range have, and the option where there is no range."""
    ranges = [column.name for column in columns if is_range(column.type)]
    kept = {made for name in ranges for made in (f"{name}.lower", f"{name}.upper", f"lower({name})", f"upper({name})")}
    if {*ranges} & {*key} or kept & {column.name for column in columns} or _says_nothing(options, ranges):
        raise NotApplied(f"ranges {ranges}")


def _says_nothing(options: dict[str, str], ranges: Sequence[str]) -> bool:
    return "null.range" in options and not ranges and "audience" not in options


def _pairs(options: dict[str, str], columns: Sequence[Column]) -> Pairs:
    """Return the attributes of subscribers and the columns that say for which of them a row is."""
    found = [
        (match[1].lower(), match[2][1:-1].replace('""', '"') if match[2].startswith('"') else match[2].lower())
        for match in re.finditer(_PAIR, options.get("audience", ""), re.ASCII)
    ]
    names = [column.name for column in columns]
    if any(len({*each}) < len(found) for each in zip(*found, strict=True)) or any(c not in names for _, c in found):
        raise NotApplied(f"audience {found}")
    return tuple((attribute, column.lower()) for attribute, column in found)


def _without_ranges(create: str) -> str:
    """Return a CREATE TABLE in which an enum that says its name stands for each range type, which DuckDB has not."""
    parts, depth, words, at = list[str](), 0, 0, 0
    for lexeme in lexemes(create):
        text = lexeme[0]
        if lexeme.start() < at or text.isspace():
            parts.append("" if lexeme.start() < at else text)
            continue
        depth += {"(": 1, ")": -1}.get(text, 0)
        words = 0 if (text == "," and depth == 1) or (text == "(" and depth == 1) else words + 1
        if depth == 1 and words == 2 and _RANGE.fullmatch(text):
            digits = _DIGITS.match(create, lexeme.end()) if text.lower() == "numrange" else None
            if digits is not None:
                text, at = f"{text}({digits[1]},{digits[2] or 0})", digits.end()
            text = f"ENUM('{text}')"
        parts.append(text)
    return "".join(parts)


def _range_of(type: str) -> str:
    """Return the range type that an enum stands for, any other type as it is."""
    found = _STANDS_FOR.fullmatch(type)
    if found is None:
        return type
    made = found[1].upper()
    if made.startswith("NUMRANGE"):
        digits = _DIGITS.fullmatch(made.removeprefix("NUMRANGE"))
        if digits is None or not (1 <= int(digits[1]) <= 38 and int(digits[2] or 0) <= int(digits[1])):
            raise NotApplied(made)
        return f"NUMRANGE({int(digits[1])},{int(digits[2] or 0)})"
    if not is_range(made):
        raise NotApplied(type)
    return made


def _stream(spans: dict[str, str], columns: Sequence[Column]) -> Stream:
    try:
        return stream_of(spans, columns)
    except NoStream as why:
        raise NotApplied(str(why)) from None


def _check_options(table: Table) -> None:
    if table.format == "json" and table.options:
        raise NotApplied(f"options {table.options}")
    try:
        _ = table.units
        check_schemas(table.format, dict(table.options))
        if not _DELIMITER.fullmatch(table.option("delimiter") or ","):
            raise NotApplied("no delimiter")
    except (NoUnit, NoSchema) as why:
        raise NotApplied(str(why)) from None


def _buckets(options: dict[str, str], format: str, key: tuple[str, ...]) -> tuple[int, tuple[str, ...]]:
    if "buckets" not in options and "bucket.by" not in options:
        return 1, ()
    number = int(options.get("buckets", "0"))
    listed = re.findall(_NAME, options.get("bucket.by", ""))
    by = [unquoted(name) if name.startswith('"') else name.lower() for name in listed]
    if (
        format != "json"
        or not 2 <= number <= _MOST_BUCKETS
        or not by
        or not set(by) <= set(key)
        or len(set(by)) < len(by)
    ):
        raise NotApplied(f"{number} buckets by {by}")
    return number, tuple(name for name in key if name in by)


def _run(
    scratch: duckdb.DuckDBPyConnection, create: str
) -> tuple[list[tuple[str, str, str, bool, str | None]], list[tuple[str, list[str]]]]:
    """Let DuckDB run a CREATE TABLE; return (table, column, type, nullable, default) and (constraint, columns) rows."""
    scratch.begin()
    try:
        scratch.execute(create)
        columns = scratch.execute(
            "SELECT table_name, column_name, data_type, is_nullable, column_default FROM duckdb_columns() "
            "WHERE NOT internal ORDER BY column_index"
        ).fetchall()
        constraints = scratch.execute(
            "SELECT constraint_type, constraint_column_names FROM duckdb_constraints()"
        ).fetchall()
    except duckdb.Error as error:
        raise NotApplied(str(error)) from None
    finally:
        scratch.rollback()
    return columns, constraints


def _statements(text: str) -> Iterator[str]:
    start = 0
    for lexeme in lexemes(text):
        if lexeme[0] == ";":
            if _bare(text[start : lexeme.start()]):
                yield text[start : lexeme.start()]
            start = lexeme.end()
    if _bare(text[start:]):
        yield text[start:]


def _bare(statement: str) -> str:
    """Return the statement without comments, names that are not quoted in lower case."""
    parts = []
    for match in lexemes(statement):
        lexeme = match[0]
        parts.append(" " if lexeme.startswith(("--", "/*")) else lexeme.lower() if is_word(lexeme) else lexeme)
    return "".join(parts).strip()


def _column_names(create: str) -> set[str]:
    """Return the first word of each item between the parentheses: the columns, and `primary` or the like."""
    depth, names, first = 0, set[str](), False
    for lexeme in lexemes(create):
        depth += {"(": 1, ")": -1}.get(lexeme[0], 0)
        if depth == 1 and lexeme[0] in "(,":
            first = True
        elif first and not lexeme[0].isspace():
            names.add(lexeme[0])
            first = False
    return names - {"primary", "constraint"}


def _split_options(statement: str) -> tuple[str, dict[str, str]]:
    """Cut `WITH ( ... )` off the end. Raises NotApplied if what follows WITH is no list of options."""
    depth = 0
    for lexeme in lexemes(statement):
        depth += {"(": 1, ")": -1}.get(lexeme[0], 0)
        if depth == 0 and lexeme[0].lower() == "with":
            return statement[: lexeme.start()], _options(statement[lexeme.end() :].strip())
    return statement, {}


def _options(text: str) -> dict[str, str]:
    if not (text.startswith("(") and text.endswith(")")):
        raise NotApplied(f"not a WITH clause: {text}")
    inner, options, place = text[1:-1], dict[str, str](), 0
    while place < len(inner):
        match = _OPTION.match(inner, place)
        if match is None or (match.end() < len(inner) and inner[match.end()] != ","):
            raise NotApplied(f"not a WITH clause: {text}")
        name = (match[1] or match[2] or match[3] or "").replace("''", "'").lower()
        value = match[4].replace("''", "'")
        if name in options or (name in _OPTIONS and not _OPTIONS[name].fullmatch(value)):
            raise NotApplied(f"option {name} = {value}")
        verbatim = _VERBATIM.fullmatch(name) and not (name == "schema" and value.lower() in _WORDS)
        options[name] = _TAB.get(value, value) if name == "delimiter" else value if verbatim else value.lower()
        place = match.end() + 1
    return options
