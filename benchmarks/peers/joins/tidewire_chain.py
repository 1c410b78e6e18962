"""tidewire in one process: `tidewire.pure_pipeline`, all of its code but Kafka and Spark.

Tables, their cell and one virtual edge; records are decoded from JSON, what joins need of a batch is packed and read
again, deliveries are written as JSON. One thread. State is read from bytes and written back in each batch.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np

from benchmarks.peers.deliveries import RowsDelivery, taken
from benchmarks.peers.joins.workload import Changes, JoinWorkload, hashed, summed
from benchmarks.peers.worker import main
from benchmarks.peers.workload import I64
from tidewire.pure_pipeline import PurePipeline

DDL = "; ".join(
    f"CREATE TABLE {name} (id BIGINT PRIMARY KEY, k BIGINT, x BIGINT, v BIGINT) WITH ('topic'='{name}')"
    for name in "rs"
)
SQL = "SELECT r.id, r.v, s.id, s.v FROM r JOIN s ON r.k = s.k WHERE r.x BETWEEN %d AND %d AND s.x BETWEEN %d AND %d"
Records = list[tuple[str, bytes, bytes]]


class TidewireChain:
    """What is told is what deliveries say."""

    whole = False

    def __init__(self, workload: JoinWorkload, folder: Path) -> None:
        self._keys = workload.keys
        self._told, self.told = np.zeros((0, 3), np.int64), 0
        self._decoder = msgspec.json.Decoder(RowsDelivery)
        self._pipeline = PurePipeline(virtual_edges=1)
        self._pipeline.apply(DDL + "; CREATE JOIN r, s")
        asked = np.stack([workload.asked.lo, workload.asked.hi], axis=2).reshape(-1, 4).tolist()
        for number, bounds in enumerate(asked):
            sql = b'{"sql":"%s"}' % (SQL % tuple(bounds)).encode()
            self._pipeline.append(self._pipeline.topics.subscriptions, b"%d" % number, sql)
        self._pipeline.settle()
        ids = np.arange(workload.x.shape[1])
        for table in (0, 1):
            loaded = Changes(np.full(len(ids), table), ids, workload.x[table], workload.v[table])
            self.take(self.prepare(loaded))
        self._begin = {name: len(self._pipeline.logs[name][0]) for name in "rs"}
        self._numbers = {name: np.flatnonzero(workload.changes.table == i) for i, name in enumerate("rs")}
        self._pipeline.logs[self._pipeline.topics.deliveries][0].clear()

    def prepare(self, changes: Changes) -> Records:
        """Return the records that a publisher would have sent."""
        columns = zip(*(each.tolist() for each in (changes.table, changes.row, changes.x, changes.v)), strict=True)
        return [
            ("rs"[table], b'{"id":%d}' % row, b'{"id":%d,"k":%d,"x":%d,"v":%d}' % (row, row % self._keys, x, v))
            for table, row, x, v in columns
        ]

    def take(self, prepared: Records) -> None:
        for record in prepared:
            self._pipeline.append(*record)
        self._pipeline.settle()

    def answers(self) -> I64:
        told = taken(self._pipeline, self._decoder)
        if told is not None:
            self._told = self._read(told)
            self.told += len(told)
        return self._told.ravel()

    def _read(self, deliveries: list[RowsDelivery]) -> I64:
        """Return what deliveries tell. Raises AssertionError where one tells nothing, or two of the same."""
        signed = [(i, sign, row) for i, of in enumerate(deliveries) for sign, row in _rows(of)]
        if not signed:
            return np.zeros((0, 3), np.int64)
        at, sign, rows = (np.array(each, np.int64) for each in zip(*signed, strict=True))
        change = np.array([self._change(of) for of in deliveries])
        join = np.array([int(of.id) for of in deliveries])
        told = summed(change[at], join[at], sign * hashed(*rows.T))
        assert len(told) == len(deliveries), "a delivery that tells nothing, or two of one change"
        return told

    def _change(self, delivery: RowsDelivery) -> int:
        assert delivery.kind == "change" and delivery.at is not None, delivery
        name = delivery.at.topic
        return int(self._numbers[name][delivery.at.offset - self._begin[name]])

    def close(self) -> None:
        """Nothing was started."""


def _rows(delivery: RowsDelivery) -> list[tuple[int, list[int]]]:
    return [(-1, row) for row in delivery.removed] + [(1, row) for row in delivery.added]


if __name__ == "__main__":
    main(TidewireChain, JoinWorkload.load)
