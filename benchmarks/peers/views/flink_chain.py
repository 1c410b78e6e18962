"""Flink SQL by PyFlink: the chain as views of SQL, and a streaming join of questions and its last view.

As `flink_job.py` says: both tables are streams of changes, all of which are given at once.

A few extra flights, each with bookings of its own, change last of all in both tables, and extra questions ask for them;
all changes are through when these have been told.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pyflink.table import TableResult

from benchmarks.peers.flink_job import FIXED, PRINTED, STREAM, environment, event
from benchmarks.peers.flink_lowest import FlinkLowest
from benchmarks.peers.views.workload import AVAILABLE, BEST, TOTAL, Changes, ViewWorkload
from benchmarks.peers.worker import main

SENTINELS = 16
MANY = 10**6
TABLES = {
    "flights": "flight BIGINT, dest BIGINT, fare BIGINT, seats BIGINT",
    "booked": "id BIGINT, flight BIGINT, n BIGINT",
}
CHEAPEST = (
    "SELECT flight, dest, fare, seats_left FROM (SELECT *, ROW_NUMBER() OVER "
    f"(PARTITION BY dest ORDER BY fare, flight) AS place FROM available) WHERE place <= {BEST}"
)
QUESTION = (
    "INSERT INTO answer SELECT q.number, MIN(c.fare) FROM asked q JOIN cheapest c "
    "ON c.dest = q.dest AND c.seats_left BETWEEN q.lo AND q.hi GROUP BY q.number"
)
Row = dict[str, int]
Events = Iterable[tuple[Row | None, Row | None]]


class FlinkChain(FlinkLowest):
    """The job of the chain."""

    def __init__(self, workload: ViewWorkload, folder: Path) -> None:
        super().__init__(folder, (*TABLES, "asked"), len(workload.asked.dest), 2 * SENTINELS)
        self._workload, self._fare = workload, workload.flights.fare.tolist()
        self._ask()
        self._job = self._start()
        fares: Events = ((None, self._flight(number, fare)) for number, fare in enumerate(self._fare))
        self.take(self._written(0, fares, ((None, self._booking(number)) for number in range(workload.held))))
        self.answers()
        self.told = 0

    def _ask(self) -> None:
        """Write what is asked; behind it the extra ones, which hold once an extra flight has changed so often."""
        asked = [*zip(*(each.tolist() for each in self._workload.asked), strict=True)]
        asked += [(-1 - i, MANY - 1 - times, MANY - 1 - times) for times in range(2) for i in range(SENTINELS)]
        with (self._folder / "asked" / "all.csv").open("w", encoding="utf-8") as file:
            file.writelines(f"{number},{dest},{lo},{hi}\n" for number, (dest, lo, hi) in enumerate(asked))

    def _start(self) -> TableResult:
        tables = environment()
        for name, columns in TABLES.items():
            tables.execute_sql(f"CREATE TABLE {name} ({columns}) {STREAM.format(self._folder / name)}")
        asked = "number BIGINT, dest BIGINT, lo BIGINT, hi BIGINT"
        tables.execute_sql(f"CREATE TABLE asked ({asked}) {FIXED.format(self._folder / 'asked')}")
        tables.execute_sql(f"CREATE TABLE answer (number BIGINT, lowest BIGINT) {PRINTED}")
        for name, query in (("total", TOTAL), ("available", AVAILABLE), ("cheapest", CHEAPEST)):
            tables.execute_sql(f"CREATE TEMPORARY VIEW {name} AS {query}")
        return tables.execute_sql(QUESTION)

    def _flight(self, flight: int, fare: int) -> Row:
        of = self._workload.flights
        return {"flight": flight, "dest": int(of.dest[flight]), "fare": fare, "seats": int(of.seats[flight])}

    def _booking(self, booking: int) -> Row:
        of = self._workload.bookings
        return {"id": booking, "flight": int(of.flight[booking]), "n": int(of.n[booking])}

    def _written(self, times: int, flights: Events, bookings: Events) -> int:
        """Write the files of changes, with those of the extra rows at their ends; return how often these changed."""
        first, extra = len(self._fare), range(SENTINELS)
        rows = [[{"flight": first + i, "dest": -1 - i, "fare": at, "seats": MANY} for at in (0, 1)] for i in extra]
        ends = [(row[0] if times else None, row[times]) for row in rows]
        known = len(self._workload.bookings.n) + times * SENTINELS
        seats: Events = [(None, {"id": known + i, "flight": first + i, "n": 1}) for i in extra]
        for name, events in (("flights", [*flights, *ends]), ("booked", [*bookings, *seats])):
            with (self._folder / "next" / f"{name}-{times}").open("w", encoding="utf-8") as file:
                file.writelines(event(before, after) for before, after in events)
        return times

    def prepare(self, changes: Changes) -> int:
        """Write the files of all changes."""
        flights, bookings = [], []
        columns = zip(changes.number.tolist(), changes.fare.tolist(), changes.ends.tolist(), strict=True)
        for number, fare, ends in columns:
            if fare >= 0:
                flights.append((self._flight(number, self._fare[number]), self._flight(number, fare)))
                self._fare[number] = fare
            else:
                booking = self._booking(number)
                bookings.append((booking, None) if ends else (None, booking))
        return self._written(1, flights, bookings)

    def take(self, prepared: int) -> None:
        for name in TABLES:
            (self._folder / "next" / f"{name}-{prepared}").rename(self._folder / name / str(prepared))
        first = self._count + prepared * SENTINELS
        self._wait(slice(first, first + SENTINELS), prepared)


if __name__ == "__main__":
    main(FlinkChain, ViewWorkload.load)
