"""Each version of each row with the interval in which it held, as a DuckDB table of the declared name and types.

    seq        3          7          9                      __from  __to   symbol  price
    record     A 10.00    A 12.00    A deleted       ->          3     7   A       10.00
                                                                 7     9   A       12.00

A subscription's SQL can then be run as written over this table: the rows it selects are the versions it would have
seen, and when. Beside each measure stands its rank among all values of the column, so that who compares
versions compares integers; beside each DECIMAL of more than 18 digits its key (`wide`), by which conditions compare it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from collections.abc import Sequence as Many
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import duckdb
import pyarrow as pa

from tidewire.verification.input.cell_ordering import CellSequence
from tidewire.verification.input.column import Column
from tidewire.verification.input.declared import Table
from tidewire.verification.input.ordering import Sequence
from tidewire.verification.input.rows import WALKED, Rows, Step
from tidewire.verification.recompute.range_bounds import beside_ranges, stored_as, with_bounds
from tidewire.verification.recompute.ranked_column import Measure
from tidewire.verification.recompute.version import Version
from tidewire.verification.records.lexer import quoted
from tidewire.verification.records.ranges import EVERYTHING, is_range
from tidewire.verification.records.wide_decimals import key_column, key_expression, wide_digits

FOREVER = 2**63 - 1


def connect() -> duckdb.DuckDBPyConnection:
    """Return an empty database. Its optimizer is off: with it, DuckDB 2.0.1 was seen to return a wrong row."""
    database = duckdb.connect()
    database.execute("PRAGMA disable_optimizer")
    database.execute("SET TimeZone = 'UTC'")
    return database


@dataclass(slots=True)
class History:
    """The table `name` in `database`; by lower-case name, its measures and in which columns their ranks stand."""

    database: duckdb.DuckDBPyConnection
    name: str
    measures: dict[str, Measure]
    ranks: dict[str, str]


def build(root: duckdb.DuckDBPyConnection, sequence: Sequence, rows: Rows, measures: Iterable[str]) -> History:
    """Load a table's versions into a schema of its own in `root`.

    *Cost*: 10 us a record to decode, 5 us to load; each measure sorts once.
    """
    database = _in_schema(root, schema_of(sequence.epoch, sequence.subject))
    return _load(database, sequence.table, rows.steps(sequence), measures)


def build_cell(
    root: duckdb.DuckDBPyConnection, sequence: CellSequence, rows: Rows, measures: set[str]
) -> dict[str, History]:
    """Load the versions of all tables of a cell into one schema, by their lower-case names: intervals of its seqs.

    Of `measures` each table has those that are columns of it. *Cost*: as `build`, for each table.
    """
    database = _in_schema(root, schema_of(sequence.epoch, sequence.subject))
    made = {}
    for name, its in sequence.tables.items():
        seqs = sequence.seqs[name]
        steps = (step._replace(seq=seqs[step.seq - 1]) for step in rows.steps(its))
        known = {column.name.lower() for column in beside_ranges(its.table.columns)}
        made[name] = _load(database, its.table, steps, measures & known)
    return made


def build_view(
    root: duckdb.DuckDBPyConnection,
    schema: str,
    name: str,
    columns: Many[Column],
    versions: Many[Version],
    measures: Iterable[str],
) -> History:
    """Load the versions of a view, which have been computed, as those of a table into a schema of its own in `root`."""
    return load_view(_in_schema(root, schema), name, columns, versions, measures)


def load_view(
    database: duckdb.DuckDBPyConnection,
    name: str,
    columns: Many[Column],
    versions: Many[Version],
    measures: Iterable[str],
) -> History:
    """Load the versions of a view, which have been computed, under a name into the schema that `database` is at."""
    texts = [[None if row[i] is None else _text(row[i]) for _, _, _, row in versions] for i in range(len(columns))]
    made: dict[str, Any] = {f"v{i}": pa.array(some, pa.string()) for i, some in enumerate(texts)}
    made["__from"] = pa.array([version.start for version in versions], pa.int64())
    made["__to"] = pa.array([version.end for version in versions], pa.int64())
    database.register("__versions", pa.table(made))
    chosen = [f"CAST(v{i} AS {stored_as(column.type)}) AS {quoted(column.name)}" for i, column in enumerate(columns)]
    return _store(database, name, columns, f"SELECT {', '.join(chosen)}, __from, __to FROM __versions", measures)


def versions_in(history: History, table: Table) -> list[Version]:
    """Return the versions of a table; its primary key tells rows apart."""
    places = [[column.name for column in table.columns].index(name) for name in table.key]
    columns = ", ".join(quoted(column.name) for column in table.columns)
    statement = f"SELECT {columns}, __from, __to FROM {quoted(history.name)} WHERE __from < __to"
    found = history.database.execute(statement).fetchall()
    return [Version(start, end, tuple([row[i] for i in places]), tuple(row)) for *row, start, end in found]


def _text(value: Any) -> str:
    """Return a value as DuckDB casts it from text."""
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, dt.date) else str(value)


def _load(database: duckdb.DuckDBPyConnection, table: Table, steps: Iterable[Step], measures: Iterable[str]) -> History:
    database.register("__events", _events(table, steps))
    value = _stored if table.absent == "keep" and table.format != WALKED else _sent
    columns = [f"{_cast(table, column, value(i))} AS {quoted(column.name)}" for i, column in enumerate(table.columns)]
    versions = (
        f"SELECT {', '.join(columns)}, seq AS __from, "
        f"coalesce(lead(seq) OVER (PARTITION BY pk ORDER BY seq), {FOREVER}) AS __to, live AS __live FROM {_rounds()}"
    )
    return _store(database, table.name, table.columns, f"SELECT * FROM ({versions}) WHERE __live", measures)


def _cast(table: Table, column: Column, value: str) -> str:
    """Return the value of a column as SQL: NULL of a range may mean everything."""
    if is_range(column.type) and table.null_range == "everything":
        value = f"coalesce({value}, '{EVERYTHING}')"
    return f"CAST({value} AS {stored_as(column.type)})"


def _store(
    database: duckdb.DuckDBPyConnection, name: str, columns: Many[Column], versions: str, measures: Iterable[str]
) -> History:
    """Make the table of what the SELECT `versions` has: `columns`, __from and __to; bounds stand beside ranges."""
    versions, columns = with_bounds(database, versions, columns)
    ranked = rank_columns(measures)
    beside = [f"{_rank(quoted(measure))} AS {rank}" for measure, rank in ranked.items()]
    for column in columns:
        wide = wide_digits(column.type)
        if wide is not None:
            beside.append(f"{key_expression(quoted(column.name), *wide)} AS {key_column(column.name)}")
    selected = ", ".join([*(quoted(column.name) for column in columns), "__from", "__to", *beside])
    database.execute(f"CREATE TABLE {quoted(name)} AS SELECT {selected} FROM ({versions})")
    types = {column.name.lower(): column.type for column in columns}
    made = {measure: _measure(database, name, measure, rank, types[measure]) for measure, rank in ranked.items()}
    return History(database, name, made, ranked)


def schema_of(epoch: int, subject: tuple[str, int]) -> str:
    """Return the name of the schema in which what (name, born) has is kept for an epoch."""
    return f"h{epoch}_{subject[1]}_{subject[0].encode().hex()}"


def _in_schema(root: duckdb.DuckDBPyConnection, name: str) -> duckdb.DuckDBPyConnection:
    database = root.cursor()
    database.execute("PRAGMA disable_optimizer")
    database.execute(f"CREATE SCHEMA {name}")
    database.execute(f"SET schema = '{name}'")
    return database


def _rank(measure: str) -> str:
    return f"CASE WHEN {measure} IS NOT NULL THEN dense_rank() OVER (ORDER BY {measure} NULLS LAST) END"


def rank_columns(measures: Iterable[str]) -> dict[str, str]:
    """Return the name of each measure's column of ranks, as `build` made them."""
    return {measure: f"__rank_{i}" for i, measure in enumerate(sorted(set(measures)))}


