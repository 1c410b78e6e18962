"""What one row change costs in `operators.range_questions` and its table, by rows, batch size, kind of change and family.

    python -m benchmarks.operator_cost

Each figure is the median of several runs on the same stored state, in CPU time, so that a busy machine distorts
it less. A batch is loaded (`load_ms`), its rows are laid out once (`layout_ms`, linear in the rows: what a batch of one
change of the same kind takes in `apply`), each further change takes `operator_us` in `apply` (decoded columns in,
messages out), and it is dumped (`dump_ms`). `apply_us` is the whole of `apply` over its changes, `batch_ms` all
together. Data from fixed seeds, uniform: 22-byte keys, a text column of 4 groups, a DOUBLE range attribute, a BIGINT
measure; one channel, MIN, or in `families` another. With `min by text` the range attribute is a text column of 1,000
values.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from catalog.query.channel import Channel, channel_of
from catalog.query.shape import Output, Region, Shape, group_key
from catalog.schema.relation import Column, Relation
from catalog.types.column_type import ColumnType, Kind
from shard import tables
from shard.tables import warm
from state.blob import read_blob, write_blob
from state.change_batch import I64, Bool, ChangeBatch
from state.order_code import codes_of_doubles

ROWS = (1_000, 10_000, 50_000, 200_000)
BATCHES = (100, 1_000, 20_000)
KINDS = ("good", "bad", "move", "insert_delete")
GROUPS = 4
NAMES = 1_000
RUNS, MANY_RUNS, FEW = 5, 25, 1_000
"""How often; batches of few changes more often, as a change is a small part of them."""

_TEXT, _DOUBLE, _BIGINT = ColumnType(Kind.VARCHAR), ColumnType(Kind.DOUBLE), ColumnType(Kind.BIGINT)
RELATION = Relation(
    "quotes",
    (Column("id", _BIGINT, False), Column("market", _TEXT), Column("risk", _DOUBLE), Column("price", _BIGINT)),
    ("id",),
    "quotes",
)
NAMED = replace(RELATION, columns=(*RELATION.columns, Column("name", _TEXT)))
CHANNEL = channel_of("quotes", "min", "price", ("market",), "risk")
FAMILIES = {
    "min": CHANNEL,
    "distinct": channel_of("quotes", "distinct", "name", ("market",), "risk"),
    "rows": channel_of("quotes", "rows", None, ("market",), "risk"),
    "values": channel_of("quotes", "values", "price", ("market",), "risk"),
    "min by text": channel_of("quotes", "min", "price", ("market",), "name"),
}


@dataclass(slots=True)
class Table:
    """The rows of a state as arrays: of row i the group, x and y."""

    group: I64
    x: I64
    y: I64

    @classmethod
    def of(cls, rows: int) -> Table:
        rng = np.random.default_rng(rows)
        x = codes_of_doubles(rng.uniform(-1e6, 1e6, rows))
        return cls(rng.integers(0, GROUPS, rows), x, rng.integers(0, 10**9, rows))

    def batch(self, rows: I64, x: I64, y: I64, live: Bool, relation: Relation = RELATION) -> ChangeBatch:
        """Return a batch that puts rows `rows` to (x, y), or deletes them; `name` is one of 1,000, by y."""
        m, columns = len(rows), len(relation.columns)
        codes = np.stack([rows, np.zeros(m, np.int64), x, y, np.zeros(m, np.int64)])[:columns]
        texts: dict[int, Sequence[str | None]] = {1: [f"market{group}" for group in self.group[rows % len(self.group)]]}
        if columns > 4:
            texts[4] = [f"name{name}" for name in (y % NAMES).tolist()]
        keys = [b'{"id":%013d}' % row for row in rows.tolist()]
        partition, offset, valid = np.zeros(m, np.int32), np.arange(m), np.ones((columns, m), np.bool_)
        return ChangeBatch(keys, live, codes, valid, texts, partition, offset)

    def state(self, channel: Channel = CHANNEL, relation: Relation = RELATION) -> bytes:
        operator = tables.Table(relation)
        operator.listen([channel])
        rows = np.arange(len(self.x))
        operator.apply(self.batch(rows, self.x, self.y, np.ones(len(rows), np.bool_), relation))
        return _dumped(operator)

    def changes(self, kind: str, m: int, relation: Relation = RELATION) -> ChangeBatch:
        """Return `m` changes of one kind; each row at most once while there are enough rows."""
        rng = np.random.default_rng(m)
        rows = rng.permutation(len(self.x))[:m] if m <= len(self.x) else rng.integers(0, len(self.x), m)
        x, y, live = self.x[rows], self.y[rows], np.ones(m, np.bool_)
        if kind == "good":
            y = y - rng.integers(1, 10**6, m)
        elif kind == "bad":
            y = y + rng.integers(1, 10**6, m)
        elif kind == "move":
            x = codes_of_doubles(rng.uniform(-1e6, 1e6, m))
        else:
            live = np.arange(m) % 2 == 1
            rows = np.where(live, len(self.x) + np.arange(m), rows)
        return self.batch(rows, x, y, live, relation)


def _dumped(table: tables.Table) -> bytes:
    return write_blob(b"TWBENCH\x00", 1, "", table.sections())


def _loaded(relation: Relation, stored: bytes) -> tables.Table:
    return tables.Table.from_sections(relation, read_blob(stored, b"TWBENCH\x00", 1, ""))


def _timed(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


class Batch(NamedTuple):
    """Seconds that a batch took to load, apply and dump, and the messages it made."""

    load: float
    apply: float
    dump: float
    messages: float


def run(stored: bytes, changes: ChangeBatch, relation: Relation = RELATION) -> Batch:
    """Take one batch from stored bytes to stored bytes."""
    begin = time.process_time()
    operator = _loaded(relation, stored)
    loaded = time.process_time()
    messages = operator.apply(changes).messages
    applied = time.process_time()
    _dumped(operator)
    return Batch(loaded - begin, applied - loaded, time.process_time() - applied, len(messages))


def cost_of(stored: bytes, changes: ChangeBatch, one: ChangeBatch) -> dict[str, float]:
    """Return the costs of a batch. `one` has one change of its kind; the two take turns, so that both see the same."""
    m = len(changes)
    runs = np.array([[run(stored, one), run(stored, changes)] for _ in range(RUNS if m > FEW else MANY_RUNS)])
    (_, layout, _, _), (load, apply, dump, said) = np.median(runs, axis=0).tolist()
    return {
        "operator_us": round((apply - layout) / (m - 1) * 1e6, 3),
        "apply_us": round(apply / m * 1e6, 3),
        "load_ms": round(load * 1e3, 3),
        "layout_ms": round(layout * 1e3, 3),
        "dump_ms": round(dump * 1e3, 3),
        "batch_ms": round((load + apply + dump) * 1e3, 3),
        "messages_per_change": round(said / m, 3),
    }


def snapshot_us(stored: bytes, channel: Channel, regions: int = 1_000) -> float:
    """Return the microseconds that the answer of one region takes."""
    function = {"rows": "count", "values": "sum"}.get(channel.kind, channel.kind)
    shape = Shape(channel.relation, (Output(function, channel.column),), channel.equal, channel.range)
    rng = np.random.default_rng(1)
    lo = codes_of_doubles(rng.uniform(-1e6, 1e6, regions)).tolist()
    hi = codes_of_doubles(rng.uniform(-1e6, 1e6, regions)).tolist()
    low, high = ([b"name%d" % name for name in rng.integers(0, NAMES, regions).tolist()] for _ in range(2))
    bounds = zip(low, high, strict=True) if channel.range == "name" else zip(lo, hi, strict=True)
    asked = [Region(shape, group_key((f"market{i % GROUPS}",)), *bound) for i, bound in enumerate(bounds)]
    operator = _loaded(NAMED, stored)
    return round(float(np.median([_timed(lambda: operator.snapshot(asked)) for _ in range(RUNS)])) / regions * 1e6, 2)


def families(rows: int = 50_000, m: int = 1_000) -> dict[str, dict[str, object]]:
    """Return family -> kind -> `apply_us`, and the microseconds of a region's snapshot when 1,000 are asked for."""
    table, costs = Table.of(rows), dict[str, dict[str, object]]()
    for name, channel in FAMILIES.items():
        stored = table.state(channel, NAMED)
        changes = {kind: table.changes(kind, m, NAMED) for kind in KINDS}
        seconds = {
            kind: np.median([run(stored, those, NAMED).apply for _ in range(RUNS)]) for kind, those in changes.items()
        }
        of_kind = {kind: round(float(took) / m * 1e6, 3) for kind, took in seconds.items()}
        costs[name] = {**of_kind, "snapshot_us": snapshot_us(stored, channel)}
    return costs


def measure() -> dict[str, object]:
    """Return the tables: rows -> batch size -> kind -> costs, `families`, and the time to warm the kernels."""
    warm_s = round(_timed(warm), 3)
    cells: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    for rows in ROWS:
        table = Table.of(rows)
        stored = table.state()
        of_rows = cells.setdefault(str(rows), {})
        for m in BATCHES:
            of_rows[str(m)] = {kind: cost_of(stored, table.changes(kind, m), table.changes(kind, 1)) for kind in KINDS}
    return {"warm_s": warm_s, "rows": cells, "families": families()}


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
