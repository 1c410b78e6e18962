"""What one row change costs in `operators.range_extremum`, by rows, batch size and kind of change.

    python -m benchmarks.operator_cost

Each figure is the median of several runs on the same stored state, in CPU time, so that a busy machine distorts
it less. `operator_us` is the microseconds that one change takes in `apply` (decoded columns in, messages out),
its share of what a batch costs whatever its size included; that share is nearly all of the batches of one.
`load_ms`, `dump_ms` and `batch_ms` (the three together) are per batch. Data from fixed seeds, uniform: 22-byte
keys, a text column of 4 groups, a DOUBLE range attribute, a BIGINT measure; one shape, MIN.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from catalog.column_type import ColumnType, Kind
from catalog.relation import Column, Relation
from catalog.shape import Shape
from operators.range_extremum import RangeExtremum, warm
from state.change_batch import I64, ChangeBatch
from state.order_code import codes_of_doubles

ROWS = (1_000, 10_000, 50_000, 200_000)
BATCHES = (1, 100, 1_000, 20_000)
KINDS = ("good", "bad", "move", "insert_delete")
GROUPS = 4
RUNS = 5

_TEXT, _DOUBLE, _BIGINT = ColumnType(Kind.VARCHAR), ColumnType(Kind.DOUBLE), ColumnType(Kind.BIGINT)
RELATION = Relation(
    "quotes",
    (Column("id", _BIGINT, False), Column("market", _TEXT), Column("risk", _DOUBLE), Column("price", _BIGINT)),
    ("id",),
    "quotes",
)
SHAPE = Shape("quotes", "min", "price", ("market",), "risk")


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

    def batch(self, rows: I64, x: I64, y: I64, live: I64) -> ChangeBatch:
        """Return a batch that puts rows `rows` to (x, y), or deletes them."""
        m = len(rows)
        codes = np.stack([rows, np.zeros(m, np.int64), x, y])
        texts: list[str | None] = [f"market{group}" for group in self.group[rows % len(self.group)]]
        keys = [b'{"id":%013d}' % row for row in rows.tolist()]
        partition, offset = np.zeros(m, np.int32), np.arange(m)
        return ChangeBatch(keys, live.astype(np.bool_), codes, np.ones((4, m), np.bool_), {1: texts}, partition, offset)

    def state(self) -> bytes:
        operator = RangeExtremum(RELATION)
        operator.listen([SHAPE])
        rows = np.arange(len(self.x))
        operator.apply(self.batch(rows, self.x, self.y, np.ones(len(rows))))
        return operator.dump()

    def changes(self, kind: str, m: int) -> ChangeBatch:
        """Return `m` changes of one kind; each row at most once while there are enough rows."""
        rng = np.random.default_rng(m)
        rows = rng.permutation(len(self.x))[:m] if m <= len(self.x) else rng.integers(0, len(self.x), m)
        x, y, live = self.x[rows], self.y[rows], np.ones(m)
        if kind == "good":
            y = y - rng.integers(1, 10**6, m)
        elif kind == "bad":
            y = y + rng.integers(1, 10**6, m)
        elif kind == "move":
            x = codes_of_doubles(rng.uniform(-1e6, 1e6, m))
        else:
            live = (np.arange(m) % 2).astype(np.float64)
            rows = np.where(live > 0, len(self.x) + np.arange(m), rows)
        return self.batch(rows, x, y, live)


def _timed(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def cost_of(stored: bytes, changes: ChangeBatch) -> dict[str, float]:
    """Return microseconds a change, milliseconds of load and dump, and messages a change, of one batch."""
    runs: list[tuple[float, float, float, int]] = []
    for _ in range(RUNS):
        begin = time.process_time()
        operator = RangeExtremum.load(RELATION, stored)
        loaded = time.process_time()
        messages = operator.apply(changes)
        applied = time.process_time()
        operator.dump()
        runs.append((loaded - begin, applied - loaded, time.process_time() - applied, len(messages)))
    load, applied_in, dump, said = np.median(np.array(runs), axis=0).tolist()
    m = len(changes)
    return {
        "operator_us": round(applied_in / m * 1e6, 3),
        "load_ms": round(load * 1e3, 3),
        "dump_ms": round(dump * 1e3, 3),
        "batch_ms": round((load + applied_in + dump) * 1e3, 3),
        "messages_per_change": round(said / m, 3),
    }


def measure() -> dict[str, object]:
    """Return the whole table: rows -> batch size -> kind -> costs, and the time to warm the kernels."""
    warm_s = round(_timed(warm), 3)
    cells: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    for rows in ROWS:
        table = Table.of(rows)
        stored = table.state()
        of_rows = cells.setdefault(str(rows), {})
        for m in BATCHES:
            of_rows[str(m)] = {kind: cost_of(stored, table.changes(kind, m)) for kind in KINDS}
    return {"warm_s": warm_s, "rows": cells}


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
