"""A world for the model of the protocol: what three publishers will have said when all is said, and what follows of it.

F        flights: seats, price                          Total[flight] = SUM(n)       High[hour] = MAX(n)
B0, B1   bookings: flight, n                            Available[flight] = seats - Total, price
                                                        Cheapest = first 2 of Available with a seat left
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

FLIGHTS, HOURS, K = 4, 3, 2
BOOKED = ("B0", "B1")
Event = tuple[int, ...]


@dataclass(frozen=True)
class World:
    """By domain the events of its ticks, None for silence; and what is true of all of them."""

    log: dict[str, list[Event | None]]

    @classmethod
    def drawn(cls, rng: Random) -> World:
        flights: list[Event | None] = [None] * rng.randint(FLIGHTS, 7)
        for flight, tick in enumerate(rng.sample(range(len(flights)), FLIGHTS)):
            flights[tick] = flight, rng.randint(1, 4), rng.randint(0, 2)
        log = {"F": flights}
        for domain in BOOKED:
            bookings = [(rng.randrange(FLIGHTS), rng.randint(1, 2)) for _ in range(rng.randint(3, 9))]
            log[domain] = [booking if rng.random() < 0.7 else None for booking in bookings]
        return cls(log)

    def end(self, domain: str) -> int:
        return len(self.log[domain])

    def hour(self, domain: str, tick: int) -> int:
        return tick * HOURS // self.end(domain)

    def hour_end(self, domain: str, hour: int) -> int:
        """Return the first tick behind an hour."""
        return max((tick + 1 for tick in range(self.end(domain)) if self.hour(domain, tick) <= hour), default=0)

    def _bookings(self) -> list[tuple[int, int, int]]:
        """Return hour, flight and number of each."""
        return [
            (self.hour(domain, tick), event[0], event[1])
            for domain in BOOKED
            for tick, event in enumerate(self.log[domain])
            if event is not None
        ]

    def total(self, flight: int) -> int:
        return sum(n for _, booked, n in self._bookings() if booked == flight)

    def high(self, hour: int) -> int | None:
        return max((n for at, _, n in self._bookings() if at == hour), default=None)

    def price(self, flight: int) -> int:
        return self._flight(flight)[2]

    def available(self, flight: int) -> int:
        return self._flight(flight)[1] - self.total(flight)

    def _flight(self, flight: int) -> Event:
        return next(event for event in self.log["F"] if event is not None and event[0] == flight)

    def cheapest(self) -> tuple[tuple[int, int], ...]:
        return tuple(sorted((self.price(f), f) for f in range(FLIGHTS) if self.available(f) >= 1)[:K])
