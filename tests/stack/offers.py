"""Offers that choose their subscribers, with ranges on both sides, and questions of people about them.

Offers come, change in a column or in all, move from one audience to another, and go. Who asks is of an age and of a
region; some ask the same and are others, and some are what no offer is for.
"""

from __future__ import annotations

from typing import Any

from connectors.json.writer import encode_key, encode_row
from connectors.record import OutRecord
from connectors.topics import Topics
from tests.stack.source import Source
from tests.stack.trades import relation_of

OFFER = """CREATE TABLE offer (id INTEGER PRIMARY KEY, price NUMRANGE(8,2), valid TSRANGE, days DATERANGE, rank INTEGER,
  for_age INT4RANGE, for_region VARCHAR)
  WITH ('audience'='age:for_age, region:for_region', 'null.range'='everything', 'absent'='keep')"""
OFFERS = 150
REGIONS = ["north", "south", "Ω"]
ASKED = [
    "SELECT id, price FROM offer WHERE price && '[{low},{high})' AND valid @> TIMESTAMP '{at}'",
    "SELECT id, for_age, for_region FROM offer WHERE price && '[{low},{high})' NOTIFY TRANSITIONS",
    "SELECT id FROM offer WHERE days <@ '[{day},2026-12-20]' OR valid @> TIMESTAMP '{at}' NOTIFY ENTER",
    "SELECT rank, lower(price), upper(price) FROM offer WHERE NOT price @> {low} AND rank < 5 NOTIFY LATEST",
    "SELECT * FROM offer WHERE price = '[{low},{high})' OR days = '(,)' AND rank = {rank}",
    "SELECT COUNT(*), SUM(rank) FROM offer WHERE valid && '[{at},)' AND days @> DATE '{day}' {given} NOTIFY LATEST",
    "SELECT AVG(rank) FROM offer WHERE isempty(days) OR price @> {low}",
    "SELECT id FROM offer WHERE upper(days) > DATE '{day}' AND days && '[{day},2026-12-20)' {given} DELIVER PACKED",
]
"""Where `{given}` is not, the attributes stand at the end or beside the SQL."""


class Offers(Source):
    """Offers, and people who ask for them; the same for the same seed."""

    name = "offer"

    def __init__(self, seed: int, topics: Topics) -> None:
        super().__init__(seed, topics)
        self._relation = relation_of(OFFER, "offer")
        self._there: set[int] = set()

    def next(self) -> OutRecord:
        """Return what happens next."""
        self.sent += 1
        choose, id = self._choose, self._choose.randrange(OFFERS)
        key = encode_key(self._relation, {"id": id})
        if id in self._there and choose.random() < 0.12:
            self._there.discard(id)
            return OutRecord("offer", None, key, None)
        row = self._offer()
        if id in self._there and choose.random() < 0.7:
            kept = choose.sample(sorted(row), choose.choice([1, 1, 2]))
            row = {name: row[name] for name in kept}
        self._there.add(id)
        return OutRecord("offer", None, key, encode_row(self._relation, {"id": id} | row))

    def ask(self) -> dict[str, Any]:
        """Return what a record of `subscriptions` says; attributes stand in the SQL or beside it."""
        choose = self._choose
        low = choose.randrange(0, 60)
        bounds = {"low": low, "high": low + choose.randrange(1, 30), "rank": choose.randrange(8)}
        moment = {"at": f"2026-12-{choose.randrange(1, 20):02} 18:30:00", "day": self._day()}
        age, region = choose.choice([None, 5, 17, 18, 31, 65, 70]), choose.choice([*REGIONS, "west", None])
        sql = choose.choice(ASKED)
        beside = "{given}" not in sql and choose.random() < 0.5
        given = f"ATTRIBUTES (age = {_literal(age)}, region = {_literal(region)})"
        if "{given}" not in sql and not beside:
            head, notify, policy = sql.partition(" NOTIFY ")
            sql = f"{head} {{given}}{notify}{policy}"
        said = {"sql": sql.format(**bounds, **moment, given=given)}
        return said | {"attributes": {"age": age, "region": region}} if beside else said

    def _offer(self) -> dict[str, Any]:
        choose = self._choose
        low, age = choose.randrange(0, 60), choose.choice([0, 17, 18, 31])
        first, last = sorted([self._day(), self._day()])
        return {
            "price": choose.choice([f"[{low},{low + choose.randrange(1, 30)})", f"({low}.5,)", f"(,{low}]", None]),
            "valid": choose.choice([f"[{first},{last} 18:30:00]", f"({first} 18:30:00,)", "empty", "(,)"]),
            "days": choose.choice([f"[{first},{last}]", f"(,{last})", "empty", None]),
            "rank": choose.choice([None, *range(8)]),
            "for_age": choose.choice([f"[{age},65]", f"(,{age})", f"[{age},{age}]", "empty", None]),
            "for_region": choose.choice([*REGIONS, None]),
        }

    def _day(self) -> str:
        return f"2026-12-{self._choose.randrange(1, 20):02}"


def _literal(value: int | str | None) -> str:
    return "NULL" if value is None else f"'{value}'" if isinstance(value, str) else str(value)
