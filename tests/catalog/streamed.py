"""A stream, views of it, and a table, for tests of what is declared over streams and asked of them."""

from __future__ import annotations

from catalog.ddl.statements import apply_ddl
from catalog.query.compiler import Compiled, Compiler
from catalog.schema.catalog import Catalog
from catalog.schema.view import View

STREAM = """CREATE STREAM trade (symbol VARCHAR, price DECIMAL(12,2), n INTEGER, risk DOUBLE, ts TIMESTAMP)
  WITH ('topic'='trades', 'event_time'='ts', 'lateness'='10 s', 'idle'='60 s', 'keep'='7 days')"""
DDL = f"""{STREAM};
CREATE TABLE company (symbol VARCHAR PRIMARY KEY, name VARCHAR);
CREATE STREAM quote (symbol VARCHAR, bid DECIMAL(12,2), ts TIMESTAMP) WITH ('event_time'='ts', 'lateness'='0 s');
CREATE VIEW hourly AS SELECT symbol, DATE_TRUNC('hour', ts) AS hour, MIN(price) AS low, MAX(price) AS high,
  LATEST(price BY ts) AS last, COUNT(*) AS n FROM trade GROUP BY symbol, DATE_TRUNC('hour', ts);
CREATE VIEW daily AS SELECT DATE_TRUNC('day', hour) AS day, MAX(high) AS high, SUM(n) AS n FROM hourly
  GROUP BY DATE_TRUNC('day', hour);
CREATE VIEW symbols AS SELECT symbol, COUNT(*) AS n FROM trade GROUP BY symbol;
"""
CATALOG = apply_ddl(Catalog(), DDL, 0)


def after(text: str, catalog: Catalog = CATALOG) -> Catalog:
    """Return the catalog after a text."""
    return apply_ddl(catalog, text, catalog.version + 1)


def declared(query: str) -> View:
    """Return the view of a query."""
    return after(f"CREATE VIEW v AS {query}").views["v"]


def compiled(sql: str) -> Compiled:
    """Return a question as it is compiled."""
    return Compiler(CATALOG).compile(sql)
