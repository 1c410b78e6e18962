"""The naive engine over several tables that are joined: nested loops over dicts, before and after every record.

Shares with `simulated_engine` how a right delivery looks, and nothing with what it stands for.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from tests.tidewire.verification.asked_rows import AskedRows, Held
from tests.tidewire.verification.simulated_engine import SimulatedEngine
from tidewire.verification.records.journal import Journal, Record, TopicLog

Row = dict[str, Any]
Tables = dict[str, dict[int, Row]]
PARTITIONS = 2
TOPICS = {"p": "points", "q": "quotes", "r": "records"}
DDL = """CREATE TABLE p (id INTEGER PRIMARY KEY, g VARCHAR, x INTEGER, y BIGINT) WITH ('topic'='points');
CREATE TABLE q (id INTEGER PRIMARY KEY, g VARCHAR, x DECIMAL(4,1), z DOUBLE) WITH ('topic'='quotes');
CREATE TABLE r (id INTEGER PRIMARY KEY, x INTEGER, z DOUBLE) WITH ('topic'='records')"""
VALUES: dict[str, dict[str, list[Any]]] = {
    "p": {"g": ["u", "v", None], "x": [None, 0, 1, 2], "y": [None, 1, 2, 3]},
    "q": {"g": ["u", "v", "", None], "x": [None, "0.0", "1", "1.5", "2.0"], "z": [None, 1.0, 2.0, 2.5]},
    "r": {"x": [None, 0, 1, 2], "z": [None, 1, 2.5]},
}


@dataclass(frozen=True)
class Form:
    """A FROM clause: the table of each name, and the columns that must be equal, as (name, column) pairs."""

    text: str
    tables: dict[str, str]
    equal: tuple[tuple[tuple[str, str], tuple[str, str]], ...]

    @property
    def cell(self) -> tuple[str, ...]:
        return tuple(sorted(set(self.tables.values())))

    def joined(self, tables: Tables) -> list[dict[str, Row]]:
        names = list(self.tables)
        chosen = (
            dict(zip(names, rows, strict=True)) for rows in product(*(tables[t].values() for t in self.tables.values()))
        )
        return [rows for rows in chosen if all(_equal(*(rows[n][c] for n, c in pair)) for pair in self.equal)]


def _equal(one: Any, other: Any) -> bool:
    return one is not None and other is not None and _exact(one) == _exact(other)


def _exact(value: Any) -> Any:
    return value if isinstance(value, str) and not value[:1].isdigit() else Fraction(value)


def _form(text: str, equal: str, **tables: str) -> Form:
    pairs = (tuple((side[0], side[2:]) for side in pair.split("=")) for pair in equal.split())
    return Form(text, tables, tuple(pairs))  # type: ignore[arg-type]


FORMS = [
    _form("p JOIN q ON p.g = q.g", "p.g=q.g", p="p", q="q"),
    _form("q AS a JOIN p b ON a.x = b.x", "a.x=b.x", a="q", b="p"),
    _form("p a INNER JOIN q b ON b.z = a.y AND a.g = b.g", "b.z=a.y a.g=b.g", a="p", b="q"),
    _form("p AS a JOIN p AS b ON a.x = b.y", "a.x=b.y", a="p", b="p"),
    _form("p JOIN q ON p.g = q.g JOIN r ON r.x = q.x", "p.g=q.g r.x=q.x", p="p", q="q", r="r"),
    _form("p a JOIN q b ON a.x = b.x JOIN r ON a.x = r.x AND r.z = b.z", "a.x=b.x a.x=r.x r.z=b.z", a="p", b="q", r="r"),  # noqa: E501
]  # fmt: skip
_CONDITIONS: dict[str, tuple[str, Callable[[Row], bool]]] = {
    "x": ("{0}.x BETWEEN 0 AND 1", lambda row: row["x"] is not None and 0 <= Fraction(row["x"]) <= 1),
    "id": ("{0}.id IN (0, 2) OR {0}.id = 3", lambda row: row["id"] in (0, 2, 3)),
    "null": ("NOT ({0}.x IS NULL)", lambda row: row["x"] is not None),
}


@dataclass(frozen=True)
class AskedJoin(AskedRows):
    """SELECT shown FROM form [WHERE conditions] [NOTIFY LATEST] [SNAPSHOT NONE]; `where` by name of a table."""

    over: Form = FORMS[0]
    columns_shown: tuple[str, ...] = ()
    where: tuple[tuple[str, str], ...] = ()

    @property
    def sql(self) -> str:
        met = " AND ".join(f"({_CONDITIONS[condition][0].format(name)})" for name, condition in self.where)
        options = (f" NOTIFY {self.policy}" if self.policy else "") + (" SNAPSHOT NONE" if self.bare else "")
        return f"SELECT {', '.join(self.columns_shown)} FROM {self.over.text}{' WHERE ' + met if met else ''}{options}"

    def answer(self, rows: Any) -> Held:
        found: dict[Any, tuple[Any, ...]] = {}
        for one in self.over.joined(rows or {table: {} for table in TOPICS}):
            if all(_CONDITIONS[condition][1](one[name]) for name, condition in self.where):
                shown = (name.split(".") for name in self.columns_shown)
                found[tuple(row["id"] for row in one.values())] = tuple(
                    _shown(column, one[n][column]) for n, column in shown
                )
        return Held(found, False)


def _shown(column: str, value: Any) -> Any:
    """Write a value as a delivery does: DECIMAL(4,1) with its digit, a DOUBLE with a point."""
    if isinstance(value, str) and column == "x":
        return value if "." in value else f"{value}.0"
    return float(value) if column == "z" and value is not None else value


def random_join(choose: random.Random) -> AskedJoin:
    """Any question of a join that there is."""
    form = choose.choice(FORMS)
    columns = [f"{name}.{column}" for name, table in form.tables.items() for column in ("id", *VALUES[table])]
    shown = tuple(choose.choice(columns) for _ in range(choose.randrange(1, 4)))
    where = tuple((name, choose.choice(list(_CONDITIONS))) for name in form.tables if choose.random() < 0.4)
    policy = choose.choice(["", "", "LATEST"])
    return AskedJoin(policy=policy, bare=choose.random() < 0.15, over=form, columns_shown=shown, where=where)


class SimulatedJoins(SimulatedEngine):
    """Publish, subscribe, declare, run batches. What asks for tables that are not joined yet waits for that."""

    def __init__(self) -> None:
        super().__init__()
        self.logs["catalog"][0].clear()
        self._append("catalog", 0, None, DDL.encode())
        self._forget()
        self.cells: set[tuple[str, ...]] = set()
        self.begun = {(table, p): 0 for table in TOPICS for p in range(PARTITIONS)}
        self.held: dict[str, Any] = {}

    def declare(self, text: str) -> None:
        """Change the catalog: `CREATE JOIN p, q`, or `DROP JOIN` with those that there are."""
        self._append("catalog", 0, None, text.encode())
        verb, named = text.split()[0], tuple(sorted(text.split("JOIN ")[1].split(", ")))
        if verb == "CREATE":
            self.cells.add(named)
            return
        self.cells.discard(named)
        for id, live in list((self.live | self.resyncing).items()):
            if live.asked.over.cell == named:  # type: ignore[union-attr]
                self._end(id, "cell dropped")

    def unsubscribe(self, id: str) -> None:
        self.held.pop(id, None)
        super().unsubscribe(id)

    def publish_row(self, table: str, row: Row, back: int = 0) -> None:
        key = b'{"id":%d}' % row["id"]
        self._append(TOPICS[table], row["id"] % PARTITIONS, key, json.dumps(row).encode(), back)

    def delete_row(self, table: str, id: int) -> None:
        self._append(TOPICS[table], id % PARTITIONS, b'{"id":%d}' % id, None)

    def run_batch(self, take: Any = None) -> None:
        """Commit one batch of at most `take` records, a number, of each partition."""
        start = dict(self.begun)
        self.batch += 1
        self.waiting, waiting = {}, self.held | self.waiting
        self.held = {id: live for id, live in waiting.items() if not self._has_cell(live)}
        self.waiting = {id: live for id, live in waiting.items() if id not in self.held}
        self._register()
        stamped = []
        for (table, p), begin in start.items():
            records = self.logs[TOPICS[table]][p][begin : begin + (10**9 if take is None else take)]
            self.begun[table, p] = begin + len(records)
            for i, record in enumerate(records):
                newest = max(one.timestamp for one in records[: i + 1])
                stamped.append((newest, TOPICS[table], p, record.offset, table, record))
        for *_, table, record in sorted(stamped, key=lambda entry: entry[:4]):
            self._apply_to(table, record)
        self._commit({"start": _offsets(start), "end": _offsets(self.begun)})

    def _has_cell(self, live: Any) -> bool:
        return live.asked.over.cell in self.cells

    def begin_epoch(self) -> None:
        super().begin_epoch()
        self._forget()
        self.begun = dict.fromkeys(self.begun, 0)

    def _forget(self) -> None:
        self.tables: Tables = {table: {} for table in TOPICS}
        self.rows = self.tables  # type: ignore[assignment]

    def _append(self, topic: str, partition: int, key: bytes | None, value: bytes | None, back: int = 0) -> int:
        """Write a record; clocks are coarse, so that many stamps are alike, within a topic and across."""
        place = super()._append(topic, partition, key, value, back)
        record = self.logs[topic][partition][place]
        self.logs[topic][partition][place] = record._replace(timestamp=record.timestamp // 4)
        return place

    def _apply_to(self, table: str, record: Record) -> None:
        if record.value is None:
            self.tables[table].pop(json.loads(record.key or b"")["id"], None)
        else:
            row = json.loads(record.value)
            self.tables[table][row["id"]] = row
        self._changed_by({"topic": TOPICS[table], "partition": record.partition, "offset": record.offset})

    def journal(self) -> Journal:
        made = super().journal()
        relations = {
            topic: TopicLog.of(topic, [r for some in self.logs[topic].values() for r in some], PARTITIONS)
            for topic in TOPICS.values()
        }
        made.relations = relations
        return made


def _offsets(cuts: dict[tuple[str, int], int]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for (table, partition), offset in cuts.items():
        found.setdefault(TOPICS[table], {})[str(partition)] = offset
    return found


def simulate_joins(seed: int, steps: int = 50) -> SimulatedJoins:
    """Run a random history of questions of joins."""
    choose = random.Random(seed)
    engine = SimulatedJoins()
    cells = sorted({form.cell for form in FORMS})
    for cell in cells:
        if choose.random() < 0.7:
            engine.declare(f"CREATE JOIN {', '.join(cell)}")
    for id in ("a", "b", "c", "d"):
        engine.subscribe(id, random_join(choose))
    for _ in range(steps):
        action = choose.random()
        table = choose.choice(list(TOPICS))
        if action < 0.6:
            row = {"id": choose.randrange(4)} | {name: choose.choice(some) for name, some in VALUES[table].items()}
            engine.publish_row(table, row, choose.choice([0, 0, 5]))
        elif action < 0.7:
            engine.delete_row(table, choose.randrange(4))
        elif action < 0.73:
            engine.begin_epoch()
        elif action < 0.76:
            cell = choose.choice(cells)
            engine.declare(f"{'DROP' if cell in engine.cells else 'CREATE'} JOIN {', '.join(cell)}")
        elif action < 0.8:
            engine.subscribe(choose.choice("abcd"), random_join(choose))
        elif action < 0.82:
            engine.unsubscribe(choose.choice("abcd"))
        else:
            engine.run_batch(choose.randrange(6))
    for cell in cells:
        if cell not in engine.cells:
            engine.declare(f"CREATE JOIN {', '.join(reversed(cell))}")
    engine.run_batch()
    engine.run_batch()
    return engine
