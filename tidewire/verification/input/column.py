"""A column of a table or view."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Column:
    """A column as DuckDB understood it; `type` is DuckDB's name of the type, e.g. `DECIMAL(12,2)`."""

    name: str
    type: str
    nullable: bool
