"""Joins through their cell and a virtual edge that many are subscribed at (`benchmarks/edge_chain.py`).

    SELECT r.id, r.note, s.id, s.note FROM r JOIN s ON r.k = s.k WHERE r.x BETWEEN .. AND .. AND s.x BETWEEN .. AND ..

Five rows of either table have one key. A change gives a row of r or s, by turns, another x and another note; a new image
and its five partners meet `met` subscriptions on average, how many there are of them. Synthetic and seeded.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.edge_chain import EdgeChain, records
from catalog.ddl.statements import apply_ddl
from catalog.schema.catalog import Catalog
from connectors.record import RawRecords
from state.change_batch import I64

ROWS = 50_000
PARTNERS = 5
DOMAIN = 10**9
TABLES = ("r", "s")
ASK = (
    "SELECT r.id, r.note, s.id, s.note FROM r JOIN s ON r.k = s.k WHERE r.x BETWEEN %d AND %d AND s.x BETWEEN %d AND %d"
)
TABLE = "CREATE TABLE {0} (id BIGINT PRIMARY KEY, k BIGINT, x BIGINT, note VARCHAR) WITH ('topic'='{0}')"
CATALOG = apply_ddl(Catalog(), "; ".join((*map(TABLE.format, TABLES), "CREATE JOIN r, s")), 0)
"""Both tables, and the cell that holds them."""
(CELL,) = CATALOG.cells


def statements(count: int, met: float, partners: int = PARTNERS, seed: int = 4) -> Iterator[str]:
    """Yield statements of which a new image with its partners meets about `met`."""
    source, side = np.random.default_rng(seed), (met / count) ** 0.5
    bounds: list[list[int]] = []
    for width in (side, side / partners):
        middle, half = source.random(count) * DOMAIN, source.exponential(width / 2 * DOMAIN, count)
        bounds += [(middle - half).astype(np.int64).tolist(), (middle + half).astype(np.int64).tolist()]
    for each in zip(*bounds, strict=True):
        yield ASK % each


def images(row: I64, key: I64, x: I64, place: I64) -> list[bytes]:
    """Return rows of either table as JSON."""
    columns = (row, key, x, row, place)
    each = zip(*(column.tolist() for column in columns), strict=True)
    return [b'{"id":%d,"k":%d,"x":%d,"note":"row %d at %d"}' % values for values in each]


class JoinChain(EdgeChain):
    """A chain whose tables have rows."""

    def __init__(self, rows: int = ROWS) -> None:
        super().__init__(CATALOG, cell=CELL)
        self._source = np.random.default_rng(77)
        self._rows, self._keys, self._published = rows, rows // PARTNERS, 0
        every = np.arange(rows)
        self.run_records([self._records(every, 0), self._records(every, 1)])

    def subscribe(self, count: int, met: float) -> None:
        """Let joins be live at the edge."""
        self.ask(statements(count, met))

    def timed(self, count: int) -> tuple[dict[str, float], float]:
        """Return the seconds of shard and edge for a batch of `count` changes, and deliveries a change."""
        before = self.edge.counters.deliveries
        self.stages.seconds.clear()
        self.change(count)
        return dict(self.stages.seconds), (self.edge.counters.deliveries - before) / count

    def change(self, count: int) -> None:
        """Run a batch in which random rows change, half of them of each table."""
        which = self._source.integers(0, self._rows, (2, count // 2))
        self.run_records([self._records(row, table) for table, row in enumerate(which)])

    def _records(self, row: I64, table: int) -> RawRecords:
        """Return new images of rows; they come after all that was published, those of both tables by turns."""
        places = self._published + 2 * np.arange(len(row)) + table
        self._published += 2 * len(row) * table
        x = self._source.integers(0, DOMAIN, len(row))
        values = images(row, row % self._keys, x, places)
        keys: list[bytes | None] = [b'{"id":%d}' % each for each in row.tolist()]
        return records(keys, values, TABLES[table], places)
