"""Departures hour by hour: a stream, whose answers become final when their hours are over.

Each flight that leaves New York (`flights`) is a row, which its airport reports within ten minutes, to a partition of
its own. One in a hundred is reported an hour and a half later, which is too late for everybody. Each day from noon to
eight in the evening the line to JFK is down, and what it would have reported comes at eight. None of that is late, for
only rows of JFK make others of JFK late; so no hour of any airport can be over meanwhile, and the stream says for which
partition it waits. After the last departure nothing comes any more, which somebody has to say: then all is final.

There is no 'idle' time: it is said of clocks as they go, and these departures were in 2013.
"""

from __future__ import annotations

import datetime as dt
import random
from typing import Any

from tidewire.client.records import Delivery
from tidewire.demo import flights
from tidewire.demo.pace import AsItHappened
from tidewire.demo.story import SEED, Event, Family, Story, ask

STREAM = "departure"
DDL = """
CREATE STREAM departure (
  origin VARCHAR NOT NULL,    -- EWR, JFK or LGA
  dest VARCHAR,
  carrier VARCHAR,
  delay INTEGER,              -- in minutes; early ones are negative
  left_at TIMESTAMP
) WITH ('topic'='demo.departure', 'format'='json', 'event_time'='left_at', 'lateness'='15 min');
CREATE VIEW hourly AS
  SELECT origin, DATE_TRUNC('hour', left_at) AS hour, MIN(delay) AS low, MAX(delay) AS high,
    LATEST(dest BY left_at) AS latest, COUNT(*) AS flights
  FROM departure GROUP BY origin, DATE_TRUNC('hour', left_at);
CREATE VIEW daily AS
  SELECT DATE_TRUNC('day', hour) AS day, MIN(low) AS low, MAX(high) AS high
  FROM hourly GROUP BY DATE_TRUNC('day', hour)
"""
_LATENESS = dt.timedelta(minutes=15)
_REPORTED = 10.0
"""Within how many minutes."""
_STRAGGLERS, _STRAGGLE = 0.01, 90.0
_CUT_OFF, _DOWN = "JFK", (12 * 60, 20 * 60)
"""Whose line is down, and when, in minutes of the day."""
_DAY = 24 * 60
_BUSY = (5, 24)
"""The hours of a day in which flights leave."""


def hours_story(days: int, subscriptions: int, pace: AsItHappened) -> Story:
    """Return the departures of `days` days and what is asked of them. Cost: as `flights.flown`. Raises DataMissing."""
    happened = departures(days, pace.first)
    over = dt.datetime.combine(pace.first, dt.time()) + dt.timedelta(days=days)
    return Story(
        "departures from New York by hours",
        f"{len(happened):,} departures, each airport to a partition of its own ({', '.join(flights.ORIGINS)})",
        DDL,
        happened,
        questions(subscriptions, days, pace.first),
        pace,
        claim=FinalOnce(),
        partitions=len(flights.ORIGINS),
        silences={STREAM: over + _LATENESS},
    )


def departures(days: int, first: dt.date) -> list[Event]:
    """Return the departures of `days` days in the order in which they are reported. Raises DataMissing."""
    choose = random.Random(SEED)
    midnight = dt.datetime.combine(first, dt.time())
    reported: list[tuple[float, dict[str, Any]]] = []
    for _, left, flight in flights.flown(days, first):
        row = {"origin": flight.origin, "dest": flight.dest, "carrier": flight.carrier}
        row |= {"delay": int(flight.dep_delay), "left_at": left}
        straggle = _STRAGGLE if choose.random() < _STRAGGLERS else 0.0
        minute = (left - midnight).total_seconds() / 60 + choose.uniform(0, _REPORTED) + straggle
        reported.append((minute, row))
    in_order = [_event(minute, row) for minute, row in sorted(reported, key=lambda one: one[0])]
    return sorted(in_order, key=lambda event: event.minute)


def _event(minute: float, row: dict[str, Any]) -> Event:
    """Return a report: what JFK has to say while its line is down comes when it is up again."""
    day, within = divmod(minute, _DAY)
    down, up = _DOWN
    if row["origin"] == _CUT_OFF and down <= within < up:
        minute = day * _DAY + up
    return Event(minute, STREAM, {}, row, flights.ORIGINS.index(row["origin"]))


