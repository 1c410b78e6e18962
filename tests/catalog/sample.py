"""The catalog that these tests compile against: one table with a column of every type, one with a quoted name."""

from catalog.ddl.statements import apply_ddl
from catalog.query.compiler import Compiler
from catalog.query.shape import Region
from catalog.schema.catalog import Catalog
from catalog.types.column_type import ColumnType, Kind

DDL = """
CREATE TABLE stock (
  symbol VARCHAR PRIMARY KEY, exchange VARCHAR, sector VARCHAR, risk DOUBLE, price DECIMAL(12,2), volume BIGINT,
  open BOOLEAN, day DATE, at TIMESTAMP, ratio REAL, wide DECIMAL(38,10), small SMALLINT, "Lot Size" INTEGER
);
CREATE TABLE gauge (station INTEGER PRIMARY KEY, height BIGINT, basin VARCHAR, flow INTEGER);
"""

CATALOG = apply_ddl(Catalog(), DDL, 0)


def compiler() -> Compiler:
    return Compiler(CATALOG)


def region(condition: str, aggregate: str = "MIN(price)") -> Region:
    """The region of SELECT aggregate FROM stock WHERE condition."""
    where = f" WHERE {condition}" if condition else ""
    return compiler().compile(f"SELECT {aggregate} FROM stock{where}").region


def of(kind: str, precision: int = 0, scale: int = 0) -> ColumnType:
    return ColumnType(Kind[kind], precision, scale)
