"""The database in which tests let DuckDB read catalogs: one for all, as opening it costs ten times the reading."""

from __future__ import annotations

import duckdb

SCRATCH = duckdb.connect()