class FinalOnce:
    """Each answer about hours that end becomes final, once, and nothing is told of it afterwards."""

    def __init__(self) -> None:
        self._due: set[str] = set()
        self._final: set[str] = set()
        self.afterwards: list[Delivery] = []

    def told(self, delivery: Delivery) -> None:
        """Note who is told when it will be final, and who that it is."""
        if delivery.final_at is not None:
            self._due.add(delivery.id)
        if delivery.id in self._final and delivery.kind != "ended":
            self.afterwards.append(delivery)
        elif delivery.kind == "final":
            self._final.add(delivery.id)

    def rows(self) -> list[tuple[str, Any]]:
        """Return how many answers are final, of those that can be, and what was told of them later."""
        return [
            ("final answers", f"{len(self._final):,} of {len(self._due):,}"),
            ("told after that", f"{len(self.afterwards):,}"),
        ]

    @property
    def holds(self) -> bool:
        """Whether all are final that can be."""
        return bool(self._final) and self._final == self._due and not self.afterwards


def questions(count: int, days: int, first: dt.date) -> dict[str, str]:
    """Return `count` subscriptions by id: in turn one of each family, about hours of `days` days."""
    return ask(families(days, first), count)


def families(days: int, first: dt.date) -> tuple[Family, ...]:
    """Return what is asked about hours of `days` days; the last of them is never final, the last but one told once."""
    begin = dt.datetime.combine(first, dt.time())

    def hour(choose: random.Random, most: int = _BUSY[1]) -> dt.datetime:
        return begin + dt.timedelta(days=choose.randrange(days), hours=choose.randrange(_BUSY[0], most))

    def highest(choose: random.Random) -> tuple[str, str]:
        """The highest delay of an hour at an airport: it only rises, and then it is final."""
        origin, when = choose.choice(flights.ORIGINS), hour(choose)
        return f"highest {origin} {when:%d. %H}h", f"SELECT MAX(high) FROM hourly WHERE {_at(origin, when)}"

    def airports(choose: random.Random) -> tuple[str, str]:
        """An hour at all airports, as rows."""
        when = hour(choose)
        sql = f"SELECT origin, low, high, latest, flights FROM hourly WHERE hour = {_written(when)}"
        return f"airports {when:%d. %H}h", sql

    def lowest(choose: random.Random) -> tuple[str, str]:
        """The lowest delay of some hours at an airport."""
        origin, when = choose.choice(flights.ORIGINS), hour(choose, _BUSY[1] - 3)
        last = when + dt.timedelta(hours=choose.randint(1, 3))
        between = f"hour BETWEEN {_written(when)} AND {_written(last)}"
        sql = f"SELECT MIN(low) FROM hourly WHERE origin = '{origin}' AND {between}"
        return f"lowest {origin} {when:%d. %H}-{last:%H}h", sql

    def day(choose: random.Random) -> tuple[str, str]:
        """The least and the greatest delay of a day, by a view of the view: one falls, the other rises."""
        when = begin + dt.timedelta(days=choose.randrange(days))
        return f"day {when:%d.}", f"SELECT MIN(low), MAX(high) FROM daily WHERE day = {_written(when)}"

    def once(choose: random.Random) -> tuple[str, str]:
        """How many flights left in an hour, told when there are no more."""
        when = hour(choose)
        return f"once {when:%d. %H}h", f"SELECT SUM(flights) FROM hourly WHERE hour = {_written(when)} NOTIFY FINAL"

    def bad(choose: random.Random) -> tuple[str, str]:
        """The bad hours of an airport: of no hours that end, and so open for ever."""
        origin, least = choose.choice(flights.ORIGINS), choose.randrange(60, 300, 20)
        sql = f"SELECT hour, high FROM hourly WHERE origin = '{origin}' AND high > {least}"
        return f"over {least} {origin}", sql

    return highest, airports, lowest, day, once, bad


def _at(origin: str, hour: dt.datetime) -> str:
    return f"origin = '{origin}' AND hour = {_written(hour)}"


def _written(time: dt.datetime) -> str:
    return f"TIMESTAMP '{time}'"
