"""A table of notes about trades, as Debezium tells it, and questions that join it; and first rows of trades.

Notes come, change and go, get other keys, stand under others or none, and now and then all of them go at once.
"""

from __future__ import annotations

import json
from typing import Any

from connectors.record import OutRecord
from connectors.topics import Topics
from tests.stack.source import Source
from tests.stack.trades import FIRST, SECTORS

NOTE = """CREATE TABLE note (id INTEGER PRIMARY KEY, trade BIGINT, chief INTEGER, sector VARCHAR, mark DECIMAL(6,1))
  WITH ('format'='debezium-json', 'decimal'='string')"""
ABOUT = "trade t JOIN note n ON t.id = n.trade"
JOINED = [
    f"SELECT t.id, t.price, n.sector FROM {ABOUT} WHERE t.risk BETWEEN {{low}} AND {{high}}",
    f"SELECT t.sector, n.id FROM {ABOUT} AND t.sector = n.sector WHERE (n.mark > {{low}} OR n.mark IS NULL)",
    f"SELECT n.id, t.qty FROM {ABOUT} WHERE n.sector = '{{sector}}' NOTIFY LATEST",
    f"SELECT n.mark, t.price FROM {ABOUT} WHERE t.risk > {{low}} DELIVER PACKED",
    "SELECT a.id, b.sector, b.mark FROM note a JOIN note b ON a.chief = b.id WHERE a.mark >= {low}",
    "SELECT a.sector, b.id FROM note a JOIN note b ON a.chief = b.chief AND a.sector = b.sector SNAPSHOT NONE",
    "SELECT t.id, n.mark FROM note n JOIN trade t ON n.mark = t.risk WHERE t.venue <> 2 TTL 60 SECONDS",
    f"SELECT t.price, n.id, o.sector FROM {ABOUT} JOIN note o ON n.chief = o.id WHERE t.risk < {{high}}",
    f"SELECT * FROM {ABOUT} JOIN note o ON o.trade = t.id WHERE o.sector >= '{{sector}}' AND t.risk > {{low}}",
    f"SELECT t.price, n.id, m.stars FROM {ABOUT} JOIN memo m ON m.id = n.chief WHERE t.risk > {{low}}",
]


class Notes(Source):
    """Notes, `most` at a time, about trades below `trades`; the same for the same seed."""

    name = "note"

    def __init__(self, seed: int, topics: Topics, most: int, trades: int) -> None:
        super().__init__(seed, topics)
        self._most, self._trades = most, trades
        self._rows: dict[int, dict[str, Any]] = {}
        self._lsn = 0

    def next(self) -> OutRecord:
        """Return what happens next."""
        choose = self._choose
        id, action = choose.randrange(self._most), choose.random()
        old, row = self._rows.get(id), self._note(id)
        if action < 0.5 / self._most:
            self._rows = {}
            return self._record("t", None, None)
        if old is not None and action < 0.1:
            del self._rows[id]
            return self._record("d", old, None)
        if old is not None and action < 0.2:
            row["id"] = choose.choice([other for other in range(self._most + 1) if other not in self._rows])
            del self._rows[id]
        self._rows[row["id"]] = row
        return self._record("c" if old is None else "u", old, row)

    def ask(self) -> dict[str, Any]:
        """Return what a record of `subscriptions` says, in most cases over a join."""
        sql = self._choose.choice(JOINED if self._choose.random() < 0.7 else FIRST)
        low = round(self._choose.uniform(-5, 95), 1)
        high = round(low + self._choose.uniform(0, 20), 1)
        sector = self._choose.choice(SECTORS)
        return {"sql": sql.format(low=low, high=high, sector=sector, count=self._choose.randrange(1, 6))}

    def _note(self, id: int) -> dict[str, Any]:
        choose = self._choose
        return {
            "id": id,
            "trade": None if choose.random() < 0.1 else choose.randrange(self._trades),
            "chief": None if choose.random() < 0.2 else choose.randrange(self._most),
            "sector": choose.choice([*SECTORS, None]),
            "mark": None if choose.random() < 0.1 else f"{choose.randrange(1000) / 10:.1f}",
        }

    def _record(self, op: str, before: dict[str, Any] | None, after: dict[str, Any] | None) -> OutRecord:
        self.sent += 1
        self._lsn += 1
        said = {"op": op, "before": before, "after": after, "source": {"lsn": self._lsn}}
        ids = {row["id"] for row in (before, after) if row is not None}
        key = json.dumps({"id": ids.pop()}).encode() if len(ids) == 1 else None
        return OutRecord("note", 0, key, json.dumps(said).encode())