def _events(table: Table, steps: Iterable[Step]) -> pa.Table:
    """Return seq, pk, live, and value and presence by column."""
    width = len(table.columns)
    seqs, pks, lives = list[int](), list[str](), list[bool]()
    values: list[list[str | None]] = [[] for _ in range(width)]
    present: list[list[bool]] = [[] for _ in range(width)]
    for seq, row in steps:
        seqs.append(seq)
        pks.append(row.pk)
        lives.append(row.live)
        for i in range(width):
            there = i < len(row.values)
            values[i].append(row.values[i] if there else None)
            present[i].append(row.present[i] if there else False)
    columns: dict[str, Any] = {"seq": pa.array(seqs, pa.int64()), "pk": pa.array(pks, pa.string())}
    columns["live"] = pa.array(lives, pa.bool_())
    for i in range(width):
        columns[f"v{i}"] = pa.array(values[i], pa.string())
        columns[f"p{i}"] = pa.array(present[i], pa.bool_())
    return pa.table(columns)


def _rounds() -> str:
    """Number the lives of each row: a deleted row that comes back keeps nothing."""
    deleted = "count(*) FILTER (WHERE NOT live) OVER (PARTITION BY pk ORDER BY seq)"
    return f"(SELECT *, {deleted} AS life FROM __events)"


def _sent(i: int) -> str:
    return f"v{i}"


def _stored(i: int) -> str:
    """Return the value sent last in this life of the row: an absent member keeps it."""
    sent = f"CASE WHEN p{i} THEN struct_pack(v := v{i}) END"
    window = "PARTITION BY pk, life ORDER BY seq ROWS UNBOUNDED PRECEDING"
    return f"struct_extract(last_value({sent} IGNORE NULLS) OVER ({window}), 'v')"


def _measure(database: duckdb.DuckDBPyConnection, name: str, measure: str, rank: str, type: str) -> Measure:
    found = database.execute(
        f"SELECT any_value({quoted(measure)}) FROM {quoted(name)} WHERE {rank} IS NOT NULL "
        f"GROUP BY {rank} ORDER BY {rank}"
    ).fetchall()
    return Measure.of(type, (value for (value,) in found))
