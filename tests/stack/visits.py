"""A second table of a database: its key never changes and it is never emptied, so its topic may have partitions."""

from __future__ import annotations

import json
import random

from catalog.types.column_type import JsonValue
from tests.stack.postgres import Postgres

MADE = "CREATE TABLE visit (place text, no int, n bigint, note text, PRIMARY KEY (place, no))"
OURS = """CREATE TABLE visit (place VARCHAR, no INTEGER, n BIGINT, note VARCHAR, PRIMARY KEY (place, no))
  WITH ('topic'='{topic}', 'format'='debezium-json')"""
TRUTH = "SELECT json_build_array(place, no, n, note) FROM visit"
PLACES = ["here", "there", "café", "Ω"]


class Visits:
    """Statements; the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._choose = random.Random(seed)

    def next(self) -> str:
        """Return one more statement."""
        choose = self._choose
        place, no = choose.choice(PLACES), choose.randrange(25)
        where = f"place = '{place}' AND no = {no}"
        chance = choose.random()
        if chance < 0.1:
            return f"DELETE FROM visit WHERE {where}"
        if chance < 0.6:
            return f"UPDATE visit SET n = {choose.randrange(1_000_000)} WHERE {where}"
        note = choose.choice(["NULL", "'x'", f"repeat('note {choose.randrange(100)} ', 500)"])
        row = f"'{place}', {no}, {choose.randrange(1_000)}, {note}"
        return f"INSERT INTO visit VALUES ({row}) ON CONFLICT (place, no) DO UPDATE SET note = excluded.note"


def truth(database: Postgres) -> list[list[JsonValue]]:
    """Return what the database holds."""
    return sorted(json.loads(row[0]) for row in database.sql(TRUTH))
