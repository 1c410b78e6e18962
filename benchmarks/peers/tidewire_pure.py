"""tidewire in one process: `tidewire.pure_pipeline`, all of its code but Kafka and Spark.

A batch is decoded from JSON, applied and reformulated by the shard, packed, routed to one virtual edge, matched there
with the subscriptions, and written as JSON deliveries: one for every change of every answer. One thread. Subscriptions
are registered as SQL text. State is read from bytes and written back to bytes in each batch, as in the stack.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np

from benchmarks.peers.deliveries import taken
from benchmarks.peers.worker import main
from benchmarks.peers.workload import I64, NONE, Changes, Workload
from tidewire.pure_pipeline import PurePipeline

DDL = "CREATE TABLE stock (id BIGINT PRIMARY KEY, risk DOUBLE, price BIGINT) WITH ('topic'='stock')"
Records = list[tuple[bytes, bytes]]


class _Delivery(msgspec.Struct):
    """What is read of a delivery."""

    id: str
    new: int | None = None


class TidewirePure:
    """Answers are what a subscriber holds who applies its deliveries."""

    whole = False

    def __init__(self, workload: Workload, folder: Path) -> None:
        self._risk, self.told = workload.risk.tolist(), 0
        self._lowest = np.full(len(workload.lo), NONE, np.int64)
        self._decoder = msgspec.json.Decoder(_Delivery)
        self._pipeline = PurePipeline(virtual_edges=1)
        self._pipeline.apply(DDL)
        self.take(self.prepare(Changes(np.arange(len(self._risk)), workload.price)))
        for i, (lo, hi) in enumerate(zip(workload.lo.tolist(), workload.hi.tolist(), strict=True)):
            sql = b'{"sql":"SELECT MIN(price) FROM stock WHERE risk BETWEEN %r AND %r"}' % (lo, hi)
            self._pipeline.append(self._pipeline.topics.subscriptions, b"%d" % i, sql)
        self._pipeline.settle()
        self._warm(int(workload.price[0]))
        self.answers()
        self.told = 0

    def _warm(self, price: int) -> None:
        """Change a row and change it back, so that compiled code is loaded before the clock runs."""
        for to in (price - 1, price):
            self.take(self.prepare(Changes(np.array([0]), np.array([to]))))

    def prepare(self, changes: Changes) -> Records:
        """Return the records that a publisher would have sent."""
        pairs = zip(changes.row.tolist(), changes.price.tolist(), strict=True)
        text = '{"id":%d,"risk":%r,"price":%d}'
        return [(b'{"id":%d}' % row, (text % (row, self._risk[row], price)).encode()) for row, price in pairs]

    def take(self, prepared: Records) -> None:
        for key, value in prepared:
            self._pipeline.append("stock", key, value)
        self._pipeline.settle()

    def answers(self) -> I64:
        for delivery in taken(self._pipeline, self._decoder) or []:
            self._lowest[int(delivery.id)] = NONE if delivery.new is None else delivery.new
            self.told += 1
        return self._lowest

    def close(self) -> None:
        """Nothing was started."""


if __name__ == "__main__":
    main(TidewirePure)
