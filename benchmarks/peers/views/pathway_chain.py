"""Pathway: its incremental engine keeps the chain, and the join of questions and its last view.

One worker thread. Rows come through Python subjects in upsert mode, which have no delete that its documentation knows,
so a booking that ends becomes one of no seats. Each batch is one commit of either table: the changes of answers between
two batches are told, not those in between. An extra flight costs as much as the number of the batch, with a booking
of as many seats; for each batch an extra question asks for it as it is then, and the batch is through when that is told.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pathway as pw

from benchmarks.peers.pathway_engine import Feed, finish, start
from benchmarks.peers.views.workload import BEST, Changes, ViewWorkload
from benchmarks.peers.worker import main
from benchmarks.peers.workload import I64, NONE

MANY = 10**6
Rows = list[dict[str, int]]


class Flight(pw.Schema):
    """The flights, by number."""

    flight: int = pw.column_definition(primary_key=True)
    dest: int
    fare: int
    seats: int


class Booked(pw.Schema):
    """The bookings, by number."""

    id: int = pw.column_definition(primary_key=True)
    flight: int
    n: int


class Question(pw.Schema):
    """What is asked, by number."""

    number: int = pw.column_definition(primary_key=True)
    dest: int
    lo: int
    hi: int


class PathwayChain:
    """The engine runs in a thread of its own until the process ends."""

    whole = False

    def __init__(self, workload: ViewWorkload, folder: Path) -> None:
        self._workload, self._batch, self.told = workload, 0, 0
        batches = len([*workload.batches()]) + 1
        self._count = len(workload.asked.dest)
        self._lowest = np.full(self._count + batches + 1, NONE, np.int64)
        extra = [(-1, MANY - batch, MANY - batch) for batch in range(batches + 1)]
        asked = [*zip(*(each.tolist() for each in workload.asked), strict=True), *extra]
        questions = pw.debug.table_from_rows(Question, [(i, *each) for i, each in enumerate(asked)])
        self._flights, self._booked = Feed(), Feed()
        self._moments = start(self._answered(questions), self._change)
        flights = [self._flight(flight, fare) for flight, fare in enumerate(workload.flights.fare.tolist())]
        self.take((flights, [self._booking(booking) for booking in range(workload.held)]))
        self.told = 0

    def _answered(self, questions: Any) -> Any:
        """Return the answers: of a destination the cheapest are one tuple, which meets all that ask for it."""
        flights = pw.io.python.read(self._flights, schema=Flight, autocommit_duration_ms=None)
        booked = pw.io.python.read(self._booked, schema=Booked, autocommit_duration_ms=None)
        total = booked.groupby(booked.flight).reduce(booked.flight, taken=pw.reducers.sum(booked.n))
        joined = flights.join_left(total, flights.flight == total.flight)
        left = flights.seats - pw.coalesce(total.taken, 0)
        available = joined.select(flights.flight, flights.dest, flights.fare, left=left).filter(pw.this.left >= 1)
        ranked = available.groupby(available.dest).reduce(
            available.dest,
            best=pw.reducers.sorted_tuple(pw.make_tuple(available.fare, available.flight, available.left)),
        )
        cheapest = ranked.select(
            pw.this.dest, best=pw.apply_with_type(lambda all: tuple(all[:BEST]), tuple, pw.this.best)
        )
        met = questions.join(cheapest, questions.dest == cheapest.dest)
        lowest = pw.apply_with_type(_lowest, int, cheapest.best, questions.lo, questions.hi)
        return met.select(questions.number, lowest=lowest)

    def _change(self, key: object, row: dict[str, Any], time: int, is_addition: bool) -> None:
        if is_addition:
            self._lowest[row["number"]] = row["lowest"]
            self.told += 1

    def _flight(self, flight: int, fare: int) -> dict[str, int]:
        of = self._workload.flights
        return {"flight": flight, "dest": int(of.dest[flight]), "fare": fare, "seats": int(of.seats[flight])}

    def _booking(self, booking: int, ended: bool = False) -> dict[str, int]:
        of = self._workload.bookings
        return {"id": booking, "flight": int(of.flight[booking]), "n": 0 if ended else int(of.n[booking])}

    def prepare(self, changes: Changes) -> tuple[Rows, Rows]:
        """Return what is left of a batch."""
        came, ended = changes.bookings()
        rows = [*map(self._booking, came), *(self._booking(each, True) for each in ended)]
        return [self._flight(*each) for each in changes.fares().items()], rows

    def take(self, prepared: tuple[Rows, Rows]) -> None:
        self._batch += 1
        flights, bookings = prepared
        extra = len(self._workload.flights.dest)
        self._flights.inbox.put([*flights, {"flight": extra, "dest": -1, "fare": self._batch, "seats": MANY}])
        self._booked.inbox.put([*bookings, {"id": len(self._workload.bookings.n), "flight": extra, "n": self._batch}])
        while self._lowest[self._count + self._batch] != self._batch:
            self._moments.get()

    def answers(self) -> I64:
        return self._lowest[: self._count]

    def close(self) -> None:
        """Nothing to end: see `finish`."""


def _lowest(best: tuple[tuple[int, int, int], ...], lo: int, hi: int) -> int:
    return min((fare for fare, _, left in best if lo <= left <= hi), default=NONE)


if __name__ == "__main__":
    main(PathwayChain, ViewWorkload.load)
    finish()
