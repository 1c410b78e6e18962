"""tidewire in one process: `tidewire.pure_pipeline`, all of its code but Kafka and Spark.

A batch is decoded from JSON, applied by the shard and packed as images, routed to one virtual edge, matched there, and
written as JSON deliveries with the rows that went and came, one for every hit. One thread. Filters are registered as SQL
text, before there are rows: none has to look through the table. State is read from bytes and written back to bytes in each batch, as in the stack.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np

from benchmarks.filter_workload import COLUMNS
from benchmarks.peers.deliveries import RowsDelivery, taken
from benchmarks.peers.filters.held_matches import Hit
from benchmarks.peers.filters.workload import ENTERED, LEFT, WITHIN, Changes, FilterWorkload
from benchmarks.peers.worker import main
from benchmarks.peers.workload import I64
from tidewire.pure_pipeline import PurePipeline

NAMES = [f"c{c}" for c in range(COLUMNS)]
DDL = f"CREATE TABLE item (id BIGINT PRIMARY KEY, {', '.join(f'{c} BIGINT' for c in NAMES)}) WITH ('topic'='item')"
VALUE = '{"id":%d,' + ",".join(f'"{c}":%d' for c in NAMES) + "}"
Records = list[tuple[bytes, bytes]]


class TidewireChain:
    """Hits are what deliveries say; the rows in them are compared with the images."""

    whole = False

    def __init__(self, workload: FilterWorkload, folder: Path) -> None:
        self._workload, self.told = workload, 0
        self._told: list[Hit] = []
        self._decoder = msgspec.json.Decoder(RowsDelivery)
        self._pipeline = PurePipeline(virtual_edges=1)
        self._pipeline.apply(DDL)
        for number, (columns, lo, hi) in enumerate(zip(*(each.tolist() for each in workload.filters), strict=True)):
            asked = [f"c{c} BETWEEN {a} AND {b}" for c, a, b in zip(columns, lo, hi, strict=True) if c >= 0]
            sql = f'{{"sql":"SELECT * FROM item WHERE {" AND ".join(asked)}"}}'
            self._pipeline.append(self._pipeline.topics.subscriptions, b"%d" % number, sql.encode())
        self._pipeline.settle()
        self.take(self.prepare(Changes(np.arange(len(workload.rows)), workload.rows)))
        self._warm()
        self._begin = len(self._pipeline.logs["item"][0])

    def _warm(self) -> None:
        """Change a row and change it back, so that compiled code is loaded before the clock runs."""
        first = self._workload.rows[:1]
        for image in (first + 1, first):
            self.take(self.prepare(Changes(np.array([0]), image)))
        self._pipeline.logs[self._pipeline.topics.deliveries][0].clear()

    def prepare(self, changes: Changes) -> Records:
        """Return the records that a publisher would have sent."""
        pairs = zip(changes.row.tolist(), changes.image.tolist(), strict=True)
        return [(b'{"id":%d}' % row, (VALUE % (row, *image)).encode()) for row, image in pairs]

    def take(self, prepared: Records) -> None:
        for key, value in prepared:
            self._pipeline.append("item", key, value)
        self._pipeline.settle()

    def answers(self) -> I64:
        told = taken(self._pipeline, self._decoder)
        if told is not None:
            self._told = [self._read(delivery) for delivery in told]
            self.told += len(told)
        return self._workload.codes(*np.array(self._told, np.int64).reshape(-1, 3).T)

    def _read(self, delivery: RowsDelivery) -> Hit:
        """Return the hit that a delivery tells. Raises AssertionError for other rows than the change's images."""
        assert delivery.kind == "change" and delivery.at is not None, delivery
        change = delivery.at.offset - self._begin
        row, new = int(self._workload.changes.row[change]), self._workload.changes.image[change].tolist()
        assert delivery.added in ([], [[row, *new]]), delivery
        assert all(removed[0] == row for removed in delivery.removed) and len(delivery.removed) <= 1, delivery
        kind = WITHIN if delivery.removed and delivery.added else LEFT if delivery.removed else ENTERED
        return change, int(delivery.id), kind

    def close(self) -> None:
        """Nothing was started."""


if __name__ == "__main__":
    main(TidewireChain, FilterWorkload.load)
