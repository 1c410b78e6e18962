"""The naive engine over views: DuckDB runs the text of each view, and each question, before and after every record."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tests.tidewire.verification.asked_rows import AskedRows, Held
from tests.tidewire.verification.random_views import TABLES, Database, random_row, random_views
from tests.tidewire.verification.simulated_engine import Asked, Live
from tests.tidewire.verification.simulated_joins import PARTITIONS, SimulatedJoins
from tidewire.verification.records.journal import Record

TOPICS = {"p": "points", "q": "quotes"}


@dataclass(frozen=True)
class AskedOfView(Asked):
    """SELECT items FROM view [WHERE condition]; `aggregate` is the whole SELECT list."""

    view: str = "v"
    where: str = ""

    @property
    def sql(self) -> str:
        notify = f" NOTIFY {self.policy}" if self.policy else ""
        return f"SELECT {self.aggregate} FROM {self.view}{self.where}{notify}"

    def answer(self, rows: Any) -> Any:
        if not rows:
            return frozenset() if self.aggregate.startswith("DISTINCT") else ()
        found = rows.connection.execute(f"SELECT {self.aggregate} FROM {self.view}{self.where}").fetchall()
        if self.aggregate.startswith("DISTINCT"):
            return frozenset(json_value(value) for (value,) in found)
        return tuple(map(json_value, found[0]))

    def said(self, kind: str, old: Any, new: Any) -> dict[str, Any]:
        if isinstance(new, frozenset):
            return {"removed": in_order(old - new), "added": in_order(new - old)}
        old, new = (None if not one else one[0] if len(one) == 1 else list(one) for one in (old, new))
        return {"old": None if kind == "snapshot" else old, "new": None if kind == "ended" else new}


@dataclass(frozen=True)
class AskedRowsOfView(AskedRows):
    """SELECT shown FROM view [WHERE condition] [ORDER BY order LIMIT limit]."""

    view: str = "v"
    where: str = ""

    @property
    def sql(self) -> str:
        notify = f" NOTIFY {self.policy}" if self.policy else ""
        return f"{self._select}{notify}{' SNAPSHOT NONE' if self.bare else ''}"

    @property
    def _select(self) -> str:
        best = f" ORDER BY {self.order} LIMIT {self.limit}" if self.order else ""
        return f"SELECT {', '.join(self.shown)} FROM {self.view}{self.where}{best}"

    def answer(self, rows: Any) -> Held:
        found = rows.connection.execute(self._select).fetchall() if rows else []
        return Held({i: tuple(map(json_value, row)) for i, row in enumerate(found)}, bool(self.order))


def json_value(value: Any) -> Any:
    return format(value, "f") if isinstance(value, Decimal) else value


def in_order(values: frozenset[Any]) -> list[Any]:
    def place(value: Any) -> tuple[bool, Any]:
        number = not isinstance(value, str) or value.strip("-")[:1].isdigit()
        return value is not None, 0 if value is None else Fraction(value) if number else value

    return sorted(values, key=place)


class SimulatedViews(SimulatedJoins):
    """Publish, subscribe, declare views. What is not there yet is not asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.logs["catalog"][0].clear()
        for name, ddl in TABLES.items():
            self._append("catalog", 0, None, f"{ddl} WITH ('topic'='{TOPICS[name]}')".encode())
        self.begun = {(table, p): 0 for table in TOPICS for p in range(PARTITIONS)}

    def _forget(self) -> None:
        old = getattr(self, "database", None)
        self.database = Database({} if old is None else self.views)
        if old is None:
            self.views: dict[str, str] = {}
        self.rows = self.database  # type: ignore[assignment]

    def create(self, name: str, query: str) -> None:
        self._append("catalog", 0, None, f"CREATE VIEW {name} AS {query}".encode())
        self.views[name] = query
        self.database.create_view(name, query)

    def drop(self, name: str) -> None:
        """Drop a view that no other reads; what asks for it ends."""
        self._append("catalog", 0, None, f"DROP VIEW {name}".encode())
        for id, live in list((self.live | self.resyncing).items()):
            if live.asked.view == name:  # type: ignore[union-attr]
                self._end(id, "view dropped")
        for id in [id for id, live in self.waiting.items() if live.asked.view == name]:  # type: ignore[union-attr]
            self.unsubscribe(id)
        del self.views[name]
        self.database.connection.execute(f"DROP VIEW {name}")

    def _has_cell(self, live: Live) -> bool:
        """Views have theirs as soon as they are there."""
        return True

    def _apply_to(self, table: str, record: Record) -> None:
        if record.value is None:
            self.database.delete(table, json.loads(record.key or b"")["id"])
        else:
            self.database.put(table, json.loads(record.value))
        self._changed_by({"topic": TOPICS[table], "partition": record.partition, "offset": record.offset})


def random_question(choose: random.Random, view: str, rows: bool = False) -> AskedOfView | AskedRowsOfView:
    where = choose.choice(["", "", " WHERE n >= 1", " WHERE n BETWEEN 0 AND 1.5 AND g = 'u'", " WHERE g IS NULL"])
    policy = choose.choice(["", "", "LATEST"])
    if not rows and choose.random() < 0.5:
        items = choose.choice(
            ["MIN(n)", "MAX(n)", "COUNT(*)", "SUM(n)", "COUNT(n), SUM(n)", "DISTINCT n", "DISTINCT g"]
        )
        return AskedOfView(items, policy=policy, view=view, where=where)
    shown = choose.choice([("g", "n"), ("n",), ("g",)])
    return AskedRowsOfView(shown, policy=policy, bare=choose.random() < 0.15, view=view, where=where)


def simulate_views(seed: int, steps: int = 40, rows: bool = False) -> SimulatedViews:
    """Run a random history of questions of views; with `rows` of none but those that are answered by rows."""
    choose = random.Random(seed)
    engine = SimulatedViews()
    wanted = list(random_views(choose).items())
    for name, query in wanted[:1]:
        engine.create(name, query)
    for step in range(steps):
        action, table = choose.random(), choose.choice(list(TOPICS))
        if len(engine.views) < len(wanted) and (action < 0.1 or step == steps // 2):
            engine.create(*wanted[len(engine.views)])
        elif step < 2 or action < 0.15:
            engine.subscribe(choose.choice("abcd"), random_question(choose, choose.choice(list(engine.views)), rows))
        elif action < 0.65:
            engine.publish_row(table, random_row(choose, table), choose.choice([0, 0, 5]))
        elif action < 0.75:
            engine.delete_row(table, choose.randrange(4))
        elif action < 0.78:
            engine.begin_epoch()
        elif action < 0.8:
            engine.unsubscribe(choose.choice("abcd"))
        elif action < 0.82 and len(engine.views) > 1:
            name = list(engine.views)[-1]
            engine.drop(name)
        else:
            engine.run_batch(choose.randrange(6))
    engine.run_batch()
    engine.run_batch()
    return engine
