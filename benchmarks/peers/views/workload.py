"""The workload of views, as arrays: bookings of flights, and who asks what the cheapest flights with seats left cost.

    total      SELECT flight, SUM(n) AS taken FROM booked GROUP BY flight
    available  flight LEFT JOIN total, with seats - COALESCE(taken, 0) AS seats_left, where there are any
    cheapest   the three of the lowest fare to each destination, the lower number first among equals
    asked      SELECT MIN(fare) FROM cheapest WHERE dest = .. AND seats_left BETWEEN .. AND ..

Ten bookings a flight, fifty flights to a destination. Of the changes 5 % give a flight another fare, half of the others
are new bookings, half of them end one. Nothing is NULL but the total of a flight that nobody has booked. From seeds.

Workers in virtual environments of their own read it from a file: nothing but NumPy may be imported here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.peers.workload import I64, NONE

BOOKINGS_OF_A_FLIGHT = 10
FLIGHTS_TO_A_DESTINATION = 50
BEST = 3
TOTAL = "SELECT flight, SUM(n) AS taken FROM booked GROUP BY flight"
AVAILABLE = (
    "SELECT f.flight, f.dest, f.fare, f.seats - COALESCE(t.taken, 0) AS seats_left FROM flights f "
    "LEFT JOIN total t ON f.flight = t.flight WHERE f.seats - COALESCE(t.taken, 0) >= 1"
)
CHEAPEST = (
    "SELECT flight, dest, fare, seats_left FROM available "
    f"QUALIFY ROW_NUMBER() OVER (PARTITION BY dest ORDER BY fare, flight) <= {BEST}"
)


class Flights(NamedTuple):
    """Columns of all flights; a flight's number is its place."""

    dest: I64
    fare: I64
    seats: I64


class Bookings(NamedTuple):
    """Columns of bookings by their numbers, also of those that are yet to come."""

    flight: I64
    n: I64


class Asked(NamedTuple):
    """What is asked, by number: `seats_left` between lo and hi."""

    dest: I64
    lo: I64
    hi: I64


@dataclass(frozen=True, slots=True)
class Changes:
    """A batch: `number[i]` is a flight that costs `fare[i]` now where `fare[i] >= 0`; else a booking, new or ended."""

    number: I64
    fare: I64
    ends: I64

    def __len__(self) -> int:
        return len(self.number)

    def fares(self) -> dict[int, int]:
        """Return the last fare of each flight that has another."""
        which = np.flatnonzero(self.fare >= 0)
        return dict(zip(self.number[which].tolist(), self.fare[which].tolist(), strict=True))

    def bookings(self) -> tuple[list[int], list[int]]:
        """Return the bookings that came and stayed, and those that were there and ended."""
        of = self.fare < 0
        came = dict.fromkeys(self.number[of & (self.ends == 0)].tolist())
        ended = dict.fromkeys(self.number[of & (self.ends == 1)].tolist())
        return [each for each in came if each not in ended], [each for each in ended if each not in came]


@dataclass(frozen=True, slots=True)
class ViewWorkload:
    """Rows, what is asked, and all changes in order. Of `bookings` the first `held` are there at the beginning."""

    flights: Flights
    bookings: Bookings
    held: int
    asked: Asked
    changes: Changes
    batch: int

    @classmethod
    def make(cls, rows: int, questions: int, publications: int, batch: int, seed: int = 4) -> ViewWorkload:
        """Return the workload of a seed, with `rows` bookings: rows and changes are the same whatever is asked."""
        random = np.random.default_rng(seed)
        count = max(rows // BOOKINGS_OF_A_FLIGHT, 1)
        destinations = max(count // FLIGHTS_TO_A_DESTINATION, 1)
        tops = ((0, destinations), (50, 900), (5, 30))
        flights = Flights(*(random.integers(*top, count) for top in tops))
        size = rows + publications
        bookings = Bookings(random.integers(0, count, size), random.integers(1, 3, size))
        changes = _changes(random, count, rows, publications)
        lo = random.integers(1, 10, questions)
        hi = lo + random.integers(0, 20, questions)
        return cls(flights, bookings, rows, Asked(random.integers(0, destinations, questions), lo, hi), changes, batch)

    def batches(self) -> Iterator[Changes]:
        """Yield the changes in batches."""
        for start in range(0, len(self.changes), self.batch):
            place = slice(start, start + self.batch)
            yield Changes(*(getattr(self.changes, name)[place] for name in ("number", "fare", "ends")))

    def save(self, path: Path) -> None:
        """Write it to a file that `load` reads, in any environment."""
        of = self.changes
        np.savez(
            path,
            flights=np.stack(self.flights),
            bookings=np.stack(self.bookings),
            asked=np.stack(self.asked),
            changes=np.stack([of.number, of.fare, of.ends]),
            sizes=np.array([self.held, self.batch]),
        )

    @classmethod
    def load(cls, path: Path) -> ViewWorkload:
        """Read what `save` wrote."""
        with np.load(path) as of:
            held, batch = of["sizes"].tolist()
            parts = Flights(*of["flights"]), Bookings(*of["bookings"])
            return cls(*parts, held, Asked(*of["asked"]), Changes(*of["changes"]), batch)


def _changes(random: np.random.Generator, flights: int, rows: int, publications: int) -> Changes:
    alive, coming = list(range(rows)), rows
    found: list[tuple[int, int, int]] = []
    for kind, share in random.random((publications, 2)).tolist():
        if kind < 0.05:
            found.append((int(share * flights), int(random.integers(50, 900)), 0))
        elif kind < 0.525 or not alive:
            alive.append(coming)
            found.append((coming, -1, 0))
            coming += 1
        else:
            at = int(share * len(alive))
            alive[at], alive[-1] = alive[-1], alive[at]
            found.append((alive.pop(), -1, 1))
    return Changes(*np.array(found, np.int64).T)


class Recomputed:
    """The chain computed anew after each batch: what everybody must answer."""

    def __init__(self, workload: ViewWorkload) -> None:
        self._flights, self._bookings, self._asked = workload.flights, workload.bookings, workload.asked
        self._fare = workload.flights.fare.copy()
        self._there = np.arange(len(workload.bookings.n)) < workload.held

    def take(self, changes: Changes) -> None:
        """Apply changes."""
        for flight, fare in changes.fares().items():
            self._fare[flight] = fare
        came, ended = changes.bookings()
        self._there[came], self._there[ended] = True, False

    def answers(self) -> I64:
        """Return all answers."""
        flight, n = (column[self._there] for column in self._bookings)
        left = self._flights.seats - np.bincount(flight, n, len(self._fare)).astype(np.int64)
        order = np.lexsort((np.arange(len(left)), self._fare, self._flights.dest))
        order = order[left[order] >= 1]
        dest = self._flights.dest[order]
        place = np.arange(len(order)) - np.searchsorted(dest, dest)
        answers = np.full(len(self._asked.dest), NONE, np.int64)
        for rank in range(BEST - 1, -1, -1):
            best = order[place == rank]
            fare, seats = (np.full(self._flights.dest.max() + 1, value) for value in (NONE, -1))
            fare[self._flights.dest[best]], seats[self._flights.dest[best]] = self._fare[best], left[best]
            held = seats[self._asked.dest]
            met = (self._asked.lo <= held) & (held <= self._asked.hi)
            answers[met] = fare[self._asked.dest[met]]
        return answers
