"""A stream of ticks with the time at which each happened, views of it, and questions about them that become final.

Ticks come about in order, some seconds early or late, and now and then one that is too late. Time goes on with them.

minutes          of each desk and minute the lowest and highest price, and how many ticks there were
noted_minutes    minutes with the note of that number: a view of a stream and a table, in a cell of both
per_desk         what the noted minutes of a desk come to
"""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

from connectors.record import OutRecord
from connectors.topics import Topics
from tests.stack.source import Source

TICK = """CREATE STREAM tick (desk VARCHAR, price INTEGER, ts TIMESTAMP)
  WITH ('topic'='tick', 'event_time'='ts', 'lateness'='30 s')"""
MINUTES = """
CREATE VIEW minutes AS SELECT desk, DATE_TRUNC('minute', ts) AS minute, MIN(price) AS low, MAX(price) AS high,
  COUNT(*) AS n FROM tick GROUP BY desk, DATE_TRUNC('minute', ts);
CREATE VIEW noted_minutes AS SELECT m.desk, m.minute, m.n, m.high, n.mark
  FROM minutes m JOIN note n ON n.id = m.high;
CREATE VIEW per_desk AS SELECT desk, SUM(n) AS n, MAX(mark) AS mark FROM noted_minutes GROUP BY desk
"""
"""Needs the stream `tick` and the table `note`."""
DESKS = ["a", "b", "c", "Ω"]
BEGIN = dt.datetime(2026, 3, 2, 10)
EARLY_OR_LATE = 12.0
ASKED = [
    "SELECT MAX(high) FROM minutes WHERE desk = '{desk}' AND minute = TIMESTAMP '{minute}'",
    "SELECT SUM(n) FROM minutes WHERE minute <= TIMESTAMP '{minute}' NOTIFY FINAL",
    "SELECT desk, low, n FROM minutes WHERE minute = TIMESTAMP '{minute}'",
    "SELECT desk, high FROM minutes WHERE minute = TIMESTAMP '{minute}' ORDER BY high DESC, desk, minute LIMIT 2",
    "SELECT COUNT(*) FROM minutes WHERE minute > TIMESTAMP '{minute}' NOTIFY LATEST",
    "SELECT desk, mark FROM noted_minutes WHERE minute = TIMESTAMP '{minute}'",
    "SELECT MAX(mark) FROM noted_minutes WHERE desk = '{desk}' AND minute > TIMESTAMP '{minute}'",
    "SELECT n, mark FROM per_desk WHERE desk = '{desk}' NOTIFY LATEST",
]


class Ticks(Source):
    """Ticks and questions; the same for the same seed. `a_minute` ticks are a minute of their own time."""

    name = "tick"

    def __init__(self, seed: int, topics: Topics, a_minute: int, most: int) -> None:
        super().__init__(seed, topics)
        self._seconds = 60 / a_minute
        self._most = most

    def next(self) -> OutRecord:
        """Return what happens next; one in 500 is long over."""
        choose = self._choose
        self.sent += 1
        second = self.sent * self._seconds + choose.uniform(-EARLY_OR_LATE, EARLY_OR_LATE)
        ts = BEGIN + dt.timedelta(seconds=max(0.0, second - (600 if choose.random() < 0.002 else 0)))
        row = {"desk": choose.choice([*DESKS, None]), "price": choose.choice([None, choose.randrange(self._most)])}
        return OutRecord("tick", None, None, json.dumps(row | {"ts": ts.isoformat()}).encode())

    def ask(self, within: int = 60) -> dict[str, Any]:
        """Return what a record of `subscriptions` says, about one of the first `within` minutes."""
        choose = self._choose
        minute = BEGIN + dt.timedelta(minutes=choose.randrange(within))
        said = choose.choice(ASKED).format(desk=choose.choice(DESKS), minute=minute)
        return {"sql": said} | choose.choice([{}, {}, {"deliver": "packed"}, {"ttl": 90}])
