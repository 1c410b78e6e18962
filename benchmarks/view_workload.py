"""The stocks of `stock_workload` in sectors, and views on them: one that groups, and three levels over two tables.

    CREATE TABLE stock (symbol VARCHAR PRIMARY KEY, sector INTEGER, risk DOUBLE, price INTEGER)
    CREATE TABLE sector (sector INTEGER PRIMARY KEY, region INTEGER, worth INTEGER)

Fifty stocks are in a sector, ten sectors in a region; prices are in cents. One publication in twenty gives a sector
another worth, the others move the price of a stock, which changes the sums of its sector, and so what is left there:
every publication changes a row of each view but `best`, and of that some three in ten, since the first three of ten are
in it. Synthetic and seeded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.stock_workload import Market
from catalog.ddl.statements import apply_ddl
from catalog.query.shape import Output, Region, Shape, group_key
from catalog.schema.catalog import Catalog
from catalog.schema.relation import Relation
from connectors.record import OutRecord
from connectors.topics import Topics
from operators.packed import Header, pack_registrations

STOCK = (
    "CREATE TABLE stock (symbol VARCHAR PRIMARY KEY, sector INTEGER, risk DOUBLE, price INTEGER) "
    "WITH ('topic'='{topic}')"
)
SECTOR = "CREATE TABLE sector (sector INTEGER PRIMARY KEY, region INTEGER, worth INTEGER) WITH ('topic'='{topic}')"
BY_SECTOR = (
    "CREATE VIEW by_sector AS SELECT sector, MIN(price) AS low, MAX(price) AS high, COUNT(*) AS n, "
    "SUM(price) AS total FROM stock GROUP BY sector"
)
LEFT = (
    "CREATE VIEW left_of AS SELECT s.sector, s.region, s.worth - COALESCE(b.total, 0) AS rest "
    "FROM sector s LEFT JOIN by_sector b ON s.sector = b.sector WHERE s.worth - COALESCE(b.total, 0) >= 1"
)
BEST = (
    "CREATE VIEW best AS SELECT sector, region, rest FROM left_of "
    "QUALIFY ROW_NUMBER() OVER (PARTITION BY region ORDER BY rest DESC, sector) <= 3"
)
LEVELS = (BY_SECTOR, LEFT, BEST)
TABLES = ("stock", "sector")
"""Their names, and those of their topics where none is given."""
STOCKS_OF_A_SECTOR = 50
SECTORS_OF_A_REGION = 10
OF_SECTORS = 20
"""One publication in so many is one of a sector."""
WORTH = 100_000_000
"""More than all stocks of a sector cost, so that something is left of each."""


ON_VIEW = 1_000
"""How many subscriptions a view has."""


@dataclass(frozen=True, slots=True)
class Case:
    """Views, and what is asked of the last of them: `shape`, `of` so many stocks a value of its range column."""

    views: tuple[str, ...] = ()
    shape: Shape | None = None
    of: int = 1


CASES = {
    "table": Case(),
    "view": Case((BY_SECTOR,), Shape("by_sector", (Output("min", "low"),), (), "sector"), STOCKS_OF_A_SECTOR),
    "cell": Case(
        LEVELS, Shape("best", (Output("max", "rest"),), (), "region"), STOCKS_OF_A_SECTOR * SECTORS_OF_A_REGION
    ),
}


def catalog_of(*views: str, stock: str = "stock", sector: str = "sector") -> Catalog:
    """Return the catalog with both tables, fed by these topics, and `views`."""
    ddl = [STOCK.format(topic=stock), SECTOR.format(topic=sector), *views]
    return apply_ddl(Catalog(), "; ".join(ddl), 0)


class SectorMarket(Market):
    """The rows of both tables; `load` publishes all, `changes` moves some of either."""

    def __init__(self, tables: Mapping[str, Relation], rows: int, seed: int = 1) -> None:
        super().__init__(tables["stock"], rows, seed)
        self.sectors = max(rows // STOCKS_OF_A_SECTOR, 1)
        self._of = np.random.default_rng(seed + 10).integers(0, self.sectors, rows).tolist()
        self._worths = np.random.default_rng(seed + 11)
        self._sector = tables["sector"]

    def load(self) -> Iterator[OutRecord]:
        """Yield a publication of every row, sectors first."""
        yield from self._publications(np.arange(self.sectors).tolist())
        yield from super().load()

    def changes(self, count: int) -> Iterator[OutRecord]:
        """Yield `count` changes, one in `OF_SECTORS` of a sector."""
        of_sectors = self._worths.integers(0, self.sectors, -(-count // OF_SECTORS)).tolist()
        sectors, stocks = self._publications(of_sectors), super().changes(count - len(of_sectors))
        for place in range(count):
            yield next(sectors if place % OF_SECTORS == 0 else stocks)

    def _publications(self, sectors: Sequence[int]) -> Iterator[OutRecord]:
        worths = (WORTH + self._worths.integers(0, WORTH, len(sectors))).tolist()
        for sector, worth in zip(sectors, worths, strict=True):
            value = b'{"sector":%d,"region":%d,"worth":%d}' % (sector, sector // SECTORS_OF_A_REGION, worth)
            yield OutRecord(self._sector.topic, None, b'{"sector":%d}' % sector, value)

    def _publication(self, row: int) -> OutRecord:
        symbol = f"S{self._places[row]:06d}"
        key = f'{{"symbol":"{symbol}"}}'
        value = (
            f'{{"symbol":"{symbol}","sector":{self._of[row]},"risk":{self._risks[row]!r},"price":{self._prices[row]}}}'
        )
        return OutRecord(self.relation.topic, None, key.encode(), value.encode())


def asked_ranges(count: int, values: int, widest: int | None = None, seed: int = 3) -> list[tuple[int, int]]:
    """Return `count` ranges of numbers below `values`, one to `widest` of them, evenly over the magnitudes."""
    source = np.random.default_rng(seed)
    width = np.exp(source.uniform(0, np.log(widest or values), count)).astype(np.int64)
    lo = source.integers(0, values - width + 1)
    return list(zip(lo.tolist(), (lo + width - 1).tolist(), strict=True))


def asked_of_view(
    name: str, catalog: Catalog, topics: Topics, count: int, rows: int, partitions: int
) -> Iterator[OutRecord]:
    """Yield the records that virtual edges would write for `count` questions of a case, which they have by turns."""
    case = CASES[name]
    if case.shape is None:
        return
    relation, ranges = catalog.views[case.shape.relation].relation, asked_ranges(count, max(rows // case.of, 1))
    for ve in range(partitions):
        own = range(ve, count, partitions)
        header = Header("register", 0, relation.shard, ve=ve, catalog=relation.born)
        regions = [Region(case.shape, group_key(()), *ranges[i]) for i in own]
        for value in pack_registrations(header, own, regions):
            yield OutRecord(topics.registrations, ve, relation.shard.encode(), value)
