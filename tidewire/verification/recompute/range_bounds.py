"""The bounds of ranges as columns beside them, in the table of versions: what operators of ranges are rewritten to.

valid          lower(valid)   upper(valid)   lower closed(valid)   upper closed(valid)   empty(valid)
[3,5)          3              5              true                  false                 false
(,)                                          false                 false                 false
"""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
import pyarrow as pa

from tidewire.verification.input.column import Column
from tidewire.verification.records.lexer import quoted
from tidewire.verification.records.range_conditions import derived_name
from tidewire.verification.records.ranges import element_of, is_range, read


def stored_as(type: str) -> str:
    """Return the type that DuckDB keeps values in: ranges are texts."""
    return "VARCHAR" if is_range(type) else type


def beside_ranges(columns: Sequence[Column]) -> list[Column]:
    """Return columns and those that stand beside the ranges among them."""
    return [made for column in columns for made in (column, *_parts(column))]


def with_bounds(
    database: duckdb.DuckDBPyConnection, versions: str, columns: Sequence[Column]
) -> tuple[str, Sequence[Column]]:
    """Return a SELECT of versions with the columns beside ranges, and all columns. Cost: 5 us a different range."""
    ranges = [column for column in columns if is_range(column.type)]
    if not ranges:
        return versions, columns
    chosen, joins = ["v.*"], []
    for i, column in enumerate(ranges):
        name = quoted(column.name)
        found = database.execute(f"SELECT DISTINCT {name} FROM ({versions}) WHERE {name} IS NOT NULL").fetchall()
        texts = sorted([text for (text,) in found])
        parts = list(zip(*[read(column.type, text) for text in texts], strict=True)) or [()] * 5
        kinds = (pa.string(), pa.string(), pa.bool_(), pa.bool_(), pa.bool_())
        made = {f"p{at}": pa.array(part, kind) for at, (part, kind) in enumerate(zip(parts, kinds, strict=True))}
        database.register("__ranges", pa.table({"whole": pa.array(texts, pa.string()), **made}))
        table = quoted(f"ranges {i} of {abs(hash(versions))}")
        database.execute(f"CREATE OR REPLACE TABLE {table} AS SELECT * FROM __ranges")
        beside = enumerate(_parts(column))
        chosen += [f"CAST(r{i}.p{at} AS {part.type}) AS {quoted(part.name)}" for at, part in beside]
        joins.append(f"LEFT JOIN {table} AS r{i} ON r{i}.whole = v.{name}")
    return f"SELECT {', '.join(chosen)} FROM ({versions}) AS v {' '.join(joins)}", beside_ranges(columns)


def _parts(column: Column) -> list[Column]:
    """Return the columns beside a range, in the order of `Range`."""
    if not is_range(column.type):
        return []
    element = element_of(column.type)
    types = {"lower": element, "upper": element}
    types |= dict.fromkeys(("lower closed", "upper closed", "empty"), "BOOLEAN")
    return [Column(derived_name(part, column.name), type, True) for part, type in types.items()]
