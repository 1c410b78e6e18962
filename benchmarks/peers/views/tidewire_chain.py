"""tidewire in one process: `tidewire.pure_pipeline`, all of its code but Kafka and Spark.

Both tables, the cell with the three views, and one virtual edge; records are decoded from JSON, deliveries are written
as JSON, one for every change of every answer. One thread. State is read from bytes and written back in each batch.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np

from benchmarks.peers.deliveries import taken
from benchmarks.peers.views.workload import AVAILABLE, CHEAPEST, TOTAL, Changes, ViewWorkload
from benchmarks.peers.worker import main
from benchmarks.peers.workload import I64, NONE
from tidewire.pure_pipeline import PurePipeline

DDL = (
    "CREATE TABLE flights (flight INTEGER PRIMARY KEY, dest INTEGER, fare INTEGER, seats INTEGER) "
    "WITH ('topic'='flights'); "
    "CREATE TABLE booked (id INTEGER PRIMARY KEY, flight INTEGER, n INTEGER) WITH ('topic'='booked'); "
    f"CREATE VIEW total AS {TOTAL}; CREATE VIEW available AS {AVAILABLE}; CREATE VIEW cheapest AS {CHEAPEST}"
)
SQL = b'{"sql":"SELECT MIN(fare) FROM cheapest WHERE dest = %d AND seats_left BETWEEN %d AND %d"}'
Records = list[tuple[str, bytes, bytes | None]]


class _Delivery(msgspec.Struct):
    """What is read of a delivery."""

    id: str
    new: int | None = None


class TidewireChain:
    """Answers are what a subscriber holds who applies its deliveries."""

    whole = False

    def __init__(self, workload: ViewWorkload, folder: Path) -> None:
        self._flights, self._bookings, self.told = workload.flights, workload.bookings, 0
        self._lowest = np.full(len(workload.asked.dest), NONE, np.int64)
        self._decoder = msgspec.json.Decoder(_Delivery)
        self._pipeline = PurePipeline(virtual_edges=1)
        self._pipeline.apply(DDL)
        held = np.arange(workload.held)
        every = [self._flight(flight, fare) for flight, fare in enumerate(workload.flights.fare.tolist())]
        self.take([*every, *map(self._booking, held.tolist())])
        for i, bounds in enumerate(zip(*(each.tolist() for each in workload.asked), strict=True)):
            self._pipeline.append(self._pipeline.topics.subscriptions, b"%d" % i, SQL % bounds)
        self._pipeline.settle()
        self._warm(int(workload.flights.fare[0]))
        self.answers()
        self.told = 0

    def _warm(self, fare: int) -> None:
        """Change a fare and change it back, so that compiled code is loaded before the clock runs."""
        for to in (fare + 1, fare):
            self.take([self._flight(0, to)])

    def _flight(self, flight: int, fare: int) -> tuple[str, bytes, bytes]:
        of = (flight, self._flights.dest[flight], fare, self._flights.seats[flight])
        return "flights", b'{"flight":%d}' % flight, b'{"flight":%d,"dest":%d,"fare":%d,"seats":%d}' % of

    def _booking(self, booking: int) -> tuple[str, bytes, bytes]:
        of = (booking, self._bookings.flight[booking], self._bookings.n[booking])
        return "booked", b'{"id":%d}' % booking, b'{"id":%d,"flight":%d,"n":%d}' % of

    def prepare(self, changes: Changes) -> Records:
        """Return the records that publishers would have sent."""
        columns = zip(changes.number.tolist(), changes.fare.tolist(), changes.ends.tolist(), strict=True)
        return [
            self._flight(number, fare)
            if fare >= 0
            else (*self._booking(number)[:2], None)
            if ends
            else self._booking(number)
            for number, fare, ends in columns
        ]

    def take(self, prepared: Records) -> None:
        for record in prepared:
            self._pipeline.append(*record)
        self._pipeline.settle()

    def answers(self) -> I64:
        for delivery in taken(self._pipeline, self._decoder) or []:
            self._lowest[int(delivery.id)] = NONE if delivery.new is None else delivery.new
            self.told += 1
        return self._lowest

    def close(self) -> None:
        """Nothing was started."""


if __name__ == "__main__":
    main(TidewireChain, ViewWorkload.load)
