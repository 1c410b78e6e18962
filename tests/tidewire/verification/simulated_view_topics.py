"""The naive engine that writes views to topics: what DuckDB says before and after every record, as a plain record."""

from __future__ import annotations

import json
import random
from decimal import Decimal
from typing import Any
from zlib import crc32

from tests.tidewire.verification.random_views import random_row
from tests.tidewire.verification.simulated_views import TOPICS, SimulatedViews
from tidewire.verification.records.journal import Journal, Record, TopicLog

OUT_PARTITIONS = 3
VIEWS = {
    "v": ("SELECT g, MIN(x) AS low, COUNT(*) AS n FROM p GROUP BY g", ("g",)),
    "w": ("SELECT id, x, g FROM q WHERE x >= 1", ("id",)),
    "u": ("SELECT p.id, q.id AS other, p.g, q.z FROM p JOIN q ON p.g = q.g", ("id", "other")),
    "s": ("SELECT COUNT(*) AS n, SUM(y) AS total FROM p", ()),
}
Line = tuple[int, bytes, bytes | None, dict[str, Any]]
Rows = dict[bytes, bytes]


class SimulatedViewTopics(SimulatedViews):
    """Views written to topics of the names of the views, in capitals; `write` says that one begins, or is told again.

    lines: those of the batch that runs, by view. `broken`: how many records of each partition of the next batch were
    written before an engine died, whose place another one took.
    """

    def __init__(self) -> None:
        self.keys: dict[str, tuple[str, ...]] = {}
        self.lines: dict[str, list[Line]] = {}
        self.writing: dict[str, Rows] = {}
        self.wanted: set[str] = set()
        self.broken = 0
        super().__init__()

    def create_written(self, name: str, topic: str = "") -> None:
        """Declare one of VIEWS."""
        query, self.keys[name] = VIEWS[name]
        text = f"CREATE VIEW {name} WITH ('topic'='{topic or name.upper()}') AS {query}"
        self._append("catalog", 0, None, text.encode())
        self.views[name] = query
        self.database.create_view(name, query)

    def drop(self, name: str) -> None:
        self.writing.pop(name, None)
        self.wanted.discard(name)
        super().drop(name)

    def write(self, name: str) -> None:
        self.wanted.add(name)

    def begin_epoch(self) -> None:
        super().begin_epoch()
        self.wanted |= {*self.writing}
        self.writing = {}

    def rows_of(self, name: str) -> Rows:
        """Return the rows of a view as their records have them."""
        found = self.database.connection.execute(f"SELECT * FROM {name}")
        names = [one[0] for one in found.description or []]
        made: Rows = {}
        for row in found.fetchall():
            said = {
                column: format(v, "f") if isinstance(v, Decimal) else v for column, v in zip(names, row, strict=True)
            }
            key = {column: said[column] for column in names if column in self.keys[name]}
            made[_json(key)] = _json(said)
        return made

    def _register(self) -> None:
        for name in sorted(self.wanted):
            rows = self.writing[name] = self.rows_of(name)
            for key, value in rows.items():
                self._line(name, key, value, {})
            for key in sorted(self._live_keys(name.upper()) - rows.keys()):
                self._line(name, key, None, {})
        self.wanted = set()
        super()._register()

    def _changed_by(self, where: dict[str, Any]) -> None:
        for name, old in self.writing.items():
            new = self.writing[name] = self.rows_of(name)
            for key in sorted(old.keys() | new.keys()):
                if old.get(key) != new.get(key):
                    self._line(name, key, new.get(key), {"at": where})
        super()._changed_by(where)

    def _line(self, name: str, key: bytes, value: bytes | None, more: dict[str, Any]) -> None:
        lines = self.lines.setdefault(name, [])
        head = {"shard": f"{name}/0", "epoch": self.epoch, "batch": self.batch, "n": len(lines)}
        lines.append((crc32(key) % OUT_PARTITIONS, key, value, head | more))

    def _commit(self, ranges: dict[str, Any]) -> None:
        for name, lines in self.lines.items():
            for partition in range(OUT_PARTITIONS):
                its = [line for line in lines if line[0] == partition]
                for line in its[: self.broken] + its:
                    self.append_record(name.upper(), *line)
        self.lines, self.broken = {}, 0
        super()._commit(ranges)

    def append_record(
        self, topic: str, partition: int, key: bytes, value: bytes | None, header: dict[str, Any] | None
    ) -> None:
        log = self.logs[topic][partition]
        head = None if header is None else _json(header)
        log.append(Record(partition, len(log), self.clock, key, value, head))

    def _live_keys(self, topic: str) -> set[bytes]:
        newest = {(p, r.key or b""): r.value for p, log in self.logs[topic].items() for r in log}
        return {key for (_, key), value in newest.items() if value is not None}

    def journal(self) -> Journal:
        made = super().journal()
        made.written = {
            name.upper(): TopicLog.of(
                name.upper(), [r for log in self.logs[name.upper()].values() for r in log], OUT_PARTITIONS
            )
            for name in VIEWS
        }
        return made


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def simulate_view_topics(seed: int, steps: int = 40) -> SimulatedViewTopics:
    """Run a random history of views that are written to topics, of which nobody asks."""
    choose = random.Random(seed)
    engine = SimulatedViewTopics()
    for name in choose.sample(list(VIEWS), 2):
        engine.create_written(name)
    for step in range(steps):
        action, table = choose.random(), choose.choice(list(TOPICS))
        if step == steps // 3:
            for name in engine.views:
                engine.write(name)
        if action < 0.5:
            engine.publish_row(table, random_row(choose, table), choose.choice([0, 0, 5]))
        elif action < 0.65:
            engine.delete_row(table, choose.randrange(4))
        elif action < 0.68:
            engine.begin_epoch()
        elif action < 0.7 and engine.writing:
            engine.write(choose.choice(list(engine.writing)))
        elif action < 0.72:
            name = choose.choice(list(engine.views))
            engine.drop(name)
            engine.run_batch()
            engine.create_written(name)
            engine.write(name)
        else:
            engine.broken = choose.choice([0, 0, 1, 2])
            engine.run_batch(choose.randrange(6))
    for name in engine.views:
        if name not in engine.writing:
            engine.write(name)
    engine.run_batch()
    engine.run_batch()
    return engine
